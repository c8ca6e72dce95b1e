/** The chat in a real browser, on the real server: talk, see what is done, approve in the inbox, stop, return after a reload. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import { axeFindings, startBrowser, type TestBrowser, type WatchedPage } from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'

let browser: TestBrowser
let folder: Folder
let server: Server

beforeAll(async () => {
  folder = new Folder()
  const serving = folder.serve(['dev', join(PROJECT, 'examples/chat')], {
    env: { TRIHAND_MODELS: 'simulated', PORT: '0' },
  })
  ;[browser, server] = await Promise.all([startBrowser(), serving])
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const opened = async (): Promise<WatchedPage> => {
  const watched = await browser.open()
  await watched.page.addInitScript(`localStorage.setItem('trihand-me', '{"name": "ana", "groups": "operators"}')`)
  await watched.page.goto(`${server.url}/chat`)
  await watched.page.getByLabel('Your message', { exact: true }).waitFor()
  return watched
}

/** The messages of one side, as whole texts. */
const answered = (page: Page, text: string) => page.locator('.message').filter({ hasText: text })

const say = async ({ page }: WatchedPage, text: string): Promise<void> => {
  await page.getByLabel('Your message', { exact: true }).fill(text)
  await page.getByLabel('Your message', { exact: true }).press('Enter')
}

test('[E10] an empty chat says what to type; a message is answered, marked as simulated, without a fault', async () => {
  const chat = await opened()
  const { page, faults, close } = chat
  await page
    .getByRole('region', { name: 'Conversation', exact: true })
    .getByText(/Where is order 4711\?/)
    .waitFor()
  expect(await axeFindings(page)).toEqual([])
  await say(chat, 'Hello')
  const answer = answered(page, 'What can I do for you?')
  await answer.waitFor()
  await answer.getByText('simulated', { exact: true }).waitFor()
  await answer.locator('strong').waitFor()
  await say(chat, 'Where is order 4711?')
  await page.getByText('It is on its way and comes on Friday.', { exact: true }).waitFor()
  await page.getByRole('status').filter({ hasText: 'An answer' }).waitFor({ state: 'detached' })
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('after a conversation axe finds no fault in its session, the costs and the runs', async () => {
  const chat = await opened()
  const { page, faults, close } = chat
  await say(chat, 'Hello')
  await answered(page, 'What can I do for you?').waitFor()
  await page.goto(`${server.url}/sessions`)
  await page.getByRole('link', { name: /^ses_/ }).first().waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('link', { name: /^ses_/ }).first().click()
  await page.getByRole('heading', { name: 'Memory', exact: true }).waitFor()
  await page.getByRole('table', { name: 'Runs of this session', exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.goto(`${server.url}/costs`)
  await page.getByRole('table', { name: 'By agent and model', exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('[E10] an action that costs money waits for a person: the card links to the task, and the answer comes after it', async () => {
  const chat = await opened()
  const { page, faults, close } = chat
  await say(chat, 'Refund order 4711')
  const card = page.getByRole('link', { name: 'Open the task', exact: true })
  await card.waitFor()
  expect(await axeFindings(page)).toEqual([])
  const address = page.url()
  await card.click()
  await page.getByRole('heading', { name: 'Chat desk wants to execute refund', exact: true }).waitFor()
  await page.locator('.actions').getByRole('button', { name: 'Approve', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: /^Approve: / })
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.goto(address)
  await page.getByText('Order 4711 is paid back.', { exact: true }).waitFor()
  expect(faults).toEqual([])
  await close()
})

test('[F3] a turn continues across a reload, and its button stops it', async () => {
  const chat = await opened()
  const { page, faults, close } = chat
  await say(chat, 'Think about it')
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Think about it', exact: true }).waitFor()
  await page.reload()
  await answered(page, 'Think about it').waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
  await say(chat, 'Hello')
  await answered(page, 'What can I do for you?').waitFor()
  expect(faults).toEqual([])
  await close()
})
