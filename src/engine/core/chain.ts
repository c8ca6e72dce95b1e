/**
 * Prepares facts for a stream: each is serialised, stamped and sealed to the one before.
 *
 * Owns the head of the hash chain while a stream is in memory. Time in a stream never runs backwards.
 */
import { writeFact } from '#model/kernel/fact-codec.ts'
import type { Instant, StreamId } from '#model/kernel/ids.ts'
import type { Redaction } from '#model/kernel/redaction.ts'
import { GENESIS, sealText } from '#model/kernel/seal.ts'
import type { Ids } from '#ports/ids.ts'
import type { SealedFact } from '#ports/ledger.ts'

export interface ChainHead {
  readonly version: number
  readonly headHash: string
  readonly lastAt: Instant
}

export const EMPTY_CHAIN: ChainHead = { version: 0, headHash: GENESIS, lastAt: 0 }

/** What sealing needs; redaction keeps secrets out of every sealed fact. */
export interface Writer {
  readonly ids: Pick<Ids, 'seal'>
  readonly redaction: Pick<Redaction, 'json'>
}

export interface Sealed {
  readonly facts: readonly SealedFact[]
  readonly head: ChainHead
}

export const sealFacts = (
  writer: Writer,
  stream: StreamId,
  head: ChainHead,
  facts: readonly { readonly type: string; readonly at: Instant }[],
): Sealed => {
  const [only] = facts
  // The common case, a step, is one fact: an array with room for exactly one.
  if (only !== undefined && facts.length === 1) {
    const fact = seal(writer, stream, head, only)
    return { facts: [fact], head: headAfter(head, fact) }
  }
  let last = head
  const sealed = facts.map((one) => {
    const fact = seal(writer, stream, last, one)
    last = headAfter(last, fact)
    return fact
  })
  return { facts: sealed, head: last }
}

const seal = (
  writer: Writer,
  stream: StreamId,
  { version: seq, headHash, lastAt }: ChainHead,
  fact: { readonly type: string; readonly at: Instant },
): SealedFact => {
  const { type, recordedAt: at, body: written } = writeFact(fact)
  const body = writer.redaction.json(written)
  const recordedAt = Math.max(lastAt, at)
  return { type, recordedAt, body, hash: writer.ids.seal(sealText(headHash, { stream, seq, type, recordedAt, body })) }
}

const headAfter = ({ version }: ChainHead, { hash, recordedAt }: SealedFact): ChainHead => ({
  version: version + 1,
  headHash: hash,
  lastAt: recordedAt,
})

/** Returns the head of a loaded stream. */
export const headOf = (record: {
  readonly version: number
  readonly headHash: string
  readonly facts: readonly SealedFact[]
}): ChainHead => ({
  version: record.version,
  headHash: record.headHash,
  lastAt: record.facts.at(-1)?.recordedAt ?? 0,
})
