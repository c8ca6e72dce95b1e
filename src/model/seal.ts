/**
 * The hash chain of a stream: each fact is sealed to the one before it, so that a changed byte is found.
 *
 * Owns the text that is hashed. Never hashes: the digest is an argument.
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
