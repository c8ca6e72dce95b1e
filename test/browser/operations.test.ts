/** The screens for operators in a real browser on a real server: credentials, deliveries, schedules, events; each with data on it. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTrihand } from '#compose/assemble.ts'
import {
  axeFindings,
  hasLoaded,
  openAt,
  startBrowser,
  type TestBrowser,
  type WatchedPage,
} from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'

const MANIFEST = `
product: { name: shop, version: "1.0" }
events:
  definitions:
    - { name: order.paid, source: external, payload: { order: string!, amount: number } }
functions:
  - { name: count, triggers: [{ event: order.paid, filter: "payload.amount > 10" }] }
schedules:
  - { name: nightly, cron: "0 3 * * *", tz: Europe/Berlin, emit: order.paid, input: { order: nightly } }
webhooks:
  - { name: shop-in, path: /hooks/shop, emits: order.paid, auth: none, unsigned: true }
endpoints:
  - { name: books, url: "http://127.0.0.1:9/in", events: [order.paid] }
`

let browser: TestBrowser
let folder: Folder
let server: Server
let session: string

/** A session with two checkpoints and a fork that went another way. */
const remember = async (database: string): Promise<string> => {
  const trihand = await createTrihand({ system: { name: 'shop' }, database, work: false })
  const { sessions } = trihand
  const id = await sessions.create()
  await sessions.remember(id, 'offer', { plan: 'pilot', weeks: 6 })
  await sessions.checkpoint(id)
  const fork = await sessions.fork(id)
  await sessions.remember(fork, 'offer', { plan: 'full', weeks: 12 })
  await sessions.checkpoint(fork)
  await trihand.close()
  return id
}

beforeAll(async () => {
  folder = new Folder({
    'manifest.yaml': MANIFEST,
    'functions/count.ts': 'export default async () => ({ ok: true })\n',
  })
  mkdirSync(join(folder.path, '.trihand'))
  session = await remember(join(folder.path, '.trihand/trihand.db'))
  const env = { PORT: '0' }
  ;[browser, server] = await Promise.all([startBrowser(), folder.serve(['dev', '.'], { env })])
  await folder.json(['send', 'order.paid', '{"order":"o-1","amount":20}'])
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const opened = (path: string): Promise<WatchedPage> => openAt(browser, `${server.url}${path}`)

/** Neither axe nor the browser finds a fault, in light and in dark. */
const expectNoFault = async ({ page, faults }: WatchedPage): Promise<void> => {
  await hasLoaded(page)
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
}

test('a token is created, its secret is shown once, and it is revoked', async () => {
  const watched = await opened('/settings')
  const { page, close } = watched
  await page.getByRole('button', { name: 'New token', exact: true }).click()
  const form = page.getByRole('dialog', { name: 'New token', exact: true })
  await form.getByLabel('Name').fill('eve')
  await form.getByLabel('decider').check()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await form.getByRole('button', { name: 'Create token', exact: true }).click()
  await page.getByText('Copy it now. It is shown only once.', { exact: true }).waitFor()
  const secret = await page.locator('.command code', { hasText: /^th_/ }).textContent()
  const me = await fetch(`${server.url}/api/me`, { headers: { authorization: `Bearer ${secret}` } })
  expect(await me.json()).toMatchObject({ id: 'eve', roles: ['viewer', 'decider'] })
  await expectNoFault(watched)
  await page.reload()
  await page.getByRole('row', { name: /^eve/ }).waitFor()
  expect(await page.getByText(secret ?? '').count()).toBe(0)
  await page.getByRole('button', { name: 'Revoke eve', exact: true }).click()
  await page
    .getByRole('dialog', { name: 'Revoke token', exact: true })
    .getByRole('button', { name: 'Revoke', exact: true })
    .click()
  await page.getByRole('row', { name: /eve.*revoked/ }).waitFor()
  const after = await fetch(`${server.url}/api/me`, { headers: { authorization: `Bearer ${secret}` } })
  expect(after.status).toBe(401)
  await close()
})

test('an endpoint shows its health, its deliveries show the result of each try, and settings show their origin', async () => {
  const watched = await opened('/settings')
  const { page, close } = watched
  await page.getByRole('button', { name: 'Deliveries to books', exact: true }).click()
  await page
    .getByRole('table', { name: 'Deliveries to books', exact: true })
    .getByText(/^failed: /)
    .waitFor()
  const port = page.getByRole('table', { name: 'Configuration', exact: true }).getByRole('row', { name: /PORT port/ })
  await port.getByText('environment', { exact: true }).waitFor()
  await expectNoFault(watched)
  await close()
})

test('a schedule shows its next slots and policies, is paused with a reason, and counts before a backfill', async () => {
  const watched = await opened('/schedules')
  const { page, close } = watched
  await page.getByRole('button', { name: 'nightly', exact: true }).click()
  await page.waitForURL(/name=nightly/)
  await page.getByText(/clocks in Europe\/Berlin move 60 minutes/).waitFor()
  expect(await page.getByRole('table', { name: 'Next runs of nightly', exact: true }).getByRole('row').count()).toBe(6)
  await page.getByRole('button', { name: 'Run nightly now', exact: true }).click()
  await page
    .getByRole('list', { name: 'Recent runs', exact: true })
    .getByRole('link', { name: /started manually: success$/ })
    .waitFor()
  await page.getByRole('button', { name: 'Backfill nightly', exact: true }).click()
  const form = page.getByRole('dialog', { name: 'Backfill nightly', exact: true })
  await form.getByLabel('From').fill('2026-01-01T00:00')
  await form.getByLabel('To').fill('2026-01-04T00:00')
  await form.getByRole('button', { name: 'Count', exact: true }).click()
  await form.getByText(/^3 runs, the first for /).waitFor()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Pause nightly', exact: true }).click()
  const pause = page.getByRole('dialog', { name: 'Pause nightly', exact: true })
  await pause.getByLabel('Reason', { exact: true }).fill('the shop moves')
  await pause.getByRole('button', { name: 'Pause', exact: true }).click()
  await pause.waitFor({ state: 'detached' })
  await page.getByText(/: the shop moves$/).waitFor()
  await expectNoFault(watched)
  await close()
})

test('any object can be copied as an id, a command or a request', async () => {
  const { page, close } = await opened('/schedules')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const taken = async (item: string): Promise<string> => {
    await page.getByRole('button', { name: 'More actions for schedule nightly', exact: true }).click()
    await page.getByRole('menuitem', { name: item }).click()
    await page.getByRole('menu').waitFor({ state: 'detached' })
    return String(await page.evaluate('navigator.clipboard.readText()'))
  }
  expect(await taken('Copy id')).toBe('nightly')
  expect(await taken('Copy as CLI')).toBe('npx trihand schedules show nightly')
  expect(await taken('Copy as curl')).toBe(`curl -s ${server.url}/api/schedules/nightly`)
  await close()
})

test('an event is checked before it is sent; a handler that was not started shows why, and is started anyway', async () => {
  const { page, close } = await opened('/events?send=order.paid')
  await hasLoaded(page)
  const rows = page.getByRole('button', { name: 'order.paid', exact: true })
  const before = await rows.count()
  const data = page.getByLabel('Data (JSON)', { exact: true })
  await data.fill('{"amount": 3}')
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await page.getByRole('status').getByText(/order/).waitFor()
  await data.fill('{"order": "o-2", "amount": 3}')
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await page.getByText(/^The data is valid\..*count would not start/).waitFor()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('Event sent', { exact: true }).waitFor()
  // The newest is first, once it has arrived.
  await rows.nth(before).waitFor()
  await rows.first().click()
  await page.getByText(/^not started: /).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Start count anyway', exact: true }).click()
  await page.getByText('Started anyway', { exact: true }).waitFor()
  await close()
})

test('the list of events holds still while it is read, and can be filtered', async () => {
  const watched = await opened('/events?type=order.paid')
  const { page, close } = watched
  const rows = page.getByRole('button', { name: 'order.paid', exact: true })
  await rows.first().waitFor()
  const before = await rows.count()
  await page.getByRole('button', { name: 'Pause live updates', exact: true }).click()
  await folder.json(['send', 'order.paid', '{"order":"o-3"}', '--subject', 'basket-3'])
  await page.getByText('Paused, 1 new event.', { exact: true }).waitFor()
  expect(await rows.count()).toBe(before)
  await page.getByRole('button', { name: 'Resume live updates', exact: true }).click()
  await rows.nth(before).waitFor()
  await page.getByLabel('Subject', { exact: true }).fill('basket')
  await page.getByLabel('Subject', { exact: true }).press('Enter')
  await page.getByText(/^Showing 1 of the \d+ newest events/).waitFor()
  expect(await rows.count()).toBe(1)
  await expectNoFault(watched)
  await close()
})

test('a delivery that made no event is listed with the reason, and refused again with a reason', async () => {
  const headers = { 'content-type': 'application/json', 'webhook-id': 'letter-1' }
  const refused = await fetch(`${server.url}/hooks/shop`, { method: 'POST', headers, body: '{"amount":"many"}' })
  expect(refused.status).toBe(422)
  const watched = await opened('/events?view=dead')
  const { page, close } = watched
  await page.getByRole('row', { name: /shop-in letter-1.*EVENT_INVALID/ }).waitFor()
  await expectNoFault(watched)
  await page.getByRole('button', { name: 'Replay letter-1', exact: true }).click()
  await page.getByRole('alert').getByText('EVENT_INVALID', { exact: true }).waitFor()
  await close()
})

test('[G10] checkpoints of a session and its fork are drawn on lanes, and two of them are compared', async () => {
  const watched = await opened(`/sessions/${session}`)
  const { page, close } = watched
  const compare = page
    .getByRole('list', { name: 'Checkpoints', exact: true })
    .getByRole('button', { name: /^Compare cp_/ })
  await compare.nth(1).click()
  await page.getByText(/^Choose another checkpoint/).waitFor()
  await compare.nth(0).click()
  const row = page.getByRole('table', { name: 'Differences', exact: true }).getByRole('row', { name: /^offer/ })
  await row.getByText('pilot', { exact: true }).waitFor()
  await row.getByText('full', { exact: true }).waitFor()
  expect(await page.locator('.lanes circle').count()).toBe(4)
  await expectNoFault(watched)
  await close()
})

test('[A3] the graph is saved as SVG, and an event is sent from its node', async () => {
  const watched = await opened('/graph?node=event%3Aorder.paid')
  const { page, close } = watched
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Save as SVG', exact: true }).click(),
  ])
  expect(saved.suggestedFilename()).toBe('shop.svg')
  await page.getByText('Downstream', { exact: true }).click()
  await page.waitForURL(/line=down/)
  await expectNoFault(watched)
  await page.getByRole('link', { name: 'Send event', exact: true }).click()
  await page.getByRole('combobox', { name: 'Event type', exact: true }).waitFor()
  expect(await page.getByRole('combobox', { name: 'Event type', exact: true }).inputValue()).toBe('order.paid')
  await close()
})
