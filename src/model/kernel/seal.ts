/**
 * The hash chain of a stream: each fact is sealed to the one before it, so that a changed byte is found.
 *
 * Owns the text that is sealed, the spelling of a keyed seal, and when a list of facts is whole. Never hashes.
 *
 * seal-1  A list of facts is whole only if every hash fits its fact and the hash before it, and the last one is the stream's head.
 * seal-2  If there is a seal key, a seal that was made without one does not count: anyone who can write the database can compute a plain hash.
 */
import type { Instant, StreamId } from './ids.ts'

/** The previous hash of the first fact of a stream. */
export const GENESIS = ''

export interface Unsealed {
  readonly stream: StreamId
  readonly seq: number
  readonly type: string
  readonly recordedAt: Instant
  readonly body: string
}

export const sealText = (previousHash: string, { stream, seq, type, recordedAt, body }: Unsealed): string =>
  `${previousHash}\n${stream}\n${seq}\n${type}\n${recordedAt}\n${body}`

/** The prefix of a seal that was made with a key; the id of the key follows. A plain seal has no colon. */
export const KEYED = 'h1:'
const ID_LENGTH = 8

export const isKeyedSeal = (seal: string): boolean => seal.startsWith(KEYED)
export const keyIdOf = (seal: string): string => seal.slice(KEYED.length, KEYED.length + ID_LENGTH)

/** The text that a keyed seal of an event covers: it includes the identity of the event, so that two events cannot be swapped. */
export const eventText = ({ tenant, source, id, type }: EventIdentity, data: string): string =>
  ['event', tenant, source, id, type, data].join('\n')

export interface EventIdentity {
  readonly tenant: string
  readonly source: string
  readonly id: string
  readonly type: string
}

/** `key_missing`: the seal names a key that this process does not have. `unkeyed`: it was made without a key although there is one. */
export type SealCheck = 'fits' | 'broken' | 'key_missing' | 'unkeyed'

/** Seals without a key: the plain digest. The seal of an event covers its data alone. */
export const plainSeals = (digest: (text: string) => string) => {
  const checkSeal = (seal: string, text: string): SealCheck => {
    if (isKeyedSeal(seal)) return 'key_missing'
    return seal === digest(text) ? 'fits' : 'broken'
  }
  return {
    seal: digest,
    checkSeal,
    sealEvent: (_: EventIdentity, data: string): string => digest(data),
    checkEventSeal: (seal: string, _: EventIdentity, data: string): SealCheck => checkSeal(seal, data),
  }
}

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
  /** The hash of the fact before the first; null: it is not known, and the hash of the first fact is trusted. */
  readonly previous: string | null
  readonly facts: readonly Sealed[]
  /** The hash of the last fact of the stream, which is also the last of the list. */
  readonly head: string
}

/** The flaw of the list, in a sentence; null: it is whole. */
export const flawOf = (list: SealedList, check: (seal: string, text: string) => SealCheck): string | null => {
  const { stream, first, facts, head } = list
  let last = list.previous
  // A plain loop: a cold process checks thousands of facts before it resumes a long run.
  for (let i = 0; i < facts.length; i++) {
    const { type, recordedAt, body, hash } = facts[i] as SealedList['facts'][number]
    const seq = first + i
    const found = last === null ? 'fits' : check(hash, sealText(last, { stream, seq, type, recordedAt, body }))
    if (found === 'key_missing')
      return `fact ${seq} (${type}) is sealed with key ${keyIdOf(hash)}, which TRIHAND_SEAL_KEY does not have`
    if (found === 'unkeyed') return `fact ${seq} (${type}) is not sealed with the seal key`
    if (found === 'broken') return `the hash of fact ${seq} (${type}) does not fit its content and the fact before it`
    last = hash
  }
  return last === null || last === head ? null : 'the last fact is not the one that the head of the stream names'
}
