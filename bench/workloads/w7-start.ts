/** W7: process start to first step done, on a database that exists. */
import { atMost, type Measurement } from '../report.ts'
import { type BenchLedger, open, startChild } from '../target.ts'

export const coldStart = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const place = ledger.fresh()
  await (await open(place)).close()
  const child = startChild('boot', place, ['first-step'])
  const { at } = await child.line('stepped')
  await child.kill()
  await place.remove()
  const ms = { metric: 'process start to first step done', value: at - child.startedAt, unit: 'ms' }
  return [ledger.kind === 'sqlite' ? { ...ms, target: atMost(200) } : ms]
}
