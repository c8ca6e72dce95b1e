/**
 * A handler whose runs pass a gate, a run that is asked for by name, and one that is to go on.
 *
 * Owns the shapes, and the name and cause of a run that an event begins; which gates there are is coordinator-book.ts.
 */
import type { FunctionDefinition, Listener } from '#manifest/define/system.ts'
import type { FlowDefinition } from '#manifest/flow/flow.ts'
import type { Kind } from '#model/access/identity.ts'
import type { Requesters } from '#model/access/requester.ts'
import type { Call } from '#model/event/arrival.ts'
import type { Cause, StoredEvent } from '#model/event/event.ts'
import { type GateId, type RunId, timedRunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { EndedRun } from '#model/run/fact.ts'
import type { Ids } from '#ports/ids.ts'
import type { StreamRecord } from '#ports/ledger.ts'

/** A handler with flow control that needs memory, and what it listens to. */
export interface GateConfig {
  readonly id: GateId
  readonly definition: FunctionDefinition
  readonly flow: FlowDefinition
  readonly listeners: ReadonlyMap<string, Listener>
}

/** A run that is asked for. `value` is what rules see as the payload. */
export interface AskedRun {
  readonly call: Call
  readonly value: Json
}

/** That a run which has ended goes on. */
export interface RetryIntent {
  readonly by: string
  readonly kind: Kind
  /** The call of its parent that goes on with it (model/run/child-retry.ts). */
  readonly call?: string
  /** The last event of `cancel_on` before it was asked for. Absent: none. */
  readonly heard?: number
  /** Its gate is not asked. */
  readonly isUngated?: boolean
}

/** `waiting`: its gate has taken it, and lets it go on when it is its turn. */
export type RetryAnswer = 'begun' | 'waiting'

export interface RetryReport {
  readonly state: RetryAnswer
  /** What the run and its failed children had finished: none of it is repeated. */
  readonly done: readonly string[]
}

/** A run that has ended, and who wants it to go on. */
export interface AskedRetry {
  readonly record: StreamRecord
  readonly state: EndedRun
  readonly intent: RetryIntent
}

/** The run that an event begins at a gate: the same answer from everyone, always. */
export const runOfEvent = (
  ids: Pick<Ids, 'digest'>,
  gate: GateId,
  { sequence, time }: Pick<StoredEvent, 'sequence' | 'time'>,
): RunId => timedRunId(time, ids.digest(`${gate}\n${sequence}`))

export const causeIn = (
  { correlationId, causationId, traceparent, hops, chain }: StoredEvent,
  requesters: Requesters,
): Cause => ({
  correlationId,
  causationId,
  traceparent,
  hops,
  chain,
  ...requesters,
})
