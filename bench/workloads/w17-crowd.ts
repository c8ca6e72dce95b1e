/**
 * W17: ten thousand concurrent callers behind flow control, compared with as many calls of a function without it. W18: ten thousand
 * messages to as many chats at once, compared with as many calls. Both show how the time grows from a tenth of them to all.
 */
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { agent } from '#manifest/define/agents.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { atMost, type Measurement } from '../report.ts'
import type { BenchLedger } from '../target.ts'

const CALLERS = 10_000
const TENTH = CALLERS / 10
/** Ten times as many take ten times as long; the rest is for garbage collection meanwhile. */
const GROWTH = 13
/** The allowed factor: for each caller the gate records, reads and decides. */
const TIMES_GATED = 4
/** The allowed factor: a message creates a session, passes a gate with two keys, and makes four store queries, each batched with those of other messages. */
const TIMES_CHAT = 8

const SYSTEM: SystemSource = {
  name: 'crowd',
  agents: [agent('helper', { instructions: 'Help people.' })],
  functions: [
    fn('plain', {}, ({ input }) => input),
    fn('throttled', { throttle: { limit: 10_000, period: '1s' } }, ({ input }) => input),
    fn('keyed', { idempotency: { key: 'payload.n' } }, ({ input }) => input),
  ],
  chats: [{ name: 'help', agent: 'helper', executors: [] }],
}

type Ask = (app: Trihand, n: number) => Promise<unknown>

/** Measures from the first call to the last answer on a new ledger. `works`: whether the process also performs the runs. */
const secondsOf = async (ledger: BenchLedger, count: number, ask: Ask, works: boolean): Promise<number> => {
  const place = ledger.fresh()
  const { database, schema } = place
  const app = await createTrihand({ system: SYSTEM, database, ...(schema !== null && { schema }), work: works })
  const since = performance.now()
  await Promise.all(Array.from({ length: count }, (_, n) => ask(app, n)))
  const seconds = (performance.now() - since) / 1_000
  await app.close()
  await place.remove()
  return seconds
}

const start =
  (name: string): Ask =>
  (app, n) =>
    app.start(name, { n })

const say: Ask = (app, n) => app.chats.send({ chat: `c${n}`, id: 'm1', text: 'Hello' })

export const callersAtOnce = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  // The first measurement of a process includes compilation.
  await secondsOf(ledger, TENTH, start('plain'), true)
  const plain = await secondsOf(ledger, CALLERS, start('plain'), true)
  const all: Measurement[] = []
  for (const [name, what] of [
    ['throttled', 'a throttle'],
    ['keyed', 'an idempotency key'],
  ] as const) {
    const few = await secondsOf(ledger, TENTH, start(name), true)
    const many = await secondsOf(ledger, CALLERS, start(name), true)
    all.push(
      {
        metric: `${CALLERS} callers at once behind ${what} ÷ without`,
        value: many / plain,
        unit: '×',
        target: atMost(TIMES_GATED),
      },
      { metric: `${CALLERS} callers behind ${what} ÷ ${TENTH}`, value: many / few, unit: '×', target: atMost(GROWTH) },
      { metric: `${CALLERS} callers at once behind ${what}`, value: many, unit: 's' },
    )
  }
  return all
}

export const messagesAtOnce = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  await secondsOf(ledger, TENTH, start('plain'), false)
  const plain = await secondsOf(ledger, CALLERS, start('plain'), false)
  const few = await secondsOf(ledger, TENTH, say, false)
  const many = await secondsOf(ledger, CALLERS, say, false)
  return [
    {
      metric: `${CALLERS} messages to as many chats at once ÷ calls without flow control`,
      value: many / plain,
      unit: '×',
      target: atMost(TIMES_CHAT),
    },
    { metric: `${CALLERS} messages to as many chats ÷ ${TENTH}`, value: many / few, unit: '×', target: atMost(GROWTH) },
    { metric: `${CALLERS} messages to as many chats at once`, value: many, unit: 's' },
  ]
}
