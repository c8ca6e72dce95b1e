/** V2, V3, V6, V12: every stream is one unbroken chain of facts, in order of time, with epochs that never decrease. */
import type { MemoryStream } from '#adapters/storage/memory/stream.ts'
import { GENESIS, sealText } from '#model/kernel/seal.ts'
import { simDigest } from '#test/chaos/sim/digest.ts'
import type { Evidence } from './evidence.ts'

export const checkChains = ({ look, witness }: Evidence): readonly string[] => {
  const epochs = new Map<string, number>()
  const fallen = witness.writes.flatMap(({ stream, epoch, fromSeq }) => {
    if (epoch === null) return []
    const before = epochs.get(stream) ?? 0
    epochs.set(stream, Math.max(before, epoch))
    return epoch < before ? [`V12: ${stream} fact ${fromSeq} has epoch ${epoch} after ${before}`] : []
  })
  const counted = new Map<string, number>()
  for (const { stream, facts } of witness.writes) counted.set(stream, (counted.get(stream) ?? 0) + facts)
  const uncounted = look.store.byCreation
    .filter(({ id, facts }) => (counted.get(id) ?? 0) !== facts.length)
    .map(({ id, facts }) => `V2: ${id} has ${facts.length} facts, ${counted.get(id) ?? 0} were written`)
  return [...fallen, ...uncounted, ...look.store.byCreation.flatMap(checkChain)]
}

const checkChain = ({ id, facts, headHash }: MemoryStream): readonly string[] => {
  const wrong: string[] = []
  let previous: string = GENESIS
  let last = 0
  for (const [seq, { type, recordedAt, body, hash }] of facts.entries()) {
    if (simDigest(sealText(previous, { stream: id, seq, type, recordedAt, body })) !== hash)
      wrong.push(`V3: ${id} fact ${seq} is not sealed to the one before`)
    if (recordedAt < last) wrong.push(`V6: ${id} fact ${seq} is recorded before its predecessor`)
    previous = hash
    last = recordedAt
  }
  if (headHash !== previous) wrong.push(`V3: ${id} ends at another hash than its head`)
  return wrong
}
