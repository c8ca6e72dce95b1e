/**
 * The hash chain of a stream: each fact is sealed to the one before it, so that a changed byte is found.
 *
 * Owns the text that is hashed, and what makes a list of facts whole. Never hashes: the digest is an argument.
 *
 * seal-1  A list of facts is whole only if every hash fits its fact and the hash before it, and the last one is the stream's head.
 */
import type { Instant, StreamId } from './ids.ts'

/** What stands before the first fact of a stream. */
export const GENESIS = ''

export interface Unsealed {
  readonly stream: StreamId
  readonly seq: number
  readonly type: string
  readonly recordedAt: Instant
  readonly body: string
}

// Joined, not a template: that would be ten pieces in a chain, put together once more by whoever reads it.
export const sealText = (previousHash: string, { stream, seq, type, recordedAt, body }: Unsealed): string =>
  [previousHash, stream, seq, type, recordedAt, body].join('\n')

interface Sealed {
  readonly type: string
  readonly recordedAt: Instant
  readonly body: string
  readonly hash: string
}

export interface SealedList {
  readonly stream: StreamId
  /** The seq of the first fact. */
  readonly first: number
  /** The hash of the fact before the first; null: it is not known, and the hash of the first fact is taken as it is. */
  readonly previous: string | null
  readonly facts: readonly Sealed[]
  /** The hash of the stream's last fact, which the list ends with. */
  readonly head: string
}

/** What is wrong with it, in a sentence; null: it is whole. */
export const flawOf = (list: SealedList, digest: (text: string) => string): string | null => {
  const { stream, first, facts, head } = list
  let last = list.previous
  for (const [i, { type, recordedAt, body, hash }] of facts.entries()) {
    const seq = first + i
    if (last !== null && hash !== digest(sealText(last, { stream, seq, type, recordedAt, body })))
      return `the hash of fact ${seq} (${type}) does not fit its content and the fact before it`
    last = hash
  }
  return last === null || last === head ? null : 'the last fact is not the one that the head of the stream names'
}
