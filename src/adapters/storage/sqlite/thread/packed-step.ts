/**
 * Packs the write of almost every step for the way between threads: one fact by the holder and nothing else.
 *
 * Owns both directions. On the other side a step stays one flat object: as an append it would be five, and cost as much as its row.
 */
import type { StreamId } from '#model/kernel/ids.ts'
import { RUN_STATUSES, type RunStatus } from '#model/run/status.ts'
import type { Append, SealedFact, StreamWrite } from '#ports/ledger.ts'
import type { Packing } from './packing.ts'

export type StepValue = string | number | null

export const STEP_VALUES = 11
const NONE: readonly never[] = []

/** The types of nearly all facts of steps: sent as a number, like the status. */
const COMMON_TYPES: readonly string[] = ['step.completed', 'step.intended']

export const packStep = (
  packed: Pick<Packing<StepValue>, 'put'>,
  appendId: string,
  write: StreamWrite,
  fact: SealedFact,
): void => {
  const common = COMMON_TYPES.indexOf(fact.type)
  packed.put(write.stream)
  packed.put(write.expectedVersion)
  packed.put(write.epoch)
  packed.put(RUN_STATUSES.indexOf(write.status))
  packed.put(write.wakeAt)
  packed.put(write.seenSignal)
  packed.put(appendId)
  packed.put(common < 0 ? fact.type : common)
  packed.put(fact.recordedAt)
  packed.put(fact.body)
  packed.put(fact.hash)
}

export class Step implements SealedFact {
  readonly stream: StreamId
  readonly expectedVersion: number
  readonly epoch: number
  readonly status: RunStatus
  readonly wakeAt: number | null
  readonly seenSignal: number
  readonly appendId: string
  readonly type: string
  readonly recordedAt: number
  readonly body: string
  readonly hash: string

  /** Reads the values that begin at this index. */
  constructor(packed: readonly unknown[], at: number) {
    const type = packed[at + 7] as string | number
    this.stream = packed[at] as StreamId
    this.expectedVersion = packed[at + 1] as number
    this.epoch = packed[at + 2] as number
    this.status = RUN_STATUSES[packed[at + 3] as number] as RunStatus
    this.wakeAt = packed[at + 4] as number | null
    this.seenSignal = packed[at + 5] as number
    this.appendId = packed[at + 6] as string
    this.type = typeof type === 'number' ? (COMMON_TYPES[type] as string) : type
    this.recordedAt = packed[at + 8] as number
    this.body = packed[at + 9] as string
    this.hash = packed[at + 10] as string
  }

  /** For steps that need the general path: the run lost its lease, or has another status now. */
  toAppend(): Append {
    const { stream, expectedVersion, epoch, status, wakeAt, seenSignal, appendId } = this
    const { type, recordedAt, body, hash } = this
    const write: Required<Omit<StreamWrite, 'task'>> = {
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
}

/** The append of an entry in either form. */
export const appendOf = (entry: Append | Step): Append => (entry instanceof Step ? entry.toAppend() : entry)
