/**
 * Batches and their outcomes as they travel between threads: what a run in memory writes is a few plain values in one list, whatever is
 * more goes as it is.
 *
 * Owns both directions. An object per write, copied with the names of its members, would cost more than its row.
 */

import type { StreamId } from '../../model/ids.ts'
import type { RunStatus } from '../../model/status.ts'
import type { Append, Outcome, SealedFact, StreamWrite, WaitRow } from '../../ports/ledger.ts'
import { isBare } from './append.ts'
import { BIRTH_VALUES, type BirthValue, isBirth, packBirth, unpackBirth } from './packed-birth.ts'
import { isStep } from './stream.ts'

/**
 * A step begins with its stream, any other write to one stream that exists with the number of its facts, the birth of a run by an event
 * with true; else it is one object.
 */
export type PackedBatch = readonly (BirthValue | Append | readonly WaitRow[])[]

/** A bare position stands for a step that was written; with a sequence for one event that was, too. */
export type PackedOutcomes = readonly (number | readonly [position: number, sequence: number] | Outcome)[]

type StepList = readonly [
  ...[stream: StreamId, expectedVersion: number, epoch: number, status: RunStatus, wakeAt: number | null],
  ...[seenSignal: number, appendId: string, type: string, recordedAt: number, body: string, hash: string],
]

type WriteList = readonly [
  ...[facts: number, stream: StreamId, expectedVersion: number, epoch: number | null, headHash: string],
  ...[status: RunStatus, wakeAt: number | null, release: boolean, seenSignal: number, appendId: string],
  ...[opensWaits: readonly WaitRow[] | null, closesWaits: readonly string[] | null],
]

type FactList = readonly [type: string, recordedAt: number, body: string, hash: string]

const STEP_VALUES = 11
const WRITE_VALUES = 12
const FACT_VALUES = 4
const NONE: readonly never[] = []

export const packBatch = (batch: readonly Append[]): PackedBatch => {
  const packed: PackedBatch[number][] = []
  for (const append of batch) {
    const [write] = append.writes
    if (isBirth(append)) packBirth(packed, append)
    else if (write === undefined || !isBare(append) || write.create !== null || write.task !== undefined)
      packed.push(append)
    else packWrite(packed, append.appendId, write)
  }
  return packed
}

const packWrite = (packed: PackedBatch[number][], appendId: string, write: StreamWrite): void => {
  const { stream, expectedVersion, epoch, facts, headHash, status, wakeAt, release, seenSignal } = write
  const [fact] = facts
  if (fact !== undefined && facts.length === 1 && isStep(write)) {
    packed.push(stream, expectedVersion, epoch, status, wakeAt, seenSignal)
    packed.push(appendId, fact.type, fact.recordedAt, fact.body, fact.hash)
    return
  }
  packed.push(facts.length, stream, expectedVersion, epoch, headHash, status, wakeAt, release, seenSignal, appendId)
  packed.push(write.opensWaits.length === 0 ? null : write.opensWaits)
  packed.push(write.closesWaits.length === 0 ? null : write.closesWaits)
  for (const { type, recordedAt, body, hash } of facts) packed.push(type, recordedAt, body, hash)
}

export const unpackBatch = (packed: PackedBatch): readonly Append[] => {
  const batch: Append[] = []
  for (let i = 0; i < packed.length; ) {
    const first = packed[i]
    if (typeof first === 'string') {
      batch.push(toStep(packed.slice(i, i + STEP_VALUES) as unknown as StepList))
      i += STEP_VALUES
    } else if (typeof first === 'number') {
      const end = i + WRITE_VALUES + first * FACT_VALUES
      batch.push(toWrite(packed.slice(i, end)))
      i = end
    } else if (first === true) {
      batch.push(unpackBirth(packed.slice(i + 1, i + 1 + BIRTH_VALUES)))
      i += 1 + BIRTH_VALUES
    } else {
      batch.push(first as Append)
      i += 1
    }
  }
  return batch
}

/** Every member by name, so that a new one is missed here by the compiler and not on the way. */
type Unpacked = Required<Omit<StreamWrite, 'task'>>

const bare = (appendId: string, write: Unpacked): Append => ({
  appendId,
  writes: [write],
  events: NONE,
  signals: NONE,
  documents: NONE,
})

const toStep = (list: StepList): Append => {
  const [stream, expectedVersion, epoch, status, wakeAt, seenSignal, appendId, type, recordedAt, body, hash] = list
  return bare(appendId, {
    stream,
    create: null,
    expectedVersion,
    epoch,
    facts: [{ type, recordedAt, body, hash }],
    headHash: hash,
    status,
    wakeAt,
    release: false,
    seenSignal,
    opensWaits: NONE,
    closesWaits: NONE,
  })
}

const toWrite = (list: PackedBatch): Append => {
  const [, stream, expectedVersion, epoch, headHash, status, wakeAt, release, seenSignal, appendId, opens, closes] =
    list as unknown as WriteList
  return bare(appendId, {
    stream,
    create: null,
    expectedVersion,
    epoch,
    facts: toFacts(list, WRITE_VALUES),
    headHash,
    status,
    wakeAt,
    release,
    seenSignal,
    opensWaits: opens ?? NONE,
    closesWaits: closes ?? NONE,
  })
}

const toFacts = (list: readonly unknown[], from: number): readonly SealedFact[] => {
  const facts: SealedFact[] = []
  for (let i = from; i < list.length; i += FACT_VALUES) {
    const [type, recordedAt, body, hash] = list.slice(i, i + FACT_VALUES) as unknown as FactList
    facts.push({ type, recordedAt, body, hash })
  }
  return facts
}

export const packOutcomes = (outcomes: readonly Outcome[]): PackedOutcomes =>
  outcomes.map((outcome) => {
    if (outcome.kind !== 'written' || outcome.signalled.length > 0 || outcome.sequences.length > 1) return outcome
    const { position, sequences } = outcome
    return sequences[0] === undefined ? position : [position, sequences[0]]
  })

const written = (position: number, sequences: readonly number[]): Outcome => ({
  kind: 'written',
  sequences,
  position,
  signalled: NONE,
})

export const unpackOutcomes = (packed: PackedOutcomes): readonly Outcome[] =>
  packed.map((one) => {
    if (typeof one === 'number') return written(one, NONE)
    return 'kind' in one ? one : written(one[0], [one[1]])
  })
