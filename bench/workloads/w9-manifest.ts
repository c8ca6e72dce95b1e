/** W9: a cold process loads and lints a manifest of three thousand lines. No ledger is involved. */
import { atMost, type Measurement } from '../report.ts'
import { type BenchLedger, startChild } from '../target.ts'

export const largeManifestLoad = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  if (ledger.kind !== 'sqlite') return []
  const place = ledger.fresh()
  const child = startChild('manifest', place)
  const { text } = await child.line('loaded')
  await child.kill()
  await place.remove()
  return [{ metric: 'load and lint 3,400 lines', value: Number(text.split(' ')[1]), unit: 'ms', target: atMost(500) }]
}
