/** Many tabs of one browser, and the one stream that they share. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { createApp } from '#http/server/app.ts'
import { type Listening, listen } from '#http/server/server.ts'
import { readWebApp } from '#http/web-app.ts'
import { PROJECT } from '#test/support/places.ts'
import { startBrowser, type TestBrowser } from '#test/support/serving/browser.ts'

let browser: TestBrowser
let trihand: Trihand
let server: Listening
let streams = 0
const ending = new AbortController()

beforeAll(async () => {
  const system = { name: 'shop', events: { go: null }, functions: [fn('work', { trigger: 'go' }, () => 1)] }
  ;[browser, trihand] = await Promise.all([startBrowser(), createTrihand({ system, database: 'memory:', drain: 100 })])
  const app = createApp(trihand, {
    ...{ version: '0', pid: 1, report: () => {}, ending: ending.signal },
    webApp: readWebApp(join(PROJECT, 'dist/ui')),
  })
  server = await listen({
    fetch: (request) => {
      if (new URL(request.url).pathname === '/api/stream') streams += 1
      return app.fetch(request)
    },
    port: 0,
  })
})
afterAll(async () => {
  await browser.close()
  ending.abort()
  await server.stop()
  await trihand.close()
})

const opened = async (page: Page): Promise<Page> => {
  await page.goto(`${server.url}/events`)
  await page.getByRole('heading', { level: 1, name: 'Events', exact: true }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  return page
}

/** Waits until every tab shows all events. */
const allShow = async (tabs: readonly Page[], count: number): Promise<void> => {
  for (const tab of tabs)
    await tab
      .getByRole('button', { name: 'go', exact: true })
      .nth(count - 1)
      .waitFor()
}

test('eight tabs share one connection; when the tab that has it is closed, another takes it over, and nothing is missed', async () => {
  const { page, faults, tab, close } = await browser.open()
  const first = await opened(page)
  const others: Page[] = []
  for (let i = 0; i < 7; i++) others.push(await opened(await tab()))
  expect(streams).toBe(1)
  await trihand.send({ type: 'go', data: {} })
  await allShow([first, ...others], 1)
  await first.close()
  // There may be no listener at this moment.
  await trihand.send({ type: 'go', data: {} })
  await allShow(others, 2)
  await trihand.send({ type: 'go', data: {} })
  await allShow(others, 3)
  expect(streams).toBe(2)
  expect(faults).toEqual([])
  await close()
})
