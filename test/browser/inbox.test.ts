/** The campaign's bundle in a real browser, by keyboard alone: edit, view the difference, reject one, approve the rest, submit. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import { axeFindings, press, startBrowser, type TestBrowser, type WatchedPage } from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

let browser: TestBrowser
let folder: Folder
let server: Server

beforeAll(async () => {
  folder = new Folder()
  const data = join(folder.path, '.trihand')
  const serving = folder.serve(['dev', join(PROJECT, 'examples/campaign')], {
    env: { PORT: '0', TRIHAND_DATA: data, CAMPAIGN_PAUSE: '10ms' },
  })
  ;[browser, server] = await Promise.all([startBrowser(), serving])
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

interface Listed {
  readonly items: readonly { readonly id: string; readonly title: string }[]
}

const known = new Set<string>()

/** Starts a campaign and returns the id of its task: the inbox may contain others. */
const aBundle = async (campaign: string): Promise<string> => {
  await folder.json(['send', 'campaign.requested', JSON.stringify({ campaign_id: campaign })])
  const found = await until(
    async () => {
      const { items } = (await (await fetch(`${server.url}/api/tasks?all=true`)).json()) as Listed
      return items.find(({ id, title }) => title.includes('nine mails') && !known.has(id))?.id
    },
    (id) => id !== undefined,
    { timeoutMs: 40_000, what: 'the campaign has led to a task' },
  )
  known.add(found ?? '')
  return found ?? ''
}

/** The page of a person who has entered a name. */
const openedBy = async (name: string, path: string): Promise<WatchedPage> => {
  const watched = await browser.open()
  const me = JSON.stringify({ name, groups: 'sales' })
  // After a submit the list is shown again, with tasks that other tests have left.
  await watched.page.addInitScript(
    `localStorage.setItem('trihand-me', ${JSON.stringify(me)}); localStorage.setItem('trihand-next', 'off')`,
  )
  await watched.page.goto(`${server.url}${path}`)
  return watched
}

const mails = (): readonly Record<string, string>[] => {
  const file = join(folder.path, '.trihand/mails.jsonl')
  if (!existsSync(file)) return []
  // The text after the last line end is still being written.
  const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return whole.map((line) => JSON.parse(line))
}

test('[C3][C6][C13][P7] a bundle is reviewed by keyboard only, and what was approved is sent, once', async () => {
  const id = await aBundle('c1')
  const { page, faults, close } = await browser.open()
  await page.goto(`${server.url}/inbox?view=open`)
  const row = page.locator(`[data-row][data-id=${id}]`)
  await row.waitFor()
  await page.getByText('Simulated models', { exact: true }).waitFor()
  // Asked once who is using the page.
  await page.getByRole('button', { name: 'Who are you?', exact: true }).focus()
  await press(page, 'Enter')
  await page
    .locator(':focus')
    .and(page.getByRole('textbox', { name: 'Your name', exact: true }))
    .waitFor()
  await page.keyboard.type('ana')
  await press(page, 'Tab')
  await page.keyboard.type('sales')
  await press(page, 'Enter')
  await page.getByRole('button', { name: 'ana', exact: true }).waitFor()
  // Open it: it is the only task in the inbox.
  await press(page, 'j')
  await row.and(page.locator(':focus')).waitFor()
  await press(page, 'Enter')
  await page.getByText('0/9 reviewed', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  // Approve the first, reject the second, edit the third.
  await press(page, 'a', 'n', 'r', 'n', 'e')
  await page.locator('[role=tabpanel] textarea:focus').waitFor()
  await page.getByRole('textbox', { name: 'subject', exact: true }).focus()
  await press(page, 'ControlOrMeta+A')
  await page.keyboard.type('A page that fits you')
  await page.getByRole('tab', { name: 'Diff', exact: true }).focus()
  await press(page, 'Enter')
  await page.locator('ins', { hasText: 'fits' }).waitFor()
  await page.getByText('3/9 reviewed', { exact: true }).waitFor()
  await page.getByText('Draft saved', { exact: true }).waitFor()
  // The rest, then all in one submit.
  await press(page, 'Shift+A')
  await page.getByText('9/9 reviewed', { exact: true }).waitFor()
  await press(page, 'ControlOrMeta+Enter')
  const dialog = page.getByRole('dialog', { name: /^Approve: / })
  await dialog.getByText('8 of 9 approved, 1 edited, 1 rejected.', { exact: true }).waitFor()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await press(page, 'ControlOrMeta+Enter')
  await page.getByText('Choose a task.', { exact: true }).waitFor()
  const sent = await until(mails, (all) => all.length >= 8, { timeoutMs: 40_000, what: 'eight mails are sent' })
  expect(sent.map(({ subject: title }) => title)).toContain('A page that fits you')
  expect(sent.map(({ subject: title }) => title)).not.toContain('What a stop costs')
  expect(new Set(sent.map(({ key }) => key)).size).toBe(8)
  expect(faults).toEqual([])
  await close()
})

test('axe finds no fault in a full inbox, a task under review and its submit', async () => {
  const id = await aBundle('looks')
  const { page, faults, close } = await openedBy('bea', '/inbox')
  const row = page.locator(`[data-row][data-id=${id}]`)
  await row.waitFor()
  expect(await axeFindings(page)).toEqual([])
  await row.click()
  await page.getByText('0/9 reviewed', { exact: true }).waitFor()
  await press(page, 'a', 'n', 'r', 'n', 'e')
  await page.getByRole('textbox', { name: 'subject', exact: true }).fill('Another one')
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('tab', { name: 'Diff', exact: true }).click()
  await page.locator('ins').first().waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.locator('.actions').getByRole('button', { name: 'Reject', exact: true }).click()
  await page
    .getByRole('dialog', { name: /^Reject: / })
    .getByRole('textbox', { name: 'Reason', exact: true })
    .waitFor()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('text typed into a dialog stays in the dialog: nothing under it is marked, and Ctrl Enter confirms', async () => {
  const id = await aBundle('dialog')
  const { page, faults, close } = await openedBy('bea', `/inbox?view=open&task=${id}`)
  await page.getByText('0/9 reviewed', { exact: true }).waitFor()
  await page.locator('.actions').getByRole('button', { name: 'Reject', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: /^Reject/ })
  await dialog.locator('textarea:focus').waitFor()
  await page.keyboard.type('a rare error')
  expect(await dialog.getByLabel('Reason').inputValue()).toBe('a rare error')
  // Out of the field, still in the dialog.
  await dialog.getByRole('button', { name: 'Back', exact: true }).focus()
  await press(page, 'a', 'Shift+A', 's')
  await page.getByText('0/9 reviewed', { exact: true }).waitFor()
  await press(page, 'ControlOrMeta+Enter')
  await page.getByText('Choose a task.', { exact: true }).waitFor()
  const task = (await (await fetch(`${server.url}/api/tasks/${id}`)).json()) as { readonly end: object }
  expect(task.end).toMatchObject({ decision: 'reject', decided_by: 'bea', feedback: 'a rare error' })
  expect(faults).toEqual([])
  await close()
})

test('[C6] keys undo a mark, reassign a task, copy its id, and return to the list', async () => {
  const id = await aBundle('keys')
  const { page, faults, close } = await openedBy('eve', `/inbox?task=${id}`)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByText('0/9 reviewed', { exact: true }).waitFor()
  await press(page, 'a', 'n', 'r')
  await page.getByText('2/9 reviewed', { exact: true }).waitFor()
  await press(page, 'u')
  await page.getByText('1/9 reviewed', { exact: true }).waitFor()
  await press(page, 'Shift+A')
  await page.getByText('9/9 reviewed', { exact: true }).waitFor()
  await press(page, 'u', 'u')
  await page.getByText('0/9 reviewed', { exact: true }).waitFor()
  await page.getByText('Draft saved', { exact: true }).waitFor()
  await press(page, 'c')
  await page.getByText('Copied', { exact: true }).waitFor()
  await press(page, 's')
  const dialog = page.getByRole('dialog', { name: /^Reassign: / })
  await dialog.getByLabel('To').waitFor()
  await press(page, 'Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('0/9 reviewed', { exact: true }).waitFor()
  // The second letter of a two-letter key does nothing by itself.
  await press(page, 'g', 'r')
  await page.getByRole('heading', { level: 1, name: 'Runs', exact: true }).waitFor()
  await page.goBack()
  await page.getByText('0/9 reviewed', { exact: true }).waitFor()
  // The first Escape leaves the field, the second the task.
  await press(page, 'p', 'e')
  await page.getByRole('textbox', { name: 'subject', exact: true }).focus()
  await press(page, 'Escape')
  await page.getByRole('textbox', { name: 'subject', exact: true }).waitFor()
  await press(page, 'Escape')
  await page.getByText('Choose a task.', { exact: true }).waitFor()
  expect(faults).toEqual([])
  await close()
})

test('[C17] marks are stored on the server: another browser shows them', async () => {
  const id = await aBundle('c2')
  const one = await openedBy('ana', `/inbox?task=${id}`)
  await one.page.getByText('0/9 reviewed', { exact: true }).waitFor()
  await press(one.page, 'r', 'n', 'a')
  await one.page.getByText('2/9 reviewed', { exact: true }).waitFor()
  await one.page.getByText('Draft saved', { exact: true }).waitFor()
  const two = await openedBy('ana', `/inbox?task=${id}`)
  await two.page.getByText('2/9 reviewed', { exact: true }).waitFor()
  await one.close()
  await two.close()
})

test('[C17] marks that were made just before leaving the task are there on return', async () => {
  const id = await aBundle('left')
  const { page, close } = await openedBy('ana', `/inbox?task=${id}`)
  await page.getByText('0/9 reviewed', { exact: true }).waitFor()
  const isSaved = page.waitForResponse((response) => response.url().endsWith(`/api/tasks/${id}/drafts`))
  await press(page, 'a', 'n', 'r', 'Escape')
  await page.getByText('Choose a task.', { exact: true }).waitFor()
  await isSaved
  await page.locator(`[data-row][data-id=${id}]`).click()
  await page.getByText('2/9 reviewed', { exact: true }).waitFor()
  await close()
})
