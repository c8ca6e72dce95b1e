/**
 * Facts on their way into a stream: written down, stamped and sealed to the one before.
 *
 * Owns the hash chain's head while a stream is in memory, and that time in a stream never runs back.
 */
import { writeFact } from '../model/fact-codec.ts'
import type { Instant, StreamId } from '../model/ids.ts'
import { GENESIS, sealText } from '../model/seal.ts'
import type { Ids } from '../ports/ids.ts'
import type { SealedFact } from '../ports/ledger.ts'

export interface ChainHead {
  readonly version: number
  readonly headHash: string
  readonly lastAt: Instant
}

export const EMPTY_CHAIN: ChainHead = { version: 0, headHash: GENESIS, lastAt: 0 }

export interface Sealed {
  readonly facts: readonly SealedFact[]
  readonly head: ChainHead
}

export const sealFacts = (
  ids: Pick<Ids, 'digest'>,
  stream: StreamId,
  head: ChainHead,
  facts: readonly { readonly type: string; readonly at: Instant }[],
): Sealed => {
  let { version, headHash, lastAt } = head
  const sealed = facts.map((fact): SealedFact => {
    const { type, recordedAt: at, body } = writeFact(fact)
    lastAt = Math.max(lastAt, at)
    headHash = ids.digest(sealText(headHash, { stream, seq: version, type, recordedAt: lastAt, body }))
    version++
    return { type, recordedAt: lastAt, body, hash: headHash }
  })
  return { facts: sealed, head: { version, headHash, lastAt } }
}

/** The head of a stream as loaded. */
export const headOf = (record: {
  readonly version: number
  readonly headHash: string
  readonly facts: readonly SealedFact[]
}): ChainHead => ({
  version: record.version,
  headHash: record.headHash,
  lastAt: record.facts.at(-1)?.recordedAt ?? 0,
})
