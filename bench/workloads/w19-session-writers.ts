/**
 * W19: a thousand runs that write one session at once, compared with a thousand that write one session each. Shows how the time grows from
 * a tenth of them to all.
 */
import { createTrihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { SessionId } from '#model/kernel/ids.ts'
import { atMost, type Measurement, median } from '../report.ts'
import type { BenchLedger } from '../target.ts'

const WRITERS = 1_000
const TENTH = WRITERS / 10
/** Ten times as many take ten times as long; the rest is for garbage collection meanwhile. */
const GROWTH = 13
/** Their appends queue, forty at a time, and a checkpoint follows each group. */
const TIMES_ALONE = 4

const SYSTEM: SystemSource = {
  name: 'session-writers',
  functions: [
    fn<{ n: number }>('note', {}, ({ step, input }) =>
      step.run('note', ({ remember }) => remember(`k${input.n}`, input.n)),
    ),
  ],
}

/** Measures from the first start to the last end on a new ledger. */
const secondsOf = async (ledger: BenchLedger, writers: number, sessions: number): Promise<number> => {
  const place = ledger.fresh()
  const { database, schema } = place
  const app = await createTrihand({ system: SYSTEM, database, ...(schema !== null && { schema }) })
  const ids: SessionId[] = await Promise.all(Array.from({ length: sessions }, () => app.sessions.create()))
  const since = performance.now()
  await Promise.all(
    Array.from({ length: writers }, async (_, n) => {
      const run = await app.start('note', { n }, { session: ids[n % sessions] as SessionId })
      await app.result(run, { wait: '5m' })
    }),
  )
  const seconds = (performance.now() - since) / 1_000
  await app.close()
  await place.remove()
  return seconds
}

export const writersOfOneSession = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  // The first measurement of a process includes compilation.
  await secondsOf(ledger, TENTH, TENTH)
  const apart = await secondsOf(ledger, WRITERS, WRITERS)
  const few = median([
    await secondsOf(ledger, TENTH, 1),
    await secondsOf(ledger, TENTH, 1),
    await secondsOf(ledger, TENTH, 1),
  ])
  const many = await secondsOf(ledger, WRITERS, 1)
  return [
    {
      metric: `${WRITERS} writers of one session ÷ of a session each`,
      value: many / apart,
      unit: '×',
      target: atMost(TIMES_ALONE),
    },
    { metric: `${WRITERS} writers of one session ÷ ${TENTH}`, value: many / few, unit: '×', target: atMost(GROWTH) },
    { metric: `${WRITERS} writers of one session`, value: many, unit: 's' },
  ]
}
