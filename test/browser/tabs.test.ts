/** One person with many tabs: drafts are synchronised, none is overwritten, and a closed task shows what was decided. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Desk } from '#test/support/desk.ts'
import { axeFindings, press, startBrowser, type TestBrowser } from '#test/support/serving/browser.ts'
import { until } from '#test/support/until.ts'

let browser: TestBrowser
let desk: Desk

beforeAll(async () => {
  ;[browser, desk] = await Promise.all([startBrowser(), Desk.open()])
})
afterAll(async () => {
  await browser.close()
  await desk.close()
})

const ANA = { name: 'ana', groups: 'editors' }

/** Two tabs of one browser that show the same task. */
const twoTabs = async (title: string) => {
  const id = await desk.asks('letters.ready', title)
  const path = `/inbox?view=open&task=${id}`
  const { page: one, faults, tab, close } = await desk.page(browser, ANA, path)
  const two = await tab()
  await two.goto(`${desk.url}${path}`)
  for (const page of [one, two]) await page.getByText('0/3 reviewed', { exact: true }).waitFor()
  return { id, one, two, faults, close }
}

const edit = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('tab', { name: 'Edit', exact: true }).click()
  await page.getByRole('textbox', { name: 'text', exact: true }).fill(text)
  await page.getByText('Draft saved', { exact: true }).waitFor()
}

const approve = (page: Page) => page.locator('.actions').getByRole('button', { name: 'Approve', exact: true })
const preview = (page: Page) => page.getByRole('tabpanel', { name: 'Preview', exact: true })

test('[C17] drafts follow live between the tabs of one person (13.1.5)', async () => {
  const { id, one, two, faults, close } = await twoTabs('Followed')
  await edit(one, 'Dear friend')
  await preview(two).getByText('Dear friend', { exact: true }).waitFor()
  await two.getByText('1/3 reviewed', { exact: true }).waitFor()
  await press(two, 'n', 'r')
  await one.getByText('2/3 reviewed', { exact: true }).waitFor()
  await approve(two).click()
  const dialog = two.getByRole('dialog', { name: 'Approve: Followed', exact: true })
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  const { sections, rejected } = await desk.ask<{ sections: unknown; rejected: string[] }>(`/api/tasks/${id}`)
  expect(JSON.stringify(sections)).toContain('Dear friend')
  expect(rejected).toEqual(['l2'])
  expect(faults).toEqual([])
  await close()
})

test('[C17] a tab that approves the old text is refused with the newer draft and a choice; a closed task shows its decision (13.1.5)', async () => {
  const { id, one, two, close } = await twoTabs('Passed over')
  // The second tab no longer receives updates.
  await two.route(`**/api/tasks/${id}`, () => {})
  await edit(one, 'Dear friend')
  await approve(two).click()
  const dialog = two.getByRole('dialog', { name: 'Approve: Passed over', exact: true })
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  const notice = dialog.getByRole('alert').filter({ hasText: 'You have newer drafts' })
  await notice.locator('ins', { hasText: 'friend' }).waitFor()
  expect(await desk.ask(`/api/tasks/${id}`)).toMatchObject({ is_open: true })
  expect(await axeFindings(two, '[role=dialog]')).toEqual([])
  await notice.getByRole('button', { name: 'Submit without them', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  // The first tab does not show its draft as what was approved.
  await one.getByText('Approved by ana', { exact: true }).waitFor()
  await one.getByText('Your drafts of Letter 1 are not part of this decision.', { exact: true }).waitFor()
  await one
    .getByRole('list', { name: 'Items', exact: true })
    .getByRole('button', { name: 'Letter 1 approved', exact: true })
    .waitFor()
  await preview(one).getByText('Dear reader 1', { exact: true }).waitFor()
  expect(await axeFindings(one)).toEqual([])
  await close()
})

/** Two devices of one person, connected only through the server. */
const twoDevices = async (path: string) => {
  const [here, there] = await Promise.all([desk.page(browser, ANA, path), desk.page(browser, ANA, path)])
  const close = async () => void (await Promise.all([here.close(), there.close()]))
  return { here: here.page, there: there.page, close }
}

const respond = async (page: Page, title: string) => {
  await page.locator('.actions').getByRole('button', { name: 'Respond', exact: true }).click()
  return page.getByRole('dialog', { name: `Respond: ${title}`, exact: true })
}

const draftsOf = async (id: string): Promise<string> => {
  const answer = await fetch(`${desk.url}/api/tasks/${id}`, {
    headers: { 'x-trihand-user': 'ana', 'x-trihand-groups': 'editors' },
  })
  return JSON.stringify(((await answer.json()) as { readonly drafts: unknown }).drafts)
}

test('[C17] text typed into a form is synchronised to another device, field by field, and conflicting text is a choice (13.1.5)', async () => {
  await desk.trihand.send({ type: 'budget.asked', data: { team: 'Two devices' } })
  const id = await desk.taskOf('Budget of Two devices')
  const { here, there, close } = await twoDevices(`/inbox?view=open&task=${id}`)
  const [one, two] = [await respond(here, 'Budget of Two devices'), await respond(there, 'Budget of Two devices')]
  await one.getByLabel(/^amount\b/).fill('100')
  await two.locator('input[value="100"]').waitFor()
  // Each types into a different field while the other's save is in flight: both are kept.
  await Promise.all([one.getByLabel(/^due\b/).fill('2026-12-31'), two.getByLabel(/^owner › name\b/).fill('Bea')])
  for (const dialog of [one, two]) {
    await dialog.locator('input[value="2026-12-31"]').waitFor()
    await dialog.locator('textarea', { hasText: 'Bea' }).waitFor()
  }
  // One device receives nothing for a while, and both type into the same field.
  await there.context().setOffline(true)
  await two.getByLabel(/^amount\b/).fill('300')
  await one.getByLabel(/^amount\b/).fill('200')
  await until(
    () => draftsOf(id),
    (drafts) => drafts.includes('"200"'),
    { what: 'the draft of the first device is saved' },
  )
  await there.context().setOffline(false)
  const choice = two.getByRole('alert').filter({ hasText: 'You also changed this form' })
  await choice.waitFor()
  expect(await two.getByLabel(/^amount\b/).inputValue()).toBe('300')
  expect(await two.getByRole('button', { name: 'Respond', exact: true }).isDisabled()).toBe(true)
  expect(await axeFindings(there, '[role=dialog]')).toEqual([])
  await choice.getByRole('button', { name: 'Keep this one', exact: true }).click()
  await one.locator('input[value="300"]').waitFor()
  await one.getByRole('button', { name: 'Respond', exact: true }).click()
  await one.waitFor({ state: 'detached' })
  expect(await desk.ask(`/api/tasks/${id}`)).toMatchObject({
    end: { fields: { amount: 300, due: '2026-12-31', owner: { name: 'Bea' } } },
  })
  await close()
})

test('[C17] text typed while the server is unreachable is saved when it is back (13.1.5)', async () => {
  const id = await desk.asks('letters.ready', 'Out of reach')
  const { page, close } = await desk.page(browser, ANA, `/inbox?view=open&task=${id}`)
  await page.getByText('0/3 reviewed', { exact: true }).waitFor()
  await page.context().setOffline(true)
  await page.getByRole('tab', { name: 'Edit', exact: true }).click()
  await page.getByRole('textbox', { name: 'text', exact: true }).fill('Dear friend')
  await page.getByText('Draft NOT saved: the server did not accept it', { exact: true }).waitFor()
  await page.context().setOffline(false)
  await page.getByText('Draft saved', { exact: true }).waitFor()
  expect(await draftsOf(id)).toContain('Dear friend')
  await close()
})

test("[C17] another person's draft is neither shown nor in the way, and its author learns that it was not submitted (13.1.5)", async () => {
  const id = await desk.asks('letters.ready', 'Two people')
  const path = `/inbox?view=open&task=${id}`
  const [{ page: bobs, close: leave }, { page, close }] = await Promise.all([
    desk.page(browser, { name: 'bob', groups: 'editors' }, path),
    desk.page(browser, ANA, path),
  ])
  await edit(bobs, 'Dear Bob')
  await page.getByText('0/3 reviewed', { exact: true }).waitFor()
  expect(await draftsOf(id)).toBe('[]')
  await approve(page).click()
  const dialog = page.getByRole('dialog', { name: 'Approve: Two people', exact: true })
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await bobs.getByText('ana decided first. Your draft was not submitted.', { exact: true }).waitFor()
  await preview(bobs).getByText('Dear reader 1', { exact: true }).waitFor()
  await leave()
  await close()
})

test('[C17] a task that is withdrawn while its form is filled in says so, and the typed text can still be read (13.1.5)', async () => {
  await desk.trihand.send({ type: 'budget.asked', data: { team: 'Nobody' } })
  const id = await desk.taskOf('Budget of Nobody')
  const { run_id } = await desk.ask<{ readonly run_id: string }>(`/api/tasks/${id}`)
  const { page, close } = await desk.page(browser, ANA, `/inbox?view=open&task=${id}`)
  const dialog = await respond(page, 'Budget of Nobody')
  await dialog.getByLabel('owner › name').fill('a long text')
  await fetch(`${desk.url}/api/runs/${run_id}/cancel`, { method: 'POST' })
  await dialog.getByText('What you typed was not submitted.', { exact: true }).waitFor()
  expect(await dialog.getByLabel('owner › name').inputValue()).toBe('a long text')
  expect(await dialog.getByRole('button', { name: 'Respond', exact: true }).isDisabled()).toBe(true)
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await close()
})

test('[C17] an item that two devices changed at once is a choice before the submit, and the submit sends the chosen version (13.1.5)', async () => {
  const id = await desk.asks('letters.ready', 'Both typed')
  const { here, there, close } = await twoDevices(`/inbox?view=open&task=${id}`)
  for (const page of [here, there]) await page.getByText('0/3 reviewed', { exact: true }).waitFor()
  await there.context().setOffline(true)
  await there.getByRole('tab', { name: 'Edit', exact: true }).click()
  await there.getByRole('textbox', { name: 'text', exact: true }).fill('Dear there')
  await there.getByText('Draft NOT saved: the server did not accept it', { exact: true }).waitFor()
  await edit(here, 'Dear here')
  await there.context().setOffline(false)
  await there.getByText('Draft NOT saved: choose a version', { exact: true }).waitFor()
  expect(await axeFindings(there)).toEqual([])
  await approve(there).click()
  const dialog = there.getByRole('dialog', { name: 'Approve: Both typed', exact: true })
  await dialog.getByRole('button', { name: 'Use newer draft', exact: true }).click()
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  const { sections } = await desk.ask<{ readonly sections: unknown }>(`/api/tasks/${id}`)
  expect(JSON.stringify(sections)).toContain('Dear here')
  expect(JSON.stringify(sections)).not.toContain('Dear there')
  await close()
})
