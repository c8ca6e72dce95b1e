/** One person with many tabs: drafts follow between them, none is passed over, and a closed task shows what was decided. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFindings, press, startBrowser, type TestBrowser } from '../support/browser.ts'
import { Desk } from '../support/desk.ts'

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

test('[C17] a tab that approves the old text is refused with the newer draft and a choice; what is closed shows what was decided (13.1.5)', async () => {
  const { id, one, two, close } = await twoTabs('Passed over')
  // The second tab learns of nothing any more.
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
