/**
 * Packs batches and their outcomes for the way between threads: the common writes of a run become a few plain values in one list,
 * anything else is sent unpacked.
 *
 * Owns both directions. An object per write, copied with the names of its members, would cost more than its row.
 */
import { isBare } from '#adapters/storage/sqlite/write/append.ts'
import { isStep } from '#adapters/storage/sqlite/write/stream.ts'
import type { StreamId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Append, Outcome, SealedFact, StreamWrite, WaitRow } from '#ports/ledger.ts'
import { BIRTH_VALUES, type BirthValue, isBirth, packBirth, unpackBirth } from './packed-birth.ts'
import { packStep, STEP_VALUES, Step } from './packed-step.ts'
import { Packing } from './packing.ts'

/**
 * A step begins with its stream, any other write to one existing stream with the number of its facts, the creation of a run by an event
 * with true; anything else is one object.
 */
export type PackedBatch = readonly (BirthValue | Append | readonly WaitRow[])[]

/** A number is the position of a written step; with a sequence, of an append with one event. */
export type PackedOutcomes = readonly (number | readonly [position: number, sequence: number] | Outcome)[]

type WriteList = readonly [
  ...[facts: number, stream: StreamId, expectedVersion: number, epoch: number | null, headHash: string],
  ...[status: RunStatus, wakeAt: number | null, release: boolean, seenSignal: number, appendId: string],
  ...[opensWaits: readonly WaitRow[] | null, closesWaits: readonly string[] | null],
]

type FactList = readonly [type: string, recordedAt: number, body: string, hash: string]

const WRITE_VALUES = 12
const FACT_VALUES = 4
const NONE: readonly never[] = []

/** Enough for nearly all batches: steps, ends of runs and new runs. */
const roomFor = (batch: readonly Append[]): number => {
  let values = 0
  for (const { events } of batch) values += events.length === 0 ? STEP_VALUES : BIRTH_VALUES + 1
  return values
}

export const packBatch = (batch: readonly Append[]): PackedBatch => {
  const packed = new Packing<PackedBatch[number]>(roomFor(batch))
  for (const append of batch) {
    const [write] = append.writes
    if (isBirth(append)) packBirth(packed, append)
    else if (write === undefined || !isBare(append) || write.create !== null || write.task !== undefined)
      packed.put(append)
    else packWrite(packed, append.appendId, write)
  }
  return packed.end()
}

const packWrite = (packed: Packing<PackedBatch[number]>, appendId: string, write: StreamWrite): void => {
  const { stream, expectedVersion, epoch, facts, headHash, status, wakeAt, release, seenSignal } = write
  const [fact] = facts
  if (fact !== undefined && facts.length === 1 && isStep(write)) return packStep(packed, appendId, write, fact)
  packed.putAll([facts.length, stream, expectedVersion, epoch, headHash, status, wakeAt, release, seenSignal, appendId])
  packed.put(write.opensWaits.length === 0 ? null : write.opensWaits)
  packed.put(write.closesWaits.length === 0 ? null : write.closesWaits)
  for (const { type, recordedAt, body, hash } of facts) packed.putAll([type, recordedAt, body, hash])
}

export const unpackBatch = (packed: PackedBatch): readonly (Append | Step)[] => {
  const batch: (Append | Step)[] = []
  for (let i = 0; i < packed.length; ) {
    const first = packed[i]
    if (typeof first === 'string') {
      batch.push(new Step(packed, i))
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

const toWrite = (list: PackedBatch): Append => {
  const [, stream, expectedVersion, epoch, headHash, status, wakeAt, release, seenSignal, appendId, opens, closes] =
    list as unknown as WriteList
  // Names every member, so that the compiler reports a new one that is missing here.
  const write: Required<Omit<StreamWrite, 'task'>> = {
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
  }
  return { appendId, writes: [write], events: NONE, signals: NONE, documents: NONE }
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

/** Steps that were written at the same position share one outcome object. */
export const unpackOutcomes = (packed: PackedOutcomes): readonly Outcome[] => {
  let last: Outcome | null = null
  let position = -1
  return packed.map((one) => {
    if (typeof one !== 'number') return 'kind' in one ? one : written(one[0], [one[1]])
    if (last === null || one !== position) last = written(one, NONE)
    position = one
    return last
  })
}
