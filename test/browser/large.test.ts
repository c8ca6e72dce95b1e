/** The web app with large amounts of data: ten thousand tasks, a run of five thousand steps, and the size of the first load. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSqlite } from '#adapters/storage/sqlite/open.ts'
import type { RunFact } from '#model/run/fact.ts'
import { PROJECT } from '#test/support/places.ts'
import { axeFindings, startBrowser, type TestBrowser } from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'
import { aStart, writePastRun } from '#test/support/stores/past-run.ts'
import { until } from '#test/support/until.ts'
import { aCreation, anAppend, aTask, newTask } from '#testing/ledger/builders.ts'

const TASKS = 10_000
const AT_ONCE = 200
/** How far down the list is scrolled, page by page. */
const SCROLLED = 1_000
const MOST_ROWS = 40
const FIRST_LOAD_BYTES = 400_000
const STEPS = 5_000
const MOST_LINES = 60
/** Processor time of the page's own thread, because other processes share the machine. */
const DRAWN_MS = 1_000

let browser: TestBrowser
let folder: Folder
let server: Server
let long: string

/** One step after the other, a second each. */
const longLife = (): readonly RunFact[] => {
  const at = (second: number) => Date.parse('2026-01-05T08:00:00.000Z') + second * 1_000
  const step = (i: number): RunFact => ({
    ...{ type: 'step.completed', at: at(i + 1), step: `mail[${i}]`, attempt: 1, result: { value: i } },
  })
  const end = { type: 'run.completed', at: at(STEPS + 1), status: 'success', output: { value: null } } as const
  return [aStart('long', at(0)), ...Array.from({ length: STEPS }, (_, i) => step(i)), end]
}

/** Rows as the ledger stores them, written through it: the inbox reads nothing else. */
const fill = async (file: string): Promise<void> => {
  const { ledger } = await openSqlite({ file })
  for (let from = 0; from < TASKS; from += AT_ONCE) {
    const writes = Array.from({ length: AT_ONCE }, (_, i) => {
      const task = aTask({ title: `Task ${from + i}`, addresses: ['group:sales'] })
      return aCreation(newTask(), { parent: task.run }, { status: 'waiting', wakeAt: null, task })
    })
    await ledger.append(writes.map((write) => anAppend({ writes: [write] })))
  }
  long = await writePastRun(ledger, { handler: 'long', status: 'success', facts: longLife() })
  await ledger.close()
}

beforeAll(async () => {
  folder = new Folder()
  const data = join(folder.path, '.trihand')
  mkdirSync(data)
  const database = join(data, 'trihand.db')
  await fill(database)
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

interface Scrolled {
  readonly frames: number
  readonly ms: number
  readonly mostRows: number
}

/** Scrolls one page of the list per frame, from the top to the bottom of what is loaded. */
const scrollDown = (page: Page): Promise<Scrolled> =>
  page.evaluate(async () => {
    // Runs in the page's own context; the test is compiled without it.
    type Box = { scrollTop: number; scrollHeight: number; clientHeight: number }
    const world = globalThis as unknown as {
      document: { querySelector(text: string): Box; querySelectorAll(text: string): { length: number } }
      requestAnimationFrame(act: () => void): void
      performance: { now(): number }
    }
    const box = world.document.querySelector('.task-list')
    const begun = world.performance.now()
    let [frames, mostRows] = [0, 0]
    while (box.scrollTop + box.clientHeight < box.scrollHeight - 1) {
      box.scrollTop += 2_000
      await new Promise<void>((resolve) => world.requestAnimationFrame(resolve))
      frames += 1
      mostRows = Math.max(mostRows, world.document.querySelectorAll('.task-row').length)
    }
    return { frames, ms: world.performance.now() - begun, mostRows }
  })

test('[C2] an inbox of ten thousand tasks scrolls with at most forty rows in the page', async () => {
  const { page, faults, close } = await browser.open()
  await page.goto(`${server.url}/inbox?view=open`)
  const rows = page.getByRole('list', { name: 'Tasks', exact: true }).getByRole('listitem')
  await rows.first().waitFor()
  const size = async (): Promise<number> => Number(await rows.first().getAttribute('aria-setsize'))
  const seen: Scrolled[] = []
  await until(
    async () => {
      seen.push(await scrollDown(page))
      return size()
    },
    (count) => count >= SCROLLED,
    { timeoutMs: 80_000, what: 'the list has grown while it was scrolled' },
  )
  seen.push(await scrollDown(page))
  expect(Math.max(...seen.map(({ mostRows }) => mostRows))).toBeLessThanOrEqual(MOST_ROWS)
  const [frames, ms] = [seen.reduce((sum, one) => sum + one.frames, 0), seen.reduce((sum, one) => sum + one.ms, 0)]
  console.log(
    `scrolled ${SCROLLED} of ${TASKS} tasks in ${frames} frames, ${Math.round((frames / ms) * 1000)} a second`,
  )
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('[C2] the rail shows a lower bound when there are very many tasks', async () => {
  const { page, faults, close } = await browser.open()
  await page.goto(`${server.url}/inbox?view=open`)
  await page
    .getByRole('navigation', { name: 'Screens', exact: true })
    .getByText('5000+ waiting', { exact: true })
    .waitFor()
  expect(faults).toEqual([])
  await close()
})

test('[C2] a notification about one task reloads the pages that contain it, not all that were loaded', async () => {
  const { page, close } = await browser.open()
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/tasks?')) asked.push(request.url())
  })
  await page.goto(`${server.url}/inbox?view=open`)
  const rows = page.getByRole('list', { name: 'Tasks', exact: true }).getByRole('listitem')
  await rows.first().waitFor()
  // Requests that follow the connection have been made by now.
  await until(
    () => asked.length,
    (count) => count >= 2,
    { what: 'the list was asked for again' },
  )
  await until(
    async () => {
      await scrollDown(page)
      return Number(await rows.first().getAttribute('aria-setsize'))
    },
    (count) => count >= SCROLLED,
    { timeoutMs: 80_000, what: 'the list has grown while it was scrolled' },
  )
  const id = await rows.last().getByRole('link').getAttribute('data-id')
  const before = asked.splice(0)
  // As a tab that has the connection forwards it to the others.
  await page.evaluate(
    `new BroadcastChannel('trihand-live').postMessage({ kind: 'notice', notice: { topic: 'tasks', id: '${id}' } })`,
  )
  const again = () => asked.filter((url) => before.includes(url))
  const isOfIt = async (url: string) => (await (await fetch(url)).text()).includes(`"${id}"`)
  await until(
    async () => (await Promise.all(again().map(isOfIt))).includes(true),
    (is) => is,
    { what: 'the page that it is on was asked for' },
  )
  const isFirst = again().map((url) => !url.includes('cursor='))
  expect(isFirst.sort()).toEqual([false, true])
  await close()
})

interface Redrawn {
  readonly stayed: number
  readonly changed: number
  readonly read: number
}

/** Scrolls one row further: how many of the remaining rows changed, and how many instants were formatted again. */
const scrollOneRow = (page: Page): Promise<Redrawn> =>
  page.evaluate(async () => {
    type Row = { isConnected: boolean }
    type Change = {
      target: { closest?(text: string): Row | null; parentElement: { closest(text: string): Row | null } }
    }
    const world = globalThis as unknown as {
      document: { querySelector(text: string): { scrollTop: number }; querySelectorAll(text: string): Iterable<Row> }
      requestAnimationFrame(act: () => void): void
      MutationObserver: new (hear: (changes: Change[]) => void) => { observe(box: unknown, what: object): void }
    }
    const before = [...world.document.querySelectorAll('.task-place')]
    const box = world.document.querySelector('.task-list')
    const changed = new Set<unknown>()
    const observer = new world.MutationObserver((changes) => {
      for (const { target } of changes)
        changed.add((target.closest === undefined ? target.parentElement : target).closest?.('.task-place'))
    })
    observer.observe(box, { subtree: true, childList: true, attributes: true, characterData: true })
    const parse = Date.parse
    let read = 0
    Date.parse = (text) => {
      read += 1
      return parse(text)
    }
    box.scrollTop += 72
    const isFresh = (): boolean =>
      [...world.document.querySelectorAll('.task-place')].some((row) => !before.includes(row))
    while (!isFresh()) await new Promise<void>((resolve) => world.requestAnimationFrame(resolve))
    await new Promise<void>((resolve) => world.requestAnimationFrame(resolve))
    Date.parse = parse
    const stayed = before.filter(({ isConnected }) => isConnected)
    return { stayed: stayed.length, changed: stayed.filter((row) => changed.has(row)).length, read }
  })

test('[C2] a row that stays visible is not redrawn while the list scrolls', async () => {
  const { page, close } = await browser.open()
  // Instants are refreshed now and then; here only a scroll redraws.
  await page.addInitScript('globalThis.setInterval = () => 0')
  await page.goto(`${server.url}/inbox?view=open`)
  const rows = page.getByRole('list', { name: 'Tasks', exact: true }).getByRole('listitem')
  await rows.first().waitFor()
  await page.locator('[data-live=true]').waitFor()
  const { stayed, changed, read } = await scrollOneRow(page)
  expect(stayed).toBeGreaterThan(8)
  expect(changed).toBe(0)
  // One or two rows were added, each with the time at which it was asked.
  expect(read).toBeLessThanOrEqual(4)
  await close()
})

/** How long the page's own thread has worked until now. */
const workedMs = async (devtools: CDPSession): Promise<number> => {
  const { metrics } = await devtools.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000
}

test('a run of five thousand steps is drawn within a second, and only its visible part is in the page', async () => {
  const { page, faults, close } = await browser.open()
  await page.goto(`${server.url}/runs`)
  await page.locator('[data-live=true]').waitFor()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const [before, begun] = [await workedMs(devtools), performance.now()]
  await page.evaluate(`history.pushState(null, '', '/runs/${long}')`)
  const lines = page.getByRole('treeitem')
  await page.locator(`[role=treeitem][aria-setsize="${STEPS}"]`).first().waitFor()
  const ms = (await workedMs(devtools)) - before
  const allMs = performance.now() - begun
  console.log(`${STEPS} steps were drawn in ${Math.round(allMs)} ms, ${Math.round(ms)} of them the page's own`)
  expect(ms).toBeLessThan(DRAWN_MS)
  expect(await lines.count()).toBeLessThanOrEqual(MOST_LINES)
  await lines.first().click()
  await page.keyboard.press('End')
  await page.locator(`[role=treeitem][aria-posinset="${STEPS}"]:focus`).waitFor()
  await page.keyboard.press('k')
  await page.locator(`[role=treeitem][aria-posinset="${STEPS - 1}"]:focus`).waitFor()
  expect(await lines.count()).toBeLessThanOrEqual(MOST_LINES)
  await page.getByRole('button', { name: 'Table', exact: true }).click()
  await page.getByRole('table', { name: 'Steps', exact: true }).waitFor()
  expect(await page.getByRole('table', { name: 'Steps', exact: true }).getByRole('row').count()).toBeLessThanOrEqual(
    MOST_LINES,
  )
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('the first load weighs at most 400 kB', async () => {
  const { page, close } = await browser.open()
  const bodies: Promise<Buffer>[] = []
  page.on('response', (response) => {
    if (/\/(assets\/.*|theme\.js|icon\.svg|inbox)$/.test(new URL(response.url()).pathname)) bodies.push(response.body())
  })
  await page.goto(`${server.url}/inbox`)
  await page.locator('[data-live=true]').waitFor()
  const loaded = await Promise.all(bodies)
  const sizes = loaded.map((body) => gzipSync(body).length)
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  console.log(`the first load is ${Math.round(bytes / 1000)} kB in ${sizes.length} files`)
  expect(sizes.length).toBeGreaterThan(2)
  expect(bytes).toBeLessThanOrEqual(FIRST_LOAD_BYTES)
  // Whatever the environment of the build, the libraries are the production builds.
  expect(loaded.filter((body) => body.includes('jsxDEV'))).toEqual([])
  await close()
})
