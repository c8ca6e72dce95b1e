/** Every screen of the web app in a real browser, on the real server: its content, wide and narrow, in light and in dark. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import {
  axeFindings,
  axeFindingsInLight,
  hasLoaded,
  openAt,
  press,
  startBrowser,
  type TestBrowser,
  visit,
  type WatchedPage,
} from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'

const WIDE = { width: 1280, height: 800 }
const NARROW = { width: 390, height: 800 }

let browser: TestBrowser
let folder: Folder
let server: Server
let run: string
/** Visits one screen after the other, and changes nothing. */
let visitor: WatchedPage

beforeAll(async () => {
  folder = new Folder()
  const serving = folder.serve(['dev', join(PROJECT, 'examples/hello')], { env: { PORT: '0' } })
  ;[browser, server] = await Promise.all([startBrowser(), serving])
  const { runs } = await folder.json(['send', 'greeting.requested', '{"name":"Ada"}'])
  run = runs[0]
  visitor = await browser.open()
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const opened = (path: string): Promise<WatchedPage> => openAt(browser, `${server.url}${path}`)

const WIDTH_OF_ALL = 'document.body.scrollWidth'

const expectFaultless = async (path: string): Promise<void> => {
  const { page, faults } = visitor
  const before = faults.length
  await page.setViewportSize(WIDE)
  await visit(page, `${server.url}${path}`)
  await hasLoaded(page)
  expect(await axeFindings(page)).toEqual([])
  await page.setViewportSize(NARROW)
  expect(await axeFindingsInLight(page)).toEqual([])
  expect(await page.evaluate(WIDTH_OF_ALL)).toBe(NARROW.width)
  expect(faults.slice(before)).toEqual([])
}

test.each([
  '/inbox?view=open',
  '/inbox?view=done',
  '/inbox?view=overdue',
  '/runs',
  '/runs?status=failed',
  '/events',
  '/events?type=nothing.like.it',
  '/events?view=delayed',
  '/events?view=dead',
  '/chat',
  '/schedules',
  '/workers',
  '/graph?view=list',
  '/sessions',
  '/costs',
  '/settings',
  '/nowhere',
])('%s has no fault that axe or the browser finds, and fits into a narrow page', expectFaultless)

test('the page of a plan has no such fault', async () => {
  const { id } = await folder.json(['plan', 'a. Greet'])
  await expectFaultless(`/plans/${id}`)
})

test('[A3] the graph is drawn; a selected node shows its line, and its neighbours by name', async () => {
  const { page, faults, close } = await opened('/graph')
  const greet = page.getByRole('group', { name: /^function greet/ })
  await greet.waitFor()
  expect(await axeFindings(page)).toEqual([])
  await greet.click()
  await page.waitForURL(/node=function/)
  const panel = page.getByRole('complementary', { name: 'greet', exact: true })
  await panel.getByRole('link', { name: 'greeting.requested', exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.setViewportSize(NARROW)
  expect(await axeFindingsInLight(page)).toEqual([])
  expect(await page.evaluate(WIDTH_OF_ALL)).toBe(NARROW.width)
  expect(faults).toEqual([])
  await close()
})

test('[A7] an opened event shows what caused it and what it started, with a link', async () => {
  const { page, faults, close } = await opened('/events?type=greeting.requested')
  await page.getByRole('button', { name: 'greeting.requested', exact: true }).click()
  const tree = page.getByRole('region', { name: 'Causes and effects', exact: true })
  await tree.getByText('Sent from outside.', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await tree.getByText('greet', { exact: true }).waitFor()
  await tree.getByRole('link').click()
  await page.waitForURL(`${server.url}/runs/${run}`)
  expect(faults).toEqual([])
  await close()
})

test('axe finds no fault in the palette and the list of shortcuts', async () => {
  const { page, faults, close } = await opened('/runs')
  await press(page, 'ControlOrMeta+k')
  const wanted = page.getByPlaceholder('Screen, handler or id', { exact: true })
  await wanted.waitFor()
  expect(await axeFindings(page)).toEqual([])
  await wanted.fill('cost')
  await page.locator('.mantine-Spotlight-action[data-selected]').waitFor()
  expect(await axeFindings(page)).toEqual([])
  await wanted.fill('nothing has this name')
  await page.getByText('No results', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await press(page, 'Escape')
  await wanted.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Shortcuts', exact: true }).click()
  await page.getByRole('dialog', { name: 'Shortcuts', exact: true }).waitFor()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  expect(faults).toEqual([])
  await close()
})

test('a run is rerun from a step: what is kept is shown, another input is accepted, and the new run opens', async () => {
  const { page, faults, close } = await opened(`/runs/${run}`)
  await page.getByText(/^Why is it waiting\? It waits for an event: greeting.answered/).waitFor()
  await page.getByRole('treeitem', { name: /^count: / }).click()
  await page.getByRole('button', { name: 'Rerun from here', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Rerun', exact: true })
  await dialog.getByText('Kept (3)', { exact: true }).waitFor()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await dialog.getByLabel('From').selectOption('print')
  await dialog.getByText('Kept (2)', { exact: true }).waitFor()
  const input = dialog.getByLabel('New input')
  await input.fill('{ "name": ')
  expect(await dialog.getByRole('button', { name: 'Rerun', exact: true }).isDisabled()).toBe(true)
  await input.fill('{ "name": "Bob" }')
  await page.setViewportSize(NARROW)
  expect(await axeFindingsInLight(page, '[role=dialog]')).toEqual([])
  await page.setViewportSize(WIDE)
  await dialog.getByRole('button', { name: 'Rerun', exact: true }).click()
  await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(run))
  await page
    .getByText(/with name = "Bob"/)
    .first()
    .waitFor()
  await page.getByRole('treeitem', { name: /^write: .*done/ }).waitFor()
  expect(faults).toEqual([])
  await close()
})

test('a worker without work shows that none of its slots is taken', async () => {
  const { page, close } = await opened('/workers')
  await page
    .getByRole('table', { name: 'Workers', exact: true })
    .getByText(/^0 \/ \d+$/)
    .waitFor()
  await close()
})
