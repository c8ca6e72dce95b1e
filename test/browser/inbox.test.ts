/** The campaign's bundle in a real browser, by keyboard alone: edit, look at the difference, reject one, approve the rest, submit. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { axeFindings, startBrowser, type TestBrowser } from '../support/browser.ts'
import { buildCommand, Folder, type Server } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'
import { PROJECT } from '../support/places.ts'
import { until } from '../support/until.ts'

let browser: TestBrowser
let folder: Folder
let server: Server

beforeAll(async () => {
  buildCommand()
  folder = new Folder()
  const port = String(await freePort())
  const data = join(folder.path, '.trihand')
  const serving = folder.serve(['dev', join(PROJECT, 'examples/campaign')], {
    env: { PORT: port, TRIHAND_DATA: data, CAMPAIGN_PAUSE: '10ms' },
  })
  ;[browser, server] = await Promise.all([startBrowser(), serving])
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const mails = (): readonly Record<string, string>[] => {
  const file = join(folder.path, '.trihand/mails.jsonl')
  if (!existsSync(file)) return []
  // What is behind the last end of a line is still being written.
  const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return whole.map((line) => JSON.parse(line))
}

const press = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key)
}

test('[C3][C6][C13][P7] a bundle is reviewed by keyboard only, and what was approved goes out, once', async () => {
  await folder.json(['send', 'campaign.requested', '{"campaign_id":"c1"}'])
  const { page, faults } = await browser.open()
  await page.goto(`${server.url}/inbox?view=open`)
  const row = page.getByRole('list', { name: 'Tasks' }).getByRole('link')
  await row.waitFor()
  await page.getByText('simulated models').waitFor()
  // Who sits here, once.
  await page.getByRole('button', { name: 'Who are you?' }).focus()
  await press(page, 'Enter')
  await page.locator(':focus').and(page.getByLabel('Your name')).waitFor()
  await page.keyboard.type('ana')
  await press(page, 'Tab')
  await page.keyboard.type('sales')
  await press(page, 'Enter')
  await page.getByRole('button', { name: 'ana' }).waitFor()
  // Open it.
  await page.evaluate(() =>
    (globalThis as unknown as { document: { activeElement: { blur(): void } } }).document.activeElement.blur(),
  )
  await press(page, 'j', 'Enter')
  await page.getByText('0/9 reviewed').waitFor()
  expect(await axeFindings(page)).toEqual([])
  // Approve the first, reject the second, edit the third.
  await press(page, 'a', 'n', 'r', 'n', 'e')
  await page.locator('[role=tabpanel] textarea:focus').waitFor()
  await page.getByRole('textbox', { name: 'subject' }).focus()
  await press(page, 'ControlOrMeta+A')
  await page.keyboard.type('A page that fits you')
  await page.getByRole('tab', { name: 'Diff' }).focus()
  await press(page, 'Enter')
  await page.locator('ins', { hasText: 'fits' }).waitFor()
  await page.getByText('3/9 reviewed').waitFor()
  await page.getByText('marks are saved').waitFor()
  // The rest, then all in one submit.
  await press(page, 'Shift+A')
  await page.getByText('9/9 reviewed').waitFor()
  await press(page, 'ControlOrMeta+Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('8 of 9 approved, 1 of them edited, 1 rejected.').waitFor()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await press(page, 'ControlOrMeta+Enter')
  await page.getByText('Choose a task.').waitFor()
  const sent = await until(mails, (all) => all.length >= 8, { timeoutMs: 40_000, what: 'eight mails are sent' })
  expect(sent.map(({ subject: title }) => title)).toContain('A page that fits you')
  expect(sent.map(({ subject: title }) => title)).not.toContain('What a stop costs')
  expect(new Set(sent.map(({ key }) => key)).size).toBe(8)
  expect(faults).toEqual([])
})

describe.each(['light', 'dark'] as const)('in %s', (scheme) => {
  test('a full inbox, a task under review and its submit have no fault that axe finds', async () => {
    await folder.json(['send', 'campaign.requested', `{"campaign_id":"${scheme}"}`])
    const { page, faults, close } = await browser.open({ scheme })
    await page.addInitScript(`localStorage.setItem('trihand-me', '{"name": "bea", "groups": "sales"}')`)
    await page.goto(`${server.url}/inbox`)
    const row = page.getByRole('link', { name: /nine mails/ }).first()
    await row.waitFor()
    expect(await axeFindings(page)).toEqual([])
    await row.click()
    await page.getByText('/9 reviewed').waitFor()
    await press(page, 'a', 'n', 'r', 'n', 'e')
    await page.getByRole('textbox', { name: 'subject' }).fill('Another one')
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('tab', { name: 'Diff' }).click()
    await page.locator('ins').first().waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Reject', exact: true }).last().click()
    await page.getByRole('dialog').getByLabel('Reason').waitFor()
    expect(await axeFindings(page, '[role=dialog]')).toEqual([])
    expect(faults).toEqual([])
    await close()
  })
})

test('[C6] keys take back a mark, hand a task on, copy its id, and lead back to the list', async () => {
  await folder.json(['send', 'campaign.requested', '{"campaign_id":"keys"}'])
  const { page, faults, close } = await browser.open()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.addInitScript(`localStorage.setItem('trihand-me', '{"name": "eve", "groups": "sales"}')`)
  await page.goto(`${server.url}/inbox`)
  await page.getByRole('list', { name: 'Tasks' }).getByRole('link').first().waitFor()
  await press(page, 'j', 'Enter')
  await page.getByText('0/9 reviewed').waitFor()
  await press(page, 'a', 'n', 'r')
  await page.getByText('2/9 reviewed').waitFor()
  await press(page, 'u')
  await page.getByText('1/9 reviewed').waitFor()
  await press(page, 'Shift+A')
  await page.getByText('9/9 reviewed').waitFor()
  await press(page, 'u', 'u')
  await page.getByText('0/9 reviewed').waitFor()
  await page.getByText('marks are saved').waitFor()
  await press(page, 'c')
  await page.getByText('Copied').waitFor()
  await press(page, 's')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('To').waitFor()
  await press(page, 'Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('0/9 reviewed').waitFor()
  // The second letter of two is no key of its own.
  await press(page, 'g', 'r')
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
  await page.goBack()
  await page.getByText('0/9 reviewed').waitFor()
  // Out of a field first, then out of the task.
  await press(page, 'p', 'e')
  await page.getByRole('textbox', { name: 'subject' }).focus()
  await press(page, 'Escape')
  await page.getByRole('textbox', { name: 'subject' }).waitFor()
  await press(page, 'Escape')
  await page.getByText('Choose a task.').waitFor()
  expect(faults).toEqual([])
  await close()
})

test('[C17] marks are kept on the server: another browser shows them', async () => {
  await folder.json(['send', 'campaign.requested', '{"campaign_id":"c2"}'])
  const me = JSON.stringify({ name: 'ana', groups: 'sales' })
  const open = async (address: string) => {
    const watched = await browser.open()
    await watched.page.addInitScript(`localStorage.setItem('trihand-me', ${JSON.stringify(me)})`)
    await watched.page.goto(address)
    return watched
  }
  const one = await open(`${server.url}/inbox`)
  await one.page
    .getByRole('link', { name: /nine mails/ })
    .first()
    .click()
  await one.page.getByText('/9 reviewed').waitFor()
  await press(one.page, 'r', 'n', 'a')
  await one.page.getByText('2/9 reviewed').waitFor()
  await one.page.getByText('marks are saved').waitFor()
  // By its address: another task may have come to the top meanwhile.
  const two = await open(one.page.url())
  await two.page.getByText('2/9 reviewed').waitFor()
  await one.close()
  await two.close()
})
