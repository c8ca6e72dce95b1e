/** W6: forks a session with many steps and 1 MB of state. Measures the fork, its next step, and the bytes it adds. */
import type { Trihand } from '#compose/assemble.ts'
import type { SessionId } from '#model/kernel/ids.ts'
import { atMost, type Measurement, median } from '../report.ts'
import { type BenchLedger, open, type Place } from '../target.ts'

const SIZES = { small: 100, large: 10_000, usual: 1_000 } as const
/** Many forks, so that whole pages do not hide what one fork adds. */
const FORKS = 100
const MEGABYTE = 'm'.repeat(1_000_000)

const build = async (app: Trihand, steps: number): Promise<SessionId> => {
  const session = await app.sessions.create()
  await app.sessions.remember(session, 'large', MEGABYTE)
  await app.call('remember', { from: 0, to: steps }, { session, wait: '300s' })
  await app.sessions.checkpoint(session)
  return session
}

interface Figures {
  readonly forkMs: number
  readonly stepMs: number
  readonly bytes: number
}

const measure = async (app: Trihand, place: Place, session: SessionId): Promise<Figures> => {
  const before = await place.size()
  const forkTimes: number[] = []
  const stepTimes: number[] = []
  const forks: SessionId[] = []
  for (let i = 0; i < FORKS; i++) {
    const from = performance.now()
    forks.push(await app.sessions.fork(session))
    forkTimes.push(performance.now() - from)
  }
  const bytes = ((await place.size()) - before) / FORKS
  for (const fork of forks) {
    const from = performance.now()
    await app.call('look', {}, { session: fork })
    stepTimes.push(performance.now() - from)
  }
  return { forkMs: median(forkTimes), stepMs: median(stepTimes), bytes }
}

export const sessionFork = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const place = ledger.fresh()
  const app = await open(place)
  const figures: Record<string, Figures> = {}
  for (const [name, steps] of Object.entries(SIZES)) figures[name] = await measure(app, place, await build(app, steps))
  await app.close()
  await place.remove()
  const { small, usual, large } = figures as Record<keyof typeof SIZES, Figures>
  return [
    { metric: `fork of ${SIZES.usual} steps and 1 MB`, value: usual.forkMs, unit: 'ms', target: atMost(2) },
    { metric: 'next step in the fork', value: usual.stepMs, unit: 'ms', target: atMost(10) },
    { metric: 'new bytes per fork', value: usual.bytes, unit: 'B', target: atMost(1_024) },
    { metric: `fork at ${SIZES.large} steps ÷ at ${SIZES.small}`, value: large.forkMs / small.forkMs, unit: '×' },
    { metric: `next step at ${SIZES.large} steps ÷ at ${SIZES.small}`, value: large.stepMs / small.stepMs, unit: '×' },
  ]
}
