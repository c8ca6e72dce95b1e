/** The list of runs by keyboard: filters, saved filters, selected rows, bulk commands, a run started by hand. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  axeFindings,
  axeFindingsInLight,
  openAt,
  press,
  startBrowser,
  type TestBrowser,
} from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

const SYSTEM = `import { defineSystem, fn } from 'trihand'

const greeting = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) => ({ value: value as { readonly name: string } }),
    jsonSchema: {
      input: () => ({
        type: 'object',
        properties: { name: { type: 'string' }, times: { type: 'integer' }, tone: { enum: ['warm', 'cold'] } },
        required: ['name'],
      }),
    },
  },
} as const

export const system = defineSystem({
  name: 'many',
  functions: [
    fn('nap', {}, ({ step }) => step.sleep('nap', '1d')),
    fn('rest', {}, ({ step }) => step.sleep('nap', '1d')),
    fn('greet', { input: greeting }, ({ input }) => input),
  ],
})
`

let browser: TestBrowser
let folder: Folder
let server: Server

beforeAll(async () => {
  folder = new Folder({ 'system.ts': SYSTEM })
  ;[browser, server] = await Promise.all([startBrowser(), folder.serve(['dev'], { env: { PORT: '0' } })])
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const ask = async (path: string, body?: object) => {
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
  return (await fetch(`${server.url}${path}`, init)).json() as Promise<Record<string, unknown> & { items: unknown[] }>
}

const waitingOf = async (handler: string): Promise<number> =>
  (await ask(`/api/runs?handler=${handler}&status=waiting`)).items.length

const begun = async (handler: string, count: number): Promise<void> => {
  const before = await waitingOf(handler)
  for (let i = 0; i < count; i++) await ask('/api/runs', { name: handler })
  await until(
    () => waitingOf(handler),
    (found) => found === before + count,
    { what: `${count} more runs of ${handler} wait` },
  )
}

beforeEach(() => begun('nap', 3))

const opened = (path: string) => openAt(browser, `${server.url}${path}`)

test('[G12] rows are selected with j and x, and paused by a job whose progress bar is full at the end', async () => {
  const { page, faults, close } = await opened('/runs?handler=nap&status=waiting')
  await page.getByRole('table', { name: 'Runs', exact: true }).waitFor()
  for (const key of ['j', 'x', 'j', 'x']) await press(page, key)
  const chosen = page.getByRole('region', { name: 'Selected runs', exact: true })
  await chosen.getByText('2 selected', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await chosen.getByRole('button', { name: 'Pause', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Pause 2 runs', exact: true })
  await dialog.getByLabel('Reason').fill('prices changed')
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await press(page, 'ControlOrMeta+Enter')
  await page.getByText('2 done, 0 failed, 2 in all', { exact: true }).waitFor()
  await page.getByText('by local: prices changed', { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(await axeFindingsInLight(page)).toEqual([])
  await page.waitForURL(/job=run_/)
  expect((await ask('/api/runs?handler=nap&status=paused')).items).toHaveLength(2)
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByText('2 done, 0 failed, 2 in all', { exact: true }).waitFor({ state: 'detached' })
  expect(faults).toEqual([])
  await close()
})

test('shift selects everything up to the row', async () => {
  const { page, close } = await opened('/runs?handler=nap&status=waiting')
  const boxes = page.getByRole('checkbox', { name: /^Select run_/ })
  await boxes.first().click()
  await boxes.nth(2).click({ modifiers: ['Shift'] })
  await page.getByText('3 selected', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await page.getByRole('region', { name: 'Selected runs', exact: true }).waitFor({ state: 'detached' })
  await close()
})

test('[G12] a filter is typed as terms, is in the address, and all matching runs are cancelled', async () => {
  await begun('rest', 2)
  const { page, faults, close } = await opened('/runs')
  await press(page, '/')
  await page.locator('[data-filter]:focus').fill('state:waiting')
  await press(page, 'Enter')
  await page.getByText('Unknown filter state. Use status: handler: session:', { exact: true }).waitFor()
  await page.getByLabel('Filter', { exact: true }).fill('status:waiting handler:rest')
  await press(page, 'Enter')
  await page.waitForURL(/handler=rest/)
  await page.getByRole('button', { name: 'Select all matching', exact: true }).click()
  await page.getByRole('button', { name: 'Cancel all matching…', exact: true }).click()
  await page.getByRole('dialog', { name: 'Cancel all runs with status:waiting handler:rest', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Cancel all', exact: true }).click()
  await page.getByText('2 done, 0 failed, 2 in all', { exact: true }).waitFor()
  expect(await waitingOf('rest')).toBe(0)
  expect(await waitingOf('nap')).toBeGreaterThan(0)
  expect(faults).toEqual([])
  await close()
})

test('a filter is saved under a name, found again by its owner, and removed', async () => {
  const { page, faults, close } = await opened('/runs?status=waiting&handler=nap')
  await page.getByRole('button', { name: 'Saved filters', exact: true }).click()
  await page.getByRole('button', { name: 'Save this filter…', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Save this filter', exact: true })
  await dialog.getByLabel('Name').fill('Naps')
  await press(page, 'Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${server.url}/runs`)
  await page.getByRole('button', { name: 'Saved filters', exact: true }).click()
  await page.getByRole('button', { name: /^Naps/ }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole('button', { name: /^Naps/ }).click()
  await page.waitForURL(/status=waiting.*handler=nap|handler=nap.*status=waiting/)
  await page.getByRole('button', { name: 'Saved filters', exact: true }).click()
  await page.getByRole('button', { name: 'Remove “Naps”', exact: true }).click()
  await until(
    () => ask('/api/filters'),
    ({ items }) => items.length === 0,
    { what: 'the filter is gone' },
  )
  expect(faults).toEqual([])
  await close()
})

test('[L2] a run is started with a form made from its input schema', async () => {
  const { page, faults, close } = await opened('/runs')
  await page.getByRole('button', { name: 'Start a run', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Start a run', exact: true })
  await dialog.getByLabel('Handler').selectOption('greet')
  await dialog.getByLabel('name').fill('Ada')
  await dialog.getByLabel('times', { exact: true }).fill('many')
  await dialog.getByLabel('tone').selectOption('warm')
  expect(await axeFindings(page, '[role=dialog]')).toEqual([])
  await dialog.getByRole('button', { name: 'Start', exact: true }).click()
  await dialog.getByText('times is not a number', { exact: true }).waitFor()
  await dialog.getByLabel('times', { exact: true }).fill('2')
  await dialog.getByRole('button', { name: 'Start', exact: true }).click()
  await page.waitForURL(/\/runs\/run_/)
  const { items } = await ask('/api/runs?handler=greet')
  const [{ id }] = items as [{ id: string }]
  const run = await until(
    () => ask(`/api/runs/${id}`),
    ({ status }) => status === 'success',
    { what: 'it has ended' },
  )
  expect(run['output']).toEqual({ name: 'Ada', times: 2, tone: 'warm' })
  expect(faults).toEqual([])
  await close()
})
