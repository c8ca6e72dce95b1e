/**
 * Types for a handler whose runs pass a gate, for a call of a run by name, and for a retry of a run.
 *
 * Owns these types, and the id and cause of a run that an event starts. registry.ts knows which gates exist.
 */
import type { Birth } from '#engine/run/new-run.ts'
import type { FunctionDefinition, Listener } from '#manifest/define/system.ts'
import type { FlowDefinition } from '#manifest/flow/flow.ts'
import type { Kind } from '#model/access/identity.ts'
import type { Requesters } from '#model/access/requester.ts'
import type { Call } from '#model/event/arrival.ts'
import type { Cause, StoredEvent } from '#model/event/event.ts'
import { type GateId, gateId, type RunId, type TenantId, timedRunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { EndedRun } from '#model/run/fact.ts'
import type { Ids } from '#ports/ids.ts'
import type { StreamRecord } from '#ports/ledger.ts'

/** A handler with stateful flow control, and what it listens to. */
export interface GateConfig {
  readonly id: GateId
  readonly definition: FunctionDefinition
  readonly flow: FlowDefinition
  readonly listeners: ReadonlyMap<string, Listener>
}

/** A call of a run by name. `value` is what the rules see as the payload. */
export interface AskedRun {
  readonly call: Call
  readonly value: Json
}

/** The request that an ended run continues. */
export interface RetryIntent {
  readonly by: string
  readonly kind: Kind
  /** The call of its parent that retries this child (model/run/child-retry.ts). */
  readonly call?: string
  /** The last event of `cancel_on` before the request. Absent: none. */
  readonly heard?: number
  /** True if the run does not pass its gate. */
  readonly isUngated?: boolean
}

/** `waiting`: its gate has accepted the retry and starts it when its turn comes. */
export type RetryAnswer = 'begun' | 'waiting'

export interface RetryReport {
  readonly state: RetryAnswer
  /** Steps that the run and its failed children had finished: they are not repeated. */
  readonly done: readonly string[]
}

/** An ended run, and the request that it continues. */
export interface AskedRetry {
  readonly record: StreamRecord
  readonly state: EndedRun
  readonly intent: RetryIntent
}

/** Returns the id of the run that an event starts at a gate: deterministic, so that every process computes the same id. */
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

/** The id of a handler's gate: the same in every process. */
export const gateOf = (ids: Pick<Ids, 'digest'>, tenant: TenantId, handler: string): GateId =>
  gateId(ids.digest(`gate\n${tenant}\n${handler}`))

/** A child continues its parent's chain of causes; its end is reported to its parent and, with that, to the gate (run/append.ts). */
export const familyOf = ({ parent }: Call): Partial<Pick<Birth, 'cause' | 'parent'>> => {
  if (parent === undefined) return {}
  const { cause, ...family } = parent
  return { cause, parent: family }
}
