/**
 * Batches and their outcomes as they travel between threads: a step is a few plain values in one list, whatever is more goes as it is.
 *
 * Owns both directions. An object per step, copied with the names of its members, would cost more than the step's row.
 */

import type { StreamId } from '../../model/ids.ts'
import type { RunStatus } from '../../model/status.ts'
import type { Append, Outcome } from '../../ports/ledger.ts'
import { isBare } from './append.ts'
import { isStep } from './stream.ts'

/** A step begins with its stream, anything else is one object. */
export type PackedBatch = readonly (string | number | null | Append)[]

/** A bare position stands for a step that was written. */
export type PackedOutcomes = readonly (number | Outcome)[]

type StepList = readonly [
  ...[stream: StreamId, expectedVersion: number, epoch: number, status: RunStatus, wakeAt: number | null],
  ...[seenSignal: number, appendId: string, type: string, recordedAt: number, body: string, hash: string],
]

const STEP_VALUES = 11
const NONE: readonly never[] = []

export const packBatch = (batch: readonly Append[]): PackedBatch => {
  const packed: PackedBatch[number][] = []
  for (const append of batch) {
    const [write] = append.writes
    const [fact] = write?.facts ?? NONE
    if (write === undefined || fact === undefined || !isBare(append) || !isStep(write) || write.facts.length > 1) {
      packed.push(append)
      continue
    }
    packed.push(write.stream, write.expectedVersion, write.epoch, write.status, write.wakeAt, write.seenSignal)
    packed.push(append.appendId, fact.type, fact.recordedAt, fact.body, fact.hash)
  }
  return packed
}

export const unpackBatch = (packed: PackedBatch): readonly Append[] => {
  const batch: Append[] = []
  for (let i = 0; i < packed.length; ) {
    const first = packed[i]
    if (typeof first === 'object' && first !== null) {
      batch.push(first)
      i += 1
    } else {
      batch.push(toStep(packed.slice(i, i + STEP_VALUES) as unknown as StepList))
      i += STEP_VALUES
    }
  }
  return batch
}

const toStep = (list: StepList): Append => {
  const [stream, expectedVersion, epoch, status, wakeAt, seenSignal, appendId, type, recordedAt, body, hash] = list
  const write = {
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
  }
  return { appendId, writes: [write], events: NONE, signals: NONE, documents: NONE }
}

export const packOutcomes = (outcomes: readonly Outcome[]): PackedOutcomes =>
  outcomes.map((outcome) =>
    outcome.kind === 'written' && outcome.sequences.length === 0 && outcome.signalled.length === 0
      ? outcome.position
      : outcome,
  )

export const unpackOutcomes = (packed: PackedOutcomes): readonly Outcome[] =>
  packed.map((one) =>
    typeof one === 'number' ? { kind: 'written', sequences: NONE, position: one, signalled: NONE } : one,
  )
