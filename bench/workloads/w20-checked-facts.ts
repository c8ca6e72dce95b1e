/**
 * W20: the cost of checking facts against their hashes when they are loaded (issue 13, 3.1): W1, and the resume time of W5, with and
 * without the check. Only the ledger given to the engine differs.
 */
import { atMost, type Measurement, median } from '../report.ts'
import { type BenchLedger, startChild } from '../target.ts'

const STEPS = 2_000
/** The two alternate, so that both meet the same state of the machine; the fastest round of each counts. */
const ROUNDS = 9
const MOST = 1.03
const SAME_RUN = { BENCH_HANG: '1' }

interface Taken {
  readonly stepMs: number
  readonly resumedMs: number
}

/** Each measurement has its own ledger, because a run whose worker dies again and again is quarantined. */
const takeUp = async (ledger: BenchLedger, how: 'checked' | 'plain'): Promise<Taken> => {
  const place = ledger.fresh()
  const first = startChild('long', place, [String(STEPS)], SAME_RUN)
  await first.line('last')
  await first.kill()
  const child = startChild('checked', place, [how], SAME_RUN)
  const { at } = await child.line('last')
  child.process.stdin?.write('go\n')
  const { text } = await child.line('steps')
  await child.kill()
  await place.remove()
  const times = JSON.parse(text.slice('steps '.length)) as number[]
  // The first interval includes the start of the run.
  return { stepMs: median(times.slice(1)), resumedMs: at - child.startedAt }
}

const least = (all: readonly Taken[], of: keyof Taken): number => Math.min(...all.map((taken) => taken[of]))

export const checkedFacts = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  // On Postgres each process would wait for the lease of the killed one before it.
  if (ledger.kind !== 'sqlite') return []
  const [checked, plain]: [Taken[], Taken[]] = [[], []]
  for (let i = 0; i < ROUNDS; i++) {
    checked.push(await takeUp(ledger, 'checked'))
    plain.push(await takeUp(ledger, 'plain'))
  }
  const ratio = (of: keyof Taken): number => least(checked, of) / least(plain, of)
  const row = (what: string, of: keyof Taken): Measurement => ({
    metric: `${what} with facts checked ÷ without`,
    value: ratio(of),
    unit: '×',
    target: atMost(MOST),
  })
  return [row('ms per step', 'stepMs'), row(`process start to resumed of ${STEPS} steps`, 'resumedMs')]
}
