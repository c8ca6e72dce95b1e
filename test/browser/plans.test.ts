/** Plans in a real browser, on the real server: a card in the chat that is approved there, and a page of its own. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import {
  axeFindings,
  axeFindingsInLight,
  startBrowser,
  type TestBrowser,
  type WatchedPage,
} from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'

let browser: TestBrowser
let folder: Folder
let server: Server
let data: string

beforeAll(async () => {
  folder = new Folder()
  data = join(folder.path, 'data')
  const serving = folder.serve(['dev', join(PROJECT, 'examples/hello-contacts')], {
    env: { TRIHAND_MODELS: 'simulated', PORT: '0', TRIHAND_DATA: data },
  })
  ;[browser, server] = await Promise.all([startBrowser(), serving])
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const opened = async (path: string): Promise<WatchedPage> => {
  const watched = await browser.open()
  await watched.page.addInitScript(`localStorage.setItem('trihand-me', '{"name": "ana", "groups": "operators"}')`)
  await watched.page.goto(`${server.url}${path}`)
  return watched
}

const HELLO = 'Send an email to all my contacts that says "Hello World!"'
const mails = (): number => readFileSync(join(data, 'mails.jsonl'), 'utf8').trim().split('\n').length

const propose = async ({ page }: WatchedPage): Promise<void> => {
  await page.getByLabel('Your message', { exact: true }).fill(HELLO)
  await page.getByLabel('Your message', { exact: true }).press('Enter')
  await page.getByRole('button', { name: 'Approve and run', exact: true }).waitFor()
}

test('[P6][N3] a plan is shown as a card; approved there it runs, and shows the progress of each step', async () => {
  const chat = await opened('/chat')
  const { page, faults, close } = chat
  await propose(chat)
  await page.getByText('Send emails', { exact: true }).waitFor()
  await page.getByText(/· after a and b$/).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(await axeFindingsInLight(page)).toEqual([])
  await page.getByRole('button', { name: 'Approve and run', exact: true }).click()
  const run = page.getByRole('region', { name: /^Run run_/ })
  await run.getByText('success', { exact: true }).nth(3).waitFor()
  expect(mails()).toBe(3)
  expect(await axeFindings(page)).toEqual([])
  await page.reload()
  await page.getByRole('link', { name: 'Open plan', exact: true }).click()
  await page.getByRole('heading', { name: HELLO }).waitFor()
  await page.getByText(/approved .* by ana/).waitFor()
  expect(faults).toEqual([])
  await close()
})

test('a plan that is discarded in the chat is not run, and the card says so', async () => {
  const chat = await opened('/chat')
  const { page, faults, close } = chat
  await propose(chat)
  await page.getByRole('button', { name: 'Discard', exact: true }).click()
  await page.getByText('Discarded in the chat.', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Approve and run', exact: true }).waitFor({ state: 'detached' })
  expect(faults).toEqual([])
  await close()
})

test("[N2][N3] a plan's page shows its errors by line; the plan is edited to a new revision, approved and run", async () => {
  const made = await fetch(`${server.url}/api/plans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'a. Get all contacts\nb. Send emals (requires step a)' }),
  })
  const { id } = (await made.json()) as { readonly id: string }
  const { page, faults, close } = await opened(`/plans/${id}`)
  await page.getByText('Line 2:', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(await page.getByRole('button', { name: 'Approve and run', exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByRole('textbox', { name: 'Steps', exact: true }).fill('a. Get all contacts')
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Save revision', exact: true }).click()
  await page.getByText(/· revision 2 /).waitFor()
  await page.getByRole('button', { name: 'Approve and run', exact: true }).click()
  await page
    .getByRole('region', { name: /^Run run_/ })
    .getByText('success', { exact: true })
    .nth(1)
    .waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(await axeFindingsInLight(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})
