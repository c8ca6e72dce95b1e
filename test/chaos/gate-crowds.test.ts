/**
 * Many concurrent callers of one gate, and many chats at once, through the interface for programs. The sizes are small here; the bench
 * (W17, W18) measures ten thousand, and `npm run test:chaos` runs them.
 */
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createTrihand, type Trihand, type TrihandOptions } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { agent } from '#manifest/define/agents.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { decider } from '#test/support/agents/chat.ts'
import { fastFolder } from '#test/support/places.ts'
import { type FreshSchema, SchemaShelf } from '#test/support/stores/postgres-schema.ts'
import { until } from '#test/support/until.ts'
import { sized } from './whole.ts'

const cluster = process.env['TRIHAND_TEST_PG_URL'] ?? ''
const shelf = new SchemaShelf(cluster)

const SYSTEM: SystemSource = {
  name: 'crowds',
  agents: [agent('helper', { instructions: 'Help people.' })],
  functions: [
    fn('throttled', { throttle: { limit: 10_000, period: '1m' } }, ({ input }) => input),
    fn('keyed', { idempotency: { key: 'payload.id' } }, ({ input }) => input),
    fn('few', { rateLimit: { limit: 10, period: '1h' } }, ({ input }) => input),
  ],
  chats: [{ name: 'help', agent: 'helper', executors: [] }],
}

interface Place {
  readonly options: Pick<TrihandOptions, 'database' | 'schema'>
  remove(): Promise<void>
}

const memory = async (): Promise<Place> => ({ options: { database: 'memory:' }, remove: async () => {} })

const sqlite = async (): Promise<Place> => {
  const folder = fastFolder('crowds')
  return { options: { database: join(folder.path, 'ledger.db') }, remove: async () => folder.remove() }
}

const postgres = async (): Promise<Place> => {
  const { url, schema, ...rest }: FreshSchema = await shelf.take()
  return { options: { database: url, schema }, remove: () => shelf.giveBack({ url, schema, ...rest }) }
}

const counted = (outcomes: readonly PromiseSettledResult<unknown>[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) {
    const what = outcome.status === 'fulfilled' ? 'answered' : String((outcome.reason as { code?: string }).code)
    counts[what] = (counts[what] ?? 0) + 1
  }
  return counts
}

const all = (count: number, ask: (i: number) => Promise<unknown>) =>
  Promise.allSettled(Array.from({ length: count }, (_, i) => ask(i)))

const CROWD = sized({ part: 120, whole: 10_000 })

const crowds = (take: () => Promise<Place>): void => {
  let opened: Trihand[] = []
  let place: Place | null = null

  const open = async (options: Partial<TrihandOptions> = {}): Promise<Trihand> => {
    place ??= await take()
    const app = await createTrihand({ system: SYSTEM, ...place.options, agents: { models: decider() }, ...options })
    opened.push(app)
    return app
  }
  afterEach(async () => {
    for (const app of opened) await app.close()
    opened = []
    await place?.remove()
    place = null
  })

  test('[H4] coordinator-commands-1: of many concurrent callers behind a throttle none is refused (14.2)', async () => {
    const app = await open()
    for (const count of [30, CROWD]) {
      const outcomes = await all(count, (i) => app.start('throttled', { n: i }))
      expect(counted(outcomes)).toEqual({ answered: count })
      expect(new Set(outcomes.map((one) => (one as PromiseFulfilledResult<unknown>).value)).size).toBe(count)
    }
  })

  test('[L10] coordinator-commands-1: of many concurrent callers behind idempotency none is refused, and equal keys get one run (14.2)', async () => {
    const app = await open()
    const outcomes = await all(CROWD, (i) => app.start('keyed', { id: i % (CROWD / 2) }))
    expect(counted(outcomes)).toEqual({ answered: CROWD })
    const runs = outcomes.map((one) => (one as PromiseFulfilledResult<string>).value)
    expect(new Set(runs).size).toBe(CROWD / 2)
    for (let i = 0; i < CROWD / 2; i++) expect(runs[i + CROWD / 2]).toBe(runs[i])
  })

  test('[H6] a caller among many is refused only by the declared limit (14.2)', async () => {
    const app = await open()
    const outcomes = await all(CROWD, (i) => app.start('few', { n: i }))
    expect(counted(outcomes)).toEqual({ answered: 10, RATE_LIMITED: CROWD - 10 })
  })

  test('[L10] many callers that wait for their results all get them (14.2)', async () => {
    const app = await open()
    const outcomes = await all(30, (i) => app.call('keyed', { id: `called ${i}` }))
    expect(counted(outcomes)).toEqual({ answered: 30 })
    expect(outcomes.map((one) => (one as PromiseFulfilledResult<{ output: unknown }>).value.output)).toEqual(
      Array.from({ length: 30 }, (_, i) => ({ id: `called ${i}` })),
    )
  })

  test('[E10] of many concurrent messages in many chats none is refused (14.2)', async () => {
    const app = await open()
    const count = sized({ part: 60, whole: 10_000 })
    const outcomes = await all(count, (i) => app.chats.send({ chat: `c${i}`, id: 'm1', text: `hello ${i}` }))
    expect(counted(outcomes)).toEqual({ answered: count })
    const last = (outcomes.at(-1) as PromiseFulfilledResult<Awaited<ReturnType<typeof app.chats.send>>>).value
    await until(
      () => app.chats.view(last),
      ({ status }) => status === 'done',
      // Its turn comes after those of all the others.
      { what: 'the last message is answered', timeoutMs: sized({ part: 10_000, whole: 600_000 }) },
    )
  })
}

/** Two processes, as far as the ledger can tell: each has its own queues, and one of them holds the gate. */
const crowdsOfTwo = (take: () => Promise<Place>): void => {
  test('[H4] of many concurrent callers in two processes on one ledger none is refused, and both read the gate (14.2)', async () => {
    const place = await take()
    const apps = [
      await createTrihand({ system: SYSTEM, ...place.options }),
      await createTrihand({ system: SYSTEM, ...place.options, work: false }),
    ]
    const count = sized({ part: 60, whole: 5_000 })
    const outcomes = await Promise.all(
      apps.map((app) => all(count, (i) => app.start('keyed', { id: i % (count / 2) }))),
    )
    expect(outcomes.map(counted)).toEqual([{ answered: count }, { answered: count }])
    const runs = outcomes.flat().map((one) => (one as PromiseFulfilledResult<string>).value)
    expect(new Set(runs).size).toBe(count / 2)
    for (const app of apps) await app.close()
    await place.remove()
  })
}

describe('crowds on memory', () => crowds(memory))
describe('crowds on sqlite', () => crowds(sqlite))
describe.skipIf(cluster === '')('crowds on postgres', () => {
  afterAll(() => shelf.dropAll())
  crowds(postgres)
  crowdsOfTwo(postgres)
})
