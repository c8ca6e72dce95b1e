/** The web app in a real browser, on the real server: every screen, live without a reload, across a restart of the server. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { axeFindings, startBrowser, type TestBrowser, type WatchedPage } from '../support/browser.ts'
import { buildCommand, Folder, type Server } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'
import { PROJECT } from '../support/places.ts'

const HELLO = join(PROJECT, 'examples/hello')

let browser: TestBrowser
let folder: Folder
let server: Server
let port: number

const serve = (): Promise<Server> => folder.serve(['dev', HELLO], { env: { PORT: String(port) } })
const send = (type: string, data: unknown): Promise<unknown> => folder.json(['send', type, JSON.stringify(data)])

beforeAll(async () => {
  buildCommand()
  folder = new Folder()
  port = await freePort()
  ;[browser, server] = await Promise.all([startBrowser(), serve()])
  await send('greeting.requested', { name: 'Ada' })
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const opened = async (path: string, scheme: 'light' | 'dark' = 'light'): Promise<WatchedPage> => {
  const watched = await browser.open({ scheme })
  await watched.page.goto(`${server.url}${path}`)
  await watched.page.getByRole('heading', { level: 1 }).waitFor()
  return watched
}

describe.each(['light', 'dark'] as const)('in %s', (scheme) => {
  test.each([
    '/inbox?view=open',
    '/inbox?view=done',
    '/runs',
    '/runs?status=failed',
    '/events',
    '/events?type=nothing.like.it',
    '/chat',
    '/schedules',
    '/workers',
    '/graph?view=list',
    '/sessions',
    '/costs',
    '/settings',
    '/nowhere',
  ])('%s has no fault that axe or the browser finds', async (path) => {
    const { page, faults, close } = await opened(path, scheme)
    await page.locator('[aria-busy]').waitFor({ state: 'detached' })
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('[A3] the graph is drawn; a chosen node shows its line, and its neighbours by name', async () => {
    const { page, faults, close } = await opened('/graph', scheme)
    const greet = page.getByRole('group', { name: /^function greet/ })
    await greet.waitFor()
    expect(await axeFindings(page)).toEqual([])
    await greet.click()
    await page.waitForURL(/node=function/)
    const panel = page.getByRole('complementary', { name: 'greet' })
    await panel.getByRole('link', { name: 'greeting.requested' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('[A7] an opened event says what led to it and what it started, with a link', async () => {
    const { page, faults, close } = await opened('/events?type=greeting.requested', scheme)
    await page.getByRole('button', { name: 'greeting.requested' }).first().click()
    await page.getByText('Because of: somebody outside').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page
      .getByText(/^Started: greet/)
      .getByRole('link')
      .click()
    await page.waitForURL(/runs\/run_/)
    expect(faults).toEqual([])
    await close()
  })

  test('the palette and the sheet of keys have no fault that axe finds', async () => {
    const { page, faults, close } = await opened('/runs', scheme)
    await page.keyboard.press('ControlOrMeta+k')
    const wanted = page.getByPlaceholder('A screen, a handler, or paste an id')
    await wanted.waitFor()
    expect(await axeFindings(page)).toEqual([])
    await wanted.fill('cost')
    await page.locator('.mantine-Spotlight-action[data-selected]').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await wanted.fill('nothing has this name')
    await page.getByText('Nothing has this name').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await wanted.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Keys' }).click()
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    expect(await axeFindings(page, '[role=dialog]')).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

  test('a run is shown as bars and facts', async () => {
    const { page, faults, close } = await opened('/runs?handler=greet', scheme)
    await page.getByRole('link', { name: /^run_/ }).first().click()
    await page
      .getByRole('region', { name: 'Timeline' })
      .getByRole('button', { name: /^write: work, done/ })
      .waitFor()
    await page.getByText('waits for an event: greeting.answered').waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })
})

test('a worker without work has none of its slots taken, and says so', async () => {
  const { page, close } = await opened('/workers')
  await page.getByText(/^0 \/ \d+$/).waitFor()
  await close()
})

test('a second tab shows what happens without a reload', async () => {
  const one = await opened('/runs')
  const two = await opened('/events')
  await send('greeting.requested', { name: 'Grace' })
  await two.page.getByRole('button', { name: 'greeting.requested' }).nth(1).waitFor()
  await one.page.getByRole('link', { name: /waiting 2/ }).waitFor()
  await one.close()
  await two.close()
})

test('an event that is sent from the page is on disk, and bad data is refused with a reason', async () => {
  const { page, close } = await opened('/events')
  await page.getByLabel('Send an event').fill('greeting.answered')
  await page.getByLabel('Data (JSON)').fill('{"name": "Ada", ')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('NOT_JSON').waitFor()
  await page.getByLabel('Data (JSON)').fill('{"name": "Ada", "text": "Hi"}')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('The event is on disk').waitFor()
  await page.getByRole('button', { name: 'greeting.ended' }).waitFor()
  await close()
})

test('the palette opens with Ctrl K, finds a screen, a handler and a pasted id', async () => {
  const { page, faults, close } = await opened('/runs')
  const id = await page.getByRole('link', { name: /^run_/ }).first().getAttribute('href')
  await page.keyboard.press('ControlOrMeta+k')
  const wanted = page.getByPlaceholder('A screen, a handler, or paste an id')
  await wanted.fill('cost')
  expect(await axeFindings(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor()
  await wanted.waitFor({ state: 'hidden' })
  await page.keyboard.press('ControlOrMeta+k')
  await wanted.fill(id?.slice(id.lastIndexOf('/') + 1) ?? '')
  await page.getByText('Open the run').click()
  await page.waitForURL(/\/runs\/run_/)
  expect(faults).toEqual([])
  await close()
})

test('single letters can be switched off, and stay off', async () => {
  const { page, close } = await opened('/settings')
  await page.getByRole('switch', { name: 'Single letters are keys' }).click()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await page.keyboard.press('?')
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByPlaceholder('A screen, a handler, or paste an id').waitFor()
  expect(await page.getByRole('dialog', { name: 'Keys' }).count()).toBe(0)
  await close()
})

test('keys lead from screen to screen and over the rows', async () => {
  const { page, faults, close } = await opened('/runs')
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await page.getByRole('link', { name: /^run_/ }).first().waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/runs\/run_/)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  expect(faults).toEqual([])
  await close()
})

test('g and a letter lead to every screen of the rail', async () => {
  const { page, faults, close } = await opened('/settings')
  const screens = {
    i: 'Inbox',
    r: 'Runs',
    s: 'Sessions',
    g: 'Graph',
    c: 'Chat',
    h: 'Schedules',
    w: 'Workers',
    o: 'Costs',
    e: 'Events',
  }
  for (const [key, name] of Object.entries(screens)) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await page.getByRole('heading', { level: 1, name }).waitFor()
  }
  expect(faults).toEqual([])
  await close()
})

test('/ leads into the filter; c copies the id of what is shown; Shift C cancels a run, t begins it again', async () => {
  const { page, faults, close } = await opened('/runs')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.keyboard.press('/')
  await page.keyboard.type('greet')
  await page.keyboard.press('Enter')
  await page.waitForURL(/handler=greet/)
  await page.getByRole('link', { name: /^run_/ }).first().click()
  await page.getByRole('heading', { level: 1, name: 'greet' }).waitFor()
  await page.keyboard.press('c')
  await page.getByText('Copied').waitFor()
  const copied = await page.evaluate(() =>
    (
      globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }
    ).navigator.clipboard.readText(),
  )
  expect(page.url()).toContain(copied)
  const verb = (name: string) => page.getByRole('button', { name, exact: true })
  await verb('Cancel').waitFor()
  await page.keyboard.press('Shift+C')
  await verb('Retry').waitFor()
  await page.keyboard.press('t')
  await verb('Cancel').waitFor()
  expect(faults).toEqual([])
  await close()
})

test('a narrow page shows everything without being wider than it is', async () => {
  const { page, faults, close } = await opened('/inbox?view=open')
  await page.setViewportSize({ width: 390, height: 800 })
  for (const path of ['/inbox?view=open', '/runs', '/sessions', '/graph', '/chat', '/costs', '/events', '/settings']) {
    await page.goto(`${server.url}${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const width = await page.evaluate(
      () => (globalThis as unknown as { document: { body: { scrollWidth: number } } }).document.body.scrollWidth,
    )
    expect([path, width]).toEqual([path, 390])
    await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
    expect([path, ...(await axeFindings(page))]).toEqual([path])
  }
  expect(faults).toEqual([])
  await close()
})

test('a page stays open while the server is killed and started again, and misses nothing', async () => {
  const { page, close } = await opened('/runs?handler=count-letters')
  const rows = page.getByRole('link', { name: /^run_/ })
  const before = await rows.count()
  await server.kill()
  await page.getByText('reconnecting').waitFor()
  server = await serve()
  await send('greeting.requested', { name: 'Edsger' })
  await rows.nth(before).waitFor({ timeout: 40_000 })
  await page.getByText('live', { exact: true }).waitFor()
  await close()
})
