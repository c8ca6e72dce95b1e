/** W7: from process start to the first completed step on an existing database, compared with a Node process that does nothing. */
import { atMost, type Measurement } from '../report.ts'
import { type BenchLedger, open, type Place, startChild } from '../target.ts'

const nodeItself = async (place: Place): Promise<number> => {
  const child = startChild('nothing', place)
  const { at } = await child.line('up')
  await child.kill()
  return at - child.startedAt
}

export const coldStart = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const place = ledger.fresh()
  await (await open(place)).close()
  const raw = await nodeItself(place)
  const child = startChild('boot', place, ['first-step'])
  const { at } = await child.line('stepped')
  await child.kill()
  await place.remove()
  const ms = { metric: 'process start to first step done', value: at - child.startedAt, unit: 'ms', raw }
  return [ledger.kind === 'sqlite' ? { ...ms, target: atMost(200) } : ms]
}
