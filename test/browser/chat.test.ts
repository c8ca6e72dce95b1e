/** The chat in a real browser, on the real server: talk, see what is done, approve in the inbox, stop, come back after a reload. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFindings, startBrowser, type TestBrowser, type WatchedPage } from '../support/browser.ts'
import { Folder, type Server } from '../support/command.ts'
import { PROJECT } from '../support/places.ts'

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
  await watched.page.getByLabel('Your message').waitFor()
  return watched
}

const say = async ({ page }: WatchedPage, text: string): Promise<void> => {
  await page.getByLabel('Your message').fill(text)
  await page.getByLabel('Your message').press('Enter')
}

test('[E10] an empty chat says what to type; a message is answered, marked as simulated, without a fault', async () => {
  const chat = await opened()
  const { page, faults, close } = chat
  await page.getByText('Where is order 4711?').first().waitFor()
  expect(await axeFindings(page)).toEqual([])
  await say(chat, 'Hello')
  const answer = page.getByRole('listitem').filter({ hasText: 'What can I do for you?' })
  await answer.waitFor()
  await answer.getByText('simulated').waitFor()
  await answer.locator('strong').waitFor()
  await say(chat, 'Where is order 4711?')
  await page.getByText('It is on its way and comes on Friday.', { exact: true }).waitFor()
  await page.getByRole('status').filter({ hasText: 'An answer' }).waitFor({ state: 'detached' })
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('after a talk its session, the costs and the runs have no fault that axe finds', async () => {
  const chat = await opened()
  const { page, faults, close } = chat
  await say(chat, 'Hello')
  await page.getByText('can I do for you?').waitFor()
  await page.goto(`${server.url}/sessions`)
  await page.getByRole('link', { name: /^ses_/ }).first().waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('link', { name: /^ses_/ }).first().click()
  await page.getByRole('heading', { name: 'Memory' }).waitFor()
  await page.getByRole('table', { name: 'Runs of this session' }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.goto(`${server.url}/costs`)
  await page.getByRole('table', { name: 'By agent and model' }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('[E10] what costs money waits for a person: the card leads to the task, and the answer comes after it', async () => {
  const chat = await opened()
  const { page, faults, close } = chat
  await say(chat, 'Refund order 4711')
  const card = page.getByRole('link', { name: 'Open the task' })
  await card.waitFor()
  expect(await axeFindings(page)).toEqual([])
  const address = page.url()
  await card.click()
  await page.getByRole('heading', { name: 'Chat desk wants to execute refund' }).waitFor()
  await page.getByRole('button', { name: 'Approve', exact: true }).last().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.goto(address)
  await page.getByText('Order 4711 is paid back.', { exact: true }).waitFor()
  expect(faults).toEqual([])
  await close()
})

test('[F3] a turn goes on across a reload, and is stopped by its button', async () => {
  const chat = await opened()
  const { page, faults, close } = chat
  await say(chat, 'Think about it')
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await page.getByRole('link', { name: 'Think about it' }).waitFor()
  await page.reload()
  await page.getByText('Think about it').first().waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  await say(chat, 'Hello')
  await page.getByText('can I do for you?').waitFor()
  expect(faults).toEqual([])
  await close()
})
