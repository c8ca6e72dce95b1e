/** Health of a system with a deleted ledger, without workers, or with a full intake queue, through the API and over HTTP. */
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { InProcessDispatcher } from '#adapters/system/dispatcher.ts'
import { createTrihand, type Trihand, type TrihandOptions } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { createApp } from '#http/server/app.ts'
import type { Service } from '#http/server/service.ts'
import type { DispatcherFactory } from '#ports/dispatcher.ts'
import type { Reader } from '#ports/reader.ts'

let folder: string
let file: string
const opened: Trihand[] = []
let ending: AbortController

beforeEach(() => {
  ending = new AbortController()
  folder = mkdtempSync(join(tmpdir(), 'trihand-health-'))
  file = join(folder, 'ledger.db')
})

afterEach(async () => {
  ending.abort()
  for (const trihand of opened.splice(0)) await trihand.close().catch(() => {})
  rmSync(folder, { recursive: true, force: true })
})

const system = {
  name: 'health',
  events: { go: null, fill: null },
  functions: [fn('work', { trigger: 'go' }, ({ step }) => step.run('one', () => 1))],
}

const open = async (options: Partial<TrihandOptions> = {}, disturb = (service: Service): Service => service) => {
  const trihand = await createTrihand({ system, database: file, drain: 0, ...options })
  opened.push(trihand)
  const app = createApp(disturb(trihand), {
    version: 'test',
    pid: 1,
    report: () => {},
    configuration: [],
    ending: ending.signal,
    loopDelay: () => ({ p50Ms: 0, p99Ms: 0, maxMs: 0 }),
  })
  const ask = async (path: string, init?: RequestInit) => {
    const response = await app.request(`http://127.0.0.1${path}`, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text }
  }
  const post = (path: string, body: unknown) =>
    ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  return { trihand, ask, post, ready: () => ask('/health/ready') }
}

const refusals = async (trihand: Trihand): Promise<readonly string[]> => {
  const sent = await Promise.allSettled(Array.from({ length: 10 }, () => trihand.send({ type: 'go' })))
  return sent.map((one) => (one.status === 'fulfilled' ? 'acknowledged' : String(one.reason.code)))
}

test('[I5] presence-1: after the ledger file was deleted every send is refused and readiness fails (13.2.6)', async () => {
  const { trihand, ready, post } = await open()
  await trihand.send({ type: 'go' })
  expect((await ready()).status).toBe(200)
  for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name)
  expect(new Set(await refusals(trihand))).toEqual(new Set(['LEDGER_MISSING']))
  const refused = await post('/api/events', { type: 'go', data: {} })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  const { status, text } = await ready()
  expect([status, JSON.parse(text).checks.writes]).toEqual([503, 'LEDGER_MISSING'])
})

test('[I5] presence-1: a replaced file accepts nothing; with the original file back under its name the system recovers (13.2.6)', async () => {
  const { trihand, ready } = await open()
  await trihand.send({ type: 'go' })
  renameSync(file, `${file}.away`)
  copyFileSync(`${file}.away`, file)
  expect(new Set(await refusals(trihand))).toEqual(new Set(['LEDGER_MISSING']))
  expect((await ready()).status).toBe(503)
  renameSync(`${file}.away`, file)
  await vi.waitFor(async () => expect((await ready()).status).toBe(200), { timeout: 10_000 })
  await trihand.send({ type: 'go' })
})

test('[I5] a server whose workers are all gone is not ready, and says that it has none (13.2.6)', async () => {
  const { ready, ask } = await open({ work: false })
  const { status, text } = await ready()
  expect([status, JSON.parse(text).checks.workers]).toEqual([503, 'NO_WORKER'])
  const metrics = (await ask('/metrics')).text
  expect(metrics).toContain('trihand_workers{pool="default",state="working"} 0')
  for (const name of [
    'event_loop_delay_seconds',
    'process_resident_bytes',
    'slots_free',
    'oldest_due_seconds',
    'intake_waiting',
  ])
    expect(metrics).toMatch(new RegExp(`^trihand_${name}\\b.* \\d`, 'm'))
})

test('[I5] the metrics show event-loop delay, memory, processor time, capacity, the oldest due run and the next expiry of a token (13.2.6)', async () => {
  const { trihand, ask } = await open()
  const intent = { tenant: 'local', name: 'ana', kind: 'user', roles: ['viewer'], groups: [] }
  await trihand.tokens.create(intent, 'test', 3_600_000)
  const { text } = await ask('/metrics')
  const reading = (series: string): number => {
    const line = text.split('\n').find((one) => one.startsWith(`trihand_${series} `)) ?? `${series} is not there`
    return Number(line.split(' ').at(-1))
  }
  expect(reading('token_expiry_seconds')).toBeGreaterThan(3_500)
  expect(reading('token_expiry_seconds')).toBeLessThanOrEqual(3_600)
  expect(reading('slots_free{pool="default"}')).toBe(1_024)
  expect(reading('workers{pool="default",state="working"}')).toBe(1)
  for (const series of ['oldest_due_seconds', 'intake_waiting', 'intake_oldest_seconds'])
    expect([series, reading(series)]).toEqual([series, 0])
  for (const series of ['process_resident_bytes', 'process_heap_bytes', 'process_cpu_seconds{mode="user"}'])
    expect([series, reading(series) > 0]).toEqual([series, true])
  expect(text).toMatch(/^trihand_event_loop_delay_seconds\{quantile="0\.99"\} \d/m)
})

test('[I5] a process is not ready while its dispatcher is down, and ready again afterwards (13.2.6)', async () => {
  let trouble: string | null = null
  const dispatcher: DispatcherFactory = async (clock) => ({
    dispatcher: new InProcessDispatcher(clock),
    endpoint: null,
    check: async () => trouble,
  })
  const { ready } = await open({ dispatcher })
  const look = async () => {
    const { status, text } = await ready()
    return [status, JSON.parse(text).checks.dispatcher]
  }
  expect(await look()).toEqual([200, 'ok'])
  trouble = 'connection refused'
  expect(await look()).toEqual([503, 'DISPATCHER_DOWN'])
  trouble = null
  expect(await look()).toEqual([200, 'ok'])
})

test('[I5] a process is not ready while a run is due for half a minute and no handler makes progress (13.2.6)', async () => {
  let since: number | null = null
  const due = async () => (since === null ? [] : [{ handler: 'work', since }])
  const { ready, trihand } = await open({}, (service) => {
    const get = (reader: Reader, name: keyof Reader) => (name === 'due' ? due : reader[name].bind(reader))
    return {
      ...service,
      reader: new Proxy(service.reader, { get: (reader, name) => get(reader, name as keyof Reader) }),
    }
  })
  expect((await ready()).status).toBe(200)
  since = trihand.tasks.now - 31_000
  const { status, text } = await ready()
  expect([status, JSON.parse(text).reasons]).toEqual([
    503,
    ['a run of work has been due for 31 s while slots are free'],
  ])
  since = null
  expect((await ready()).status).toBe(200)
})

test('[M4] events beyond the intake queue are refused with OVERLOADED by the API, and accepted ones are in the ledger (13.2.5)', async () => {
  const { trihand } = await open({ intake: { queue: 10, wait: '1m' } })
  const outcomes = await Promise.allSettled(Array.from({ length: 1_000 }, () => trihand.send({ type: 'go' })))
  const codes = outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.code)] : []))
  expect(new Set(codes)).toEqual(new Set(['OVERLOADED']))
  // 256 are being written, 10 wait, and all others of the same turn are refused.
  expect(outcomes.length - codes.length).toBe(266)
  const query = { tenant: trihand.tenant, type: 'go', before: null, limit: 500 }
  expect(await trihand.reader.events(query)).toHaveLength(266)
  // The overload is over: the next event is accepted.
  await trihand.send({ type: 'go' })
})

/** Few enough that one page lists all accepted events. */
const ROUNDS = 19

test.each([
  ['the length of the queue', { queue: 10, wait: '1m' }],
  ['the age of the first that waits', { queue: 100_000, wait: '1ms' }],
])(
  '[M4] beyond %s an event over HTTP is refused with 429 and retry-after, and is not in the ledger (13.2.5)',
  async (_, intake) => {
    const { trihand, post } = await open({ intake })
    const answers: Awaited<ReturnType<typeof post>>[] = []
    const refusedOnes = () => answers.filter(({ status }) => status === 429)
    // A fast ledger may have served the callers before the requests arrive; then the test tries again.
    for (let round = 0; round < ROUNDS && refusedOnes().length === 0; round++) {
      const fillers = Array.from({ length: 2_000 }, () => trihand.send({ type: 'fill' }))
      const requests = Array.from({ length: 50 }, () => post('/api/events', { type: 'go', data: {} }))
      await Promise.allSettled(fillers)
      answers.push(...(await Promise.all(requests)))
    }
    const refused = refusedOnes()
    expect(refused.length).toBeGreaterThan(0)
    for (const { headers, text } of refused)
      expect([headers.get('retry-after'), JSON.parse(text).code]).toEqual(['1', 'OVERLOADED'])
    const taken = answers.filter(({ status }) => status === 202).length
    expect(taken + refused.length).toBe(answers.length)
    const query = { tenant: trihand.tenant, type: 'go', before: null, limit: 1_000 }
    expect(await trihand.reader.events(query)).toHaveLength(taken)
    expect((await post('/api/events', { type: 'go', data: {} })).status).toBe(202)
  },
)
