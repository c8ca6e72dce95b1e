/** What all screens share, in a real browser on the real server: keys, the palette, live updates, a server that restarts. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { PROJECT } from '#test/support/places.ts'
import {
  axeFindings,
  hasLoaded,
  openAt,
  press,
  startBrowser,
  type TestBrowser,
  type WatchedPage,
} from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'

let browser: TestBrowser
let folder: Folder
let server: Server
let port: number

const serve = (): Promise<Server> =>
  folder.serve(['dev', join(PROJECT, 'examples/hello')], { env: { PORT: String(port) } })

/** Starts a greeting and returns the id of its run. */
const greet = async (name: string): Promise<string> => {
  const { runs } = await folder.json(['send', 'greeting.requested', JSON.stringify({ name })])
  return runs[0]
}

beforeAll(async () => {
  folder = new Folder()
  port = await freePort()
  ;[browser, server] = await Promise.all([startBrowser(), serve()])
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const opened = (path: string): Promise<WatchedPage> => openAt(browser, `${server.url}${path}`)

const rowOf = ({ page }: WatchedPage, id: string) => page.locator(`a[href$="/runs/${id}"]`)

test('a second tab shows changes without a reload', async () => {
  const one = await opened('/runs')
  const two = await opened('/events')
  await hasLoaded(two.page)
  const before = await two.page.getByRole('button', { name: 'greeting.requested', exact: true }).count()
  const id = await greet('Grace')
  await two.page.getByRole('button', { name: 'greeting.requested', exact: true }).nth(before).waitFor()
  await rowOf(one, id).waitFor()
  await one.page.getByRole('link', { name: /waiting [1-9]/ }).waitFor()
  await one.close()
  await two.close()
})

test('an event that is sent from the page is on disk, and bad data is refused with a reason', async () => {
  await greet('Barbara')
  const { page, close } = await opened('/events')
  await page.getByRole('combobox', { name: 'Event type', exact: true }).fill('greeting.answered')
  await page.getByLabel('Data (JSON)', { exact: true }).fill('{"name": "Barbara", ')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('NOT_JSON', { exact: true }).waitFor()
  await page.getByLabel('Data (JSON)', { exact: true }).fill('{"name": "Barbara", "text": "Hi"}')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('Event sent', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'greeting.ended', exact: true }).waitFor()
  await close()
})

test('the palette opens with Ctrl K, finds a screen, a handler and a pasted id', async () => {
  const id = await greet('Sophie')
  const { page, faults, close } = await opened('/runs')
  const wanted = page.getByPlaceholder('Screen, handler or id', { exact: true })
  const choose = async (text: string, action: string): Promise<void> => {
    // Typed at once: the field is there before the next key.
    await press(page, 'ControlOrMeta+k')
    // Handlers are found once the server has sent them; each letter selects the first result.
    await page.keyboard.type(text.slice(0, -1))
    await page.locator('.mantine-Spotlight-action', { hasText: action }).waitFor()
    await page.keyboard.type(text.slice(-1))
    await page.locator('.mantine-Spotlight-action[data-selected]', { hasText: action }).waitFor()
    await press(page, 'Enter')
  }
  await choose('cost', 'Costs')
  await page.getByRole('heading', { level: 1, name: 'Costs', exact: true }).waitFor()
  await wanted.waitFor({ state: 'hidden' })
  await choose('count-l', 'count-letters')
  await page.waitForURL(/handler=count-letters/)
  await wanted.waitFor({ state: 'hidden' })
  await press(page, 'ControlOrMeta+k')
  await wanted.fill(id)
  await page.getByText('Open the run', { exact: true }).click()
  await page.waitForURL(`${server.url}/runs/${id}`)
  expect(faults).toEqual([])
  await close()
})

test('single letters can be switched off, and stay off', async () => {
  const { page, close } = await opened('/settings')
  await page.getByRole('switch', { name: /^Keyboard shortcuts/ }).click()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Settings', exact: true }).waitFor()
  await press(page, '?', 'ControlOrMeta+k')
  await page.getByPlaceholder('Screen, handler or id', { exact: true }).waitFor()
  expect(await page.getByRole('dialog', { name: 'Shortcuts', exact: true }).count()).toBe(0)
  await close()
})

test('keys move between screens and over the rows', async () => {
  await greet('Edith')
  const { page, faults, close } = await opened('/runs')
  await press(page, 'g', 'e')
  await page.getByRole('heading', { level: 1, name: 'Events', exact: true }).waitFor()
  await press(page, 'g', 'r')
  await page.getByRole('link', { name: /^run_/ }).first().waitFor()
  await press(page, 'j')
  await page.locator('[data-row]:focus').waitFor()
  await press(page, 'Enter')
  await page.waitForURL(/\/runs\/run_/)
  await press(page, '?')
  await page.getByRole('dialog', { name: 'Shortcuts', exact: true }).waitFor()
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
    await press(page, 'g', key)
    await page.getByRole('heading', { level: 1, name }).waitFor()
  }
  expect(faults).toEqual([])
  await close()
})

test('/ focuses the filter; c copies the id of what is shown; Shift C cancels a run, t retries it', async () => {
  const id = await greet('Hedy')
  const watched = await opened('/runs')
  const { page, faults, close } = watched
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await press(page, '/')
  await page.keyboard.type('greet')
  await press(page, 'Enter')
  await page.waitForURL(/handler=greet/)
  await rowOf(watched, id).click()
  await page.getByRole('heading', { level: 1, name: 'greet', exact: true }).waitFor()
  await press(page, 'c')
  await page.getByText('Copied', { exact: true }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(id)
  const verb = (name: string) => page.getByRole('button', { name, exact: true })
  await verb('Cancel').waitFor()
  await press(page, 'Shift+C')
  await page.getByRole('dialog', { name: 'Cancel greet?', exact: true }).waitFor()
  await press(page, 'ControlOrMeta+Enter')
  await verb('Retry').waitFor()
  await press(page, 't')
  await verb('Cancel').waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('a page stays open while the server is killed and restarted, and misses nothing', async () => {
  const watched = await opened('/runs')
  const { page, close } = watched
  await page.getByText('Live', { exact: true }).waitFor()
  await server.kill()
  await page.getByText('Reconnecting', { exact: true }).waitFor()
  server = await serve()
  const id = await greet('Edsger')
  await rowOf(watched, id).waitFor({ timeout: 40_000 })
  await page.getByText('Live', { exact: true }).waitFor()
  await close()
})
