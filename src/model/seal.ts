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

export const sealText = (previousHash: string, fact: Unsealed): string =>
  `${previousHash}\n${fact.stream}\n${fact.seq}\n${fact.type}\n${fact.recordedAt}\n${fact.body}`
