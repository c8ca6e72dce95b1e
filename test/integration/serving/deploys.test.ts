/** How people and monitors see a deploy that removes a handler, through the API and over HTTP. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { createApp } from '#http/server/app.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { until } from '#test/support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'trihand-deploys-'))
const opened: Trihand[] = []

afterEach(async () => {
  for (const trihand of opened.splice(0)) await trihand.close().catch(() => {})
  rmSync(folder, { recursive: true, force: true })
})

const open = async (...functions: NonNullable<SystemSource['functions']>) => {
  const events = { go: null, on: null }
  const system = { name: 'deploys', events, functions }
  const trihand = await createTrihand({ system, database: join(folder, 'ledger.db'), drain: 0 })
  opened.push(trihand)
  const about = { version: 'test', pid: 1, report: () => {}, configuration: [], ending: new AbortController().signal }
  const app = createApp(trihand, about)
  const ask = async (path: string): Promise<string> => (await app.request(`http://127.0.0.1${path}`)).text()
  return { trihand, ask }
}

const work = fn('work', { trigger: 'go' }, async ({ step }) => {
  await step.waitForEvent('news', { event: 'on' })
  return 'done'
})
const other = fn('other', { trigger: 'on' }, () => 'other')

test('[N5] a run whose handler was removed waits; runs why, health and metrics report NO_HANDLER; it continues once the handler is back (13.2.2)', async () => {
  const before = await open(work, other)
  const { runs } = await before.trihand.send({ type: 'go' })
  const run = String(runs[0])
  await until(
    () => before.ask(`/api/runs/${run}`),
    (text) => text.includes('"status":"waiting"'),
  )
  await before.trihand.close()

  const without = await open(other)
  await without.trihand.send({ type: 'on' })
  const why = await until(
    () => without.ask(`/api/runs/${run}/why`),
    (text) => text.includes('NO_HANDLER'),
  )
  expect(JSON.parse(why).text).toBe(
    'It waits for a worker that has the handler work: none of 1 running workers has it; start one whose system has it (NO_HANDLER); and for an event: on (step news).',
  )
  const health = JSON.parse(await without.ask('/health'))
  expect([health.status, health.checks.handlers, health.reasons.length]).toEqual(['ok', 'NO_HANDLER', 1])
  expect(await without.ask('/metrics')).toMatch(/^trihand_runs_no_handler 1$/m)
  expect(await without.ask(`/api/runs/${run}`)).toContain('"status":"waiting"')
  await without.trihand.close()

  const back = await open(work, other)
  await until(
    () => back.ask(`/api/runs/${run}`),
    (text) => text.includes('"status":"success"'),
  )
  expect(JSON.parse(await back.ask('/health')).checks.handlers).toBe('ok')
})
