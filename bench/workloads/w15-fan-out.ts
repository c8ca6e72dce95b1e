/** W15: a run that starts very many children at once and gathers their results. Measures whether a child costs more among many. */
import type { Trihand } from '#compose/assemble.ts'
import { atMost, type Measurement, median } from '../report.ts'
import { type BenchLedger, open } from '../target.ts'

const FEW = 1_000
const MANY = 10_000
/** Both numbers exceed a worker's slots, so that children are claimed; a few children would be created with a lease. */
const TWICE = 20_000
const TIMES_FEW = 5
/** Linear growth, with room for noise: twice as much per child would be a cost that grows with their number. */
const TIMES = 1.5

const perChild = async (app: Trihand, children: number): Promise<number> => {
  const since = performance.now()
  const result = await app.result(await app.start('fan-out', { children }), { wait: '2m' })
  if (result.output !== children) throw new Error(`gathered ${JSON.stringify(result.output)} of ${children} children`)
  return (performance.now() - since) / children
}

export const fanOut = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const place = ledger.fresh()
  const app = await open(place)
  // Warms up the compiler.
  for (let i = 0; i < 3; i++) await perChild(app, FEW)
  // The small case is measured before and after the large one, because a machine or a log may be faster a moment later.
  const few: number[] = []
  const measureFew = async (): Promise<void> => {
    for (let i = 0; i < TIMES_FEW; i++) few.push(await perChild(app, FEW))
  }
  await measureFew()
  const many = await perChild(app, MANY)
  await measureFew()
  const twice = await perChild(app, TWICE)
  await app.close()
  await place.remove()
  return [
    { metric: `one of ${MANY} children ÷ one of ${FEW}`, value: many / median(few), unit: '×', target: atMost(TIMES) },
    { metric: `one of ${TWICE} children ÷ one of ${MANY}`, value: twice / many, unit: '×', target: atMost(TIMES) },
    { metric: `fan-out to ${MANY} children and gather`, value: (many * MANY) / 1_000, unit: 's' },
  ]
}
