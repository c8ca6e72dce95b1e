/** Pausing and stopping work in the web app: one worker paused, everything stopped by a typed word, the banner on every screen. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  axeFindings,
  axeFindingsInLight,
  openAt,
  startBrowser,
  type TestBrowser,
} from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'

const SYSTEM = `import { defineSystem, fn } from 'trihand'
export const system = defineSystem({
  name: 'bank',
  events: { 'order.placed': null },
  pools: [{ name: 'mail', labels: { region: 'eu' }, min: 2 }],
  functions: [
    fn('pay', { trigger: 'order.placed', retry: { maxAttempts: 1 }, circuit: { key: 'bank', window: 2, minCalls: 2, openFor: '10m' } }, ({ step }) =>
      step.run('charge', () => { throw new Error('no answer') }, { retry: { maxAttempts: 1 } })),
  ],
})
`
const NARROW = { width: 390, height: 800 }

let browser: TestBrowser
let folder: Folder
let server: Server
beforeAll(async () => {
  folder = new Folder({ 'system.ts': SYSTEM })
  ;[browser, server] = await Promise.all([startBrowser(), folder.serve(['dev'], { env: { PORT: '0' } })])
  for (let i = 0; i < 2; i++) await folder.run(['send', 'order.placed', '--wait', '20s'])
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

test('[I6] a worker is paused and resumed; waiting runs are shown before its pool (13.0)', async () => {
  const { page, faults, close } = await openAt(browser, `${server.url}/workers`)
  await page.getByRole('button', { name: /^Pause / }).click()
  await page.getByRole('button', { name: /^Resume / }).waitFor()
  await page.getByRole('table', { name: 'Workers', exact: true }).getByText('paused', { exact: true }).waitFor()
  await folder.json(['send', 'order.placed'])
  await page.getByRole('row', { name: /^no pool +0 of 1 0 \/ 0 1/ }).waitFor()
  await page.getByRole('row', { name: /^mail region=eu 0 +\(minimum 2\) 0 \/ 0 0/ }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('button', { name: /^Drain / }).click()
  await page.getByRole('dialog', { name: /^Drain / }).waitFor()
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  // A server that is not ready says so on every screen, and that request is not an error of the page.
  const other = await openAt(browser, `${server.url}/settings`)
  await other.page.getByRole('link', { name: 'Server not ready', exact: true }).waitFor()
  const ready = other.page
    .getByRole('table', { name: 'This server', exact: true })
    .getByRole('row', { name: /^Ready / })
  await ready.getByText(/none of 1 workers takes runs: they are paused or stopping/).waitFor()
  expect(await axeFindings(other.page)).toEqual([])
  await page.getByRole('button', { name: /^Resume / }).click()
  await page.getByRole('button', { name: /^Pause / }).waitFor()
  expect([...faults, ...other.faults]).toEqual([])
  await Promise.all([close(), other.close()])
})

test('[I7] an open breaker shows until when, and can be closed', async () => {
  const { page, faults, close } = await openAt(browser, `${server.url}/workers`)
  const bank = page.getByRole('row', { name: /^bank / })
  await bank.getByText('open', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await bank.getByRole('button', { name: 'Reset bank', exact: true }).click()
  await bank.getByText('closed', { exact: true }).waitFor()
  expect(faults).toEqual([])
  await close()
})

test('[I6] everything is stopped by a typed word, every screen shows it, and any of them can lift it', async () => {
  const { page, faults, close } = await openAt(browser, `${server.url}/workers`)
  const other = await openAt(browser, `${server.url}/runs`)
  await page.getByRole('button', { name: 'Stop all workers', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Stop all workers', exact: true })
  const act = dialog.getByRole('button', { name: 'Stop all workers', exact: true })
  expect(await act.isDisabled()).toBe(true)
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await dialog.getByLabel('Reason').fill('the bank called')
  await dialog.getByLabel('Type stop to confirm').fill('stop')
  await act.click()
  for (const one of [page, other.page]) {
    const banner = one.getByRole('region', { name: 'All workers are stopped', exact: true })
    await banner.getByText(/the bank called/).waitFor()
  }
  await page.getByRole('table', { name: 'Workers', exact: true }).getByText('stopped', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(await axeFindings(other.page)).toEqual([])
  await page.setViewportSize(NARROW)
  expect(await axeFindingsInLight(page)).toEqual([])
  expect(await page.evaluate('document.body.scrollWidth')).toBe(NARROW.width)
  await other.page.getByRole('button', { name: 'Resume all workers', exact: true }).click()
  for (const one of [page, other.page])
    await one.getByRole('region', { name: 'All workers are stopped', exact: true }).waitFor({ state: 'detached' })
  expect([...faults, ...other.faults]).toEqual([])
  await Promise.all([close(), other.close()])
})
