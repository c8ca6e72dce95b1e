/** One run in a real browser: its timeline by keys and by mouse, one step in full, and the commands for it. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSqlite } from '#adapters/storage/sqlite/open.ts'
import type { RunFact } from '#model/run/fact.ts'
import { PROJECT } from '#test/support/places.ts'
import {
  axeFindings,
  axeFindingsInLight,
  openAt,
  press,
  startBrowser,
  type TestBrowser,
  type WatchedPage,
} from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'
import { aStart, writePastRun } from '#test/support/stores/past-run.ts'

let browser: TestBrowser
let folder: Folder
let server: Server
/** A run that asked, waited two days and four hours for an event, slept for a day, and failed twice. */
let past: string

const START = Date.parse('2026-01-05T08:00:00.000Z')
const [SECOND, HOUR, DAY] = [1_000, 3_600_000, 86_400_000]

const life = (): readonly RunFact[] => {
  const at = (ms: number) => START + ms
  const answered = 4 * SECOND + 2 * DAY + 4 * HOUR
  const later = answered + SECOND + DAY
  const failure = { code: 'STEP_TIMEOUT', message: 'the line went dead' } as const
  return [
    aStart('order', at(0)),
    { type: 'step.completed', at: at(3 * SECOND), step: 'prepare', attempt: 1, result: { value: { kg: 7 } } },
    {
      ...{ type: 'wait.opened', at: at(4 * SECOND), step: 'payment' },
      wait: { types: ['order.paid'], mode: 'any', match: null, condition: null, timeoutAt: null, base: 0 },
    },
    { type: 'wait.received', at: at(answered), step: 'payment', event: { type: 'order.paid', sequence: 7 } },
    { type: 'timer.set', at: at(answered + SECOND), step: 'rest', wakeAt: at(later) },
    { type: 'timer.fired', at: at(later), step: 'rest' },
    {
      type: 'step.retry_scheduled',
      at: at(later + SECOND),
      step: 'send',
      attempt: 1,
      error: failure,
      wakeAt: at(later + 4 * SECOND),
    },
    { type: 'step.retry_due', at: at(later + 4 * SECOND), step: 'send' },
    { type: 'step.failed', at: at(later + 5 * SECOND), step: 'send', attempt: 2, error: failure },
    { type: 'run.failed', at: at(later + 5 * SECOND), error: failure },
  ]
}

beforeAll(async () => {
  folder = new Folder()
  const data = join(folder.path, '.trihand')
  mkdirSync(data)
  const database = join(data, 'trihand.db')
  const { ledger } = await openSqlite({ file: database })
  past = await writePastRun(ledger, { handler: 'order', status: 'failed', facts: life() })
  await ledger.close()
  const env = { PORT: '0', TRIHAND_DATA: data, DATABASE_URL: database }
  ;[browser, server] = await Promise.all([
    startBrowser(),
    folder.serve(['dev', join(PROJECT, 'examples/hello')], { env }),
  ])
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const opened = (path: string): Promise<WatchedPage> => openAt(browser, `${server.url}${path}`)

const row = (page: Page, name: string) => page.getByRole('treeitem', { name: new RegExp(`^${name}: `) })
const focused = (page: Page, name: string) => row(page, name).and(page.locator(':focus')).waitFor()
const barWidth = async (page: Page, name: string): Promise<number> =>
  (await row(page, name).locator('.piece').first().boundingBox())?.width ?? 0

const greeted = async (name: string): Promise<string> => {
  const { runs } = await folder.json(['send', 'greeting.requested', JSON.stringify({ name })])
  return runs[0]
}

test('states differ by pattern, and idle time is collapsed with its length, one span or all', async () => {
  const { page, faults, close } = await opened(`/runs/${past}`)
  await row(page, 'payment').waitFor()
  const fills = await page
    .locator('.lines .piece')
    .evaluateAll((all) =>
      all.map((piece) => (piece as unknown as { getAttribute(name: string): string | null }).getAttribute('fill')),
    )
  expect(fills).toEqual(expect.arrayContaining(['url(#tile-event)', 'url(#tile-sleep)', 'url(#tile-retry)', null]))
  const narrow = await barWidth(page, 'payment')
  expect(await page.getByRole('button', { name: /of idle time$/ }).allTextContents()).toEqual(['2 d 4 h', '1 d'])
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Expand 2 d 4 h of idle time', exact: true }).click()
  await page.getByRole('button', { name: 'Collapse 2 d 4 h of idle time', exact: true }).waitFor()
  expect(await barWidth(page, 'payment')).toBeGreaterThan(3 * narrow)
  await page.getByRole('button', { name: 'Show idle time', exact: true }).click()
  await page.getByRole('button', { name: 'Collapse 1 d of idle time', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Hide idle time', exact: true }).click()
  await page.getByRole('button', { name: 'Expand 2 d 4 h of idle time', exact: true }).waitFor()
  expect(await barWidth(page, 'payment')).toBeCloseTo(narrow, 0)
  expect(faults).toEqual([])
  await close()
})

test('keys move over the rows, collapse and expand them, and open one', async () => {
  const { page, faults, close } = await opened(`/runs/${past}`)
  await row(page, 'send').waitFor()
  await press(page, 'j')
  await focused(page, 'order')
  await press(page, 'j', 'j', 'k')
  await focused(page, 'prepare')
  await press(page, 'End')
  await focused(page, 'send')
  await press(page, 'ArrowRight')
  await row(page, 'attempt 2').waitFor()
  await press(page, 'ArrowRight')
  await focused(page, 'attempt 1')
  await press(page, 'ArrowLeft')
  await focused(page, 'send')
  await press(page, 'ArrowLeft')
  await row(page, 'attempt 1').waitFor({ state: 'detached' })
  await press(page, 'e')
  await row(page, 'attempt 1').waitFor()
  await press(page, 'w')
  await row(page, 'attempt 1').waitFor({ state: 'detached' })
  await press(page, 'Enter')
  await page.waitForURL(/step=send/)
  await page.getByRole('tabpanel').getByText('STEP_TIMEOUT', { exact: true }).waitFor()
  await page.getByRole('tabpanel').getByText('the line went dead', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('[ and ] zoom to the focused row, 0 shows everything again, and the mouse does the same', async () => {
  const { page, close } = await opened(`/runs/${past}`)
  await row(page, 'prepare').waitFor()
  const whole = await barWidth(page, 'prepare')
  await press(page, 'j', 'j')
  await focused(page, 'prepare')
  await press(page, '[', ']')
  await page.getByRole('button', { name: 'Fit', exact: true }).waitFor()
  expect(await barWidth(page, 'prepare')).toBeGreaterThan(1.5 * whole)
  await press(page, '0')
  await page.getByRole('button', { name: 'Fit', exact: true }).waitFor({ state: 'detached' })
  expect(await barWidth(page, 'prepare')).toBeCloseTo(whole, 0)
  const clock = await page.locator('.clock').boundingBox()
  if (clock === null) throw new Error('there is no axis')
  await page.mouse.move(clock.x + 2, clock.y + 6)
  await page.mouse.down()
  await page.mouse.move(clock.x + clock.width / 4, clock.y + 6)
  await page.mouse.up()
  await page.getByRole('button', { name: 'Fit', exact: true }).waitFor()
  expect(await barWidth(page, 'prepare')).toBeGreaterThan(1.5 * whole)
  await page.getByRole('button', { name: 'Fit', exact: true }).click()
  await page.getByRole('button', { name: 'Fit', exact: true }).waitFor({ state: 'detached' })
  expect(await barWidth(page, 'prepare')).toBeCloseTo(whole, 0)
  await close()
})

test('the same rows are available as a table, and the address keeps that choice', async () => {
  const { page, faults, close } = await opened(`/runs/${past}`)
  await page.getByRole('button', { name: 'Table', exact: true }).click()
  await page.waitForURL(/view=table/)
  await page.reload()
  const table = page.getByRole('table', { name: 'Steps', exact: true })
  await table.getByRole('row', { name: /^rest function slept/ }).waitFor()
  await table.getByRole('row', { name: /^send function ran .* 2 failed STEP_TIMEOUT/ }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await press(page, 'j', 'j', 'Enter')
  await page.waitForURL(/step=prepare/)
  await page
    .getByRole('tabpanel')
    .getByText(/"kg": 7/)
    .waitFor()
  await page.setViewportSize({ width: 390, height: 800 })
  expect(await axeFindingsInLight(page)).toEqual([])
  expect(await page.evaluate('document.body.scrollWidth')).toBe(390)
  expect(faults).toEqual([])
  await close()
})

test('a run is followed while it continues, and the steps of a run that it called are rows of the step', async () => {
  const run = await greeted('Ada')
  const { page, faults, close } = await opened(`/runs/${run}`)
  await row(page, 'let-it-dry').waitFor()
  // Without a reload: it sleeps, tries twice, calls another.
  await page.getByRole('treeitem', { name: /^answer: function, waiting for an event, in progress/ }).waitFor()
  await page.getByRole('treeitem', { name: /^print: function, ran, done, .*, 2 attempts/ }).waitFor()
  await page.getByText(/^Why is it waiting\? It waits for an event: greeting.answered/).waitFor()
  await row(page, 'count').locator('[data-fold]').click()
  await page.locator('[role=treeitem][aria-level="3"]', { hasText: 'count' }).click()
  await page.waitForURL(/of=run_/)
  await page.getByRole('tabpanel').getByText('8', { exact: true }).waitFor()
  await row(page, 'write').click()
  await page.getByRole('tab', { name: 'History', exact: true }).click()
  await page.waitForURL(/tab=facts/)
  const facts = page.getByRole('table', { name: 'History', exact: true }).getByRole('row')
  await facts.nth(1).waitFor()
  expect(await facts.count()).toBe(2)
  expect(await axeFindings(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 800 })
  expect(await axeFindingsInLight(page)).toEqual([])
  expect(await page.evaluate('document.body.scrollWidth')).toBe(390)
  expect(faults).toEqual([])
  await close()
})

test('[G12] a run is paused and resumed; a cancel asks first, and accepts a reason (13.0)', async () => {
  const run = await greeted('Grace')
  const { page, faults, close } = await opened(`/runs/${run}`)
  const verb = (name: string) => page.getByRole('button', { name, exact: true })
  await verb('Pause').click()
  await page.getByText(/^Why is it waiting\? .*a person to resume it/).waitFor()
  await verb('Resume').click()
  await verb('Pause').waitFor()
  await press(page, 'Shift+C')
  const dialog = page.getByRole('dialog', { name: 'Cancel greet?', exact: true })
  await dialog.waitFor()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await dialog.getByRole('button', { name: 'Keep running', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await verb('Cancel').click()
  await page.getByLabel('Reason', { exact: true }).fill('no paper')
  await press(page, 'ControlOrMeta+Enter')
  await verb('Retry').waitFor()
  // The facts, which are shown until the error arrives, name the reason twice: in the request, and at the end.
  await page.getByRole('tabpanel', { name: 'Error', exact: true }).getByText('no paper', { exact: true }).waitFor()
  await press(page, 't')
  await verb('Cancel').waitFor()
  expect(faults).toEqual([])
  await close()
})

test('a run is copied as its id, as JSON, as a command and as a request that works', async () => {
  const { page, close } = await opened(`/runs/${past}`)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const copied = async (label: string): Promise<string> => {
    const button = page.getByRole('button', { name: `Copy ${label}`, exact: true })
    await button.click()
    await button.filter({ hasText: 'Copied' }).waitFor()
    return page.evaluate('navigator.clipboard.readText()')
  }
  expect(await copied('id')).toBe(past)
  expect(JSON.parse(await copied('JSON'))).toMatchObject({ id: past, status: 'failed' })
  expect(await copied('CLI')).toBe(`npx trihand runs show ${past}`)
  expect(await copied('curl')).toBe(`curl -s ${server.url}/api/runs/${past}`)
  await close()
})
