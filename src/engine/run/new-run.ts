/**
 * Creates a run: its first fact, its row, and the lease if it can start here at once.
 *
 * Owns the shape of a new run, the same for an event's run, a child and a call. Never decides whether a run is created.
 */
import { type Advance, advanceRun } from '#engine/core/advance.ts'
import { type ChainHead, EMPTY_CHAIN, sealFacts, type Writer } from '#engine/core/chain.ts'
import { deadlines, type FunctionDefinition } from '#manifest/define/system.ts'
import { deadlineUnder } from '#model/agent/call-terms.ts'
import type { Cause, Event, StoredEvent } from '#model/event/event.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { WorkerId } from '#model/kernel/ids.ts'
import {
  type ClaimableId,
  type CoordinatorId,
  type Instant,
  type RunId,
  runId,
  type SessionId,
  type TenantId,
} from '#model/kernel/ids.ts'
import type { RerunOf, ReusedStep, RunFact, RunInput, RunStart, RunState } from '#model/run/fact.ts'
import { statusOf } from '#model/run/run.ts'
import { NO_VERSION } from '#model/worker/pin.ts'
import type { Ids } from '#ports/ids.ts'
import type { NewStream, StreamWrite } from '#ports/ledger.ts'
import type { ResourceClaim } from './resource-claim.ts'

export interface NewRun {
  readonly id: RunId
  readonly handler: string
  readonly write: StreamWrite
  readonly state: RunState
  readonly head: ChainHead
  readonly event: Event | null
  readonly session: SessionId | null
  readonly parent: ClaimableId | null
}

interface BirthParent extends Pick<RunStart, 'onParentEnd' | 'terms'> {
  readonly run: RunId
  readonly step: string
  readonly depth: number
}

export interface Birth {
  readonly definition: FunctionDefinition
  readonly systemHash: string
  readonly tenant: TenantId
  readonly now: Instant
  readonly input: RunInput
  readonly cause: Cause | null
  /** An event of the append that creates the run, by its index, or one that the ledger has already. */
  readonly event: { readonly event: Event; readonly index: number } | { readonly event: StoredEvent } | null
  readonly session: SessionId | null
  readonly parent: BirthParent | null
  /** The coordinator that starts the run, if it must be notified of the run's end. */
  readonly coordinator?: CoordinatorId | null
  /** Absent: a new one. */
  readonly id?: RunId
  /** The run may be claimed from this instant on; null or absent: now. */
  readonly notBefore?: Instant | null
  readonly resourceClaim: ResourceClaim
  readonly lease: WorkerId | null
  /** The run is refused as it is created, for this reason. Then it has no lease. */
  readonly ends?: Failure
  readonly rerun?: { readonly of: RerunOf; readonly reuse: readonly ReusedStep[] }
  /** The address to notify of its end. */
  readonly callback?: string | null
  /** For a run without a parent: the terms of the run that it repeats. */
  readonly terms?: RunStart['terms']
}

const NONE: readonly never[] = []

/** Whether the run is leased to the process that creates it. */
export const isLeased = (run: NewRun): boolean => run.write.create?.lease != null

export const newRun = (writer: Writer & { readonly ids: Pick<Ids, 'uuid'> }, birth: Birth): NewRun => {
  const { definition, now, id = runId(writer.ids.uuid()) } = birth
  const parent = birth.parent?.run ?? birth.coordinator ?? null
  const terms = birth.parent?.terms ?? birth.terms
  const { startBy, deadlineAt } = deadlines(definition, now)
  const start = {
    handler: definition.name,
    input: birth.input,
    cause: birth.cause ?? requestedCause(birth),
    parentStep: birth.parent?.step ?? null,
    depth: birth.parent?.depth ?? 0,
    deadlineAt: deadlineUnder(deadlineAt, terms, now),
    startBy,
    ...(terms !== undefined && { terms }),
  }
  const { state, facts } = begun(startedWith(start, birth), birth)
  const sealed = sealFacts(writer, id, EMPTY_CHAIN, facts)
  const write: StreamWrite = {
    stream: id,
    create: creation(birth, parent),
    expectedVersion: 0,
    epoch: null,
    facts: sealed.facts,
    headHash: sealed.head.headHash,
    status: birth.lease === null && birth.ends === undefined ? 'queued' : statusOf(state, false),
    wakeAt: birth.lease === null && birth.ends === undefined ? Math.max(now, birth.notBefore ?? now) : null,
    release: false,
    seenSignal: 0,
    opensWaits: NONE,
    closesWaits: NONE,
  }
  return {
    id,
    handler: definition.name,
    write,
    state,
    head: sealed.head,
    event: birth.event?.event ?? null,
    session: birth.session,
    parent,
  }
}

/** Records the requesters with the run, because the row of the event is not sealed. */
const requestedCause = ({ event }: Birth): Cause | null => {
  if (event?.event.requesters === undefined) return null
  const { correlationId, causationId, traceparent, hops, chain, requesters } = event.event
  return { correlationId, causationId, traceparent, hops, chain, requesters }
}

const begun = (start: RunStart, { now, ends, rerun }: Birth): Pick<Advance<RunState, RunFact>, 'state' | 'facts'> => {
  const reuse = rerun?.reuse ?? NONE
  const started = advanceRun({ kind: 'none' }, { type: 'start_run', now, start, reuse })
  if (ends === undefined) return started
  const ended = advanceRun(started.state, { type: 'cancel_run', now, by: 'trihand', error: ends, idle: true })
  return { state: ended.state, facts: [...started.facts, ...ended.facts] }
}

const startedWith = (start: RunStart, { rerun, callback, parent }: Birth): RunStart =>
  rerun === undefined && callback == null && parent?.onParentEnd === undefined
    ? start
    : {
        ...start,
        ...(rerun !== undefined && { rerun: rerun.of }),
        ...(callback != null && { callback }),
        ...(parent?.onParentEnd !== undefined && { onParentEnd: parent.onParentEnd }),
      }

const creation = (birth: Birth, parent: ClaimableId | null): NewStream => {
  const { tenant, definition, systemHash, session, event, lease, now, resourceClaim } = birth
  const { name: handler, placement } = definition
  const index = event !== null && 'index' in event ? event.index : null
  const sequence = event === null || 'index' in event ? null : event.event.sequence
  const version = placement.pin.mode === 'none' ? NO_VERSION : systemHash
  const always = { tenant, handler, systemHash: version, session, parent, event: index, lease, createdAt: now }
  const isPlain = sequence === null && resourceClaim.slots.length === 0 && resourceClaim.priority === 0
  return isPlain ? always : { ...always, ...(sequence !== null && { sequence }), ...demanded(resourceClaim) }
}

const demanded = ({ slots, priority }: ResourceClaim): Pick<NewStream, 'slots' | 'priority'> => ({
  ...(slots.length > 0 && { slots }),
  ...(priority !== 0 && { priority }),
})
