/**
 * Commands that change a run from outside, without its lease: cancel, pause, resume, retry, a person's decision on an uncertain step.
 *
 * Owns the loop: load, decide, append, and again if another writer was faster. Needs no lease and waits for none.
 *
 * outside-1  The command is decided on the state it is written to: a conflict means load and decide again.
 * outside-2  Commands of this process to one run take turns; none is refused because of the others.
 */
import { refusalOfAbsent } from '#engine/coordinators/flow-outcomes.ts'
import { advanceRun } from '#engine/core/advance.ts'
import { triggerOf } from '#engine/core/cause.ts'
import { headOf, sealFacts } from '#engine/core/chain.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { emitsLifecycle, lifecycleOf } from '#engine/core/lifecycle.ts'
import type { RunNotice } from '#engine/core/publish.ts'
import { commitOnce } from '#engine/core/single-append.ts'
import { forEachOwner, pauseAfterConflict, TurnQueue } from '#engine/core/turn-queue.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { ClaimableId, Instant, RunId, TaskId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import type { RunCommand, RunFact, RunState } from '#model/run/fact.ts'
import { isUntouched, run as runMachine, statusOf, wakeAt } from '#model/run/run.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { NewEvent, StreamRecord, StreamWrite } from '#ports/ledger.ts'
import { streamsToSignal, waitingSteps } from './append.ts'
import { causesEndEvents, endingOf } from './ending.ts'
import { unrecordedChildren, withLost } from './lost-children.ts'
import type { NewRun } from './new-run.ts'
import { mergeSideWrites } from './run-request.ts'

const turnsOf = forEachOwner((_: EngineContext) => new TurnQueue<RunId>())

export const externalCommand = (
  context: EngineContext,
  id: RunId,
  /** Null: the facts so far show that there is nothing to do. */
  command: (now: Instant, happened: readonly RunFact[]) => RunCommand | null,
  /** Further writes in the same append. */
  besides: (change: Change) => Promise<readonly StreamWrite[]> = async () => [],
): Promise<readonly RunFact[]> =>
  turnsOf(context).run(id, async () => {
    for (let conflicts = 0; ; await pauseAfterConflict(context, ++conflicts)) {
      const [record] = await context.ledger.load([id])
      if (record == null || record.tenant !== context.tenant) throw await refusalOfAbsent(context, id)
      const now = Math.max(context.clock.now(), headOf(record).lastAt)
      const happened = record.facts.map(readRunFact)
      const given = command(now, happened)
      if (given === null) return []
      const before = fold(runMachine, happened)
      const { state, facts, refusal } = advanceRun(before, given)
      if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
      const change = { before, state, facts, now }
      if (facts.length === 0 || (await write(context, record, change, await besides(change)))) return facts
    }
  })

export interface Change {
  readonly before: RunState
  readonly state: RunState
  readonly facts: readonly RunFact[]
  readonly now: Instant
}

/** False: another writer was faster. */
const write = async (
  context: EngineContext,
  record: StreamRecord,
  change: Change,
  besides: readonly StreamWrite[],
): Promise<boolean> => {
  const { write: own, runs: born, events, signals, notice } = await externalWrite(context, record, change)
  const outcome = await commitOnce(context.commit, {
    appendId: context.appendId(),
    writes: [own, ...besides, ...born.map((run) => run.write)],
    events,
    signals,
    documents: [],
  })
  if (outcome.kind === 'conflict') return false
  context.publish.tell(notice)
  context.worker.signal([...outcome.signalled, notice.run, ...born.map((run) => run.id)])
  return true
}

/** The content of an append that changes a run from outside, and the notice to publish afterwards. */
export interface ExternalWrite {
  readonly write: StreamWrite
  readonly runs: readonly NewRun[]
  readonly events: readonly NewEvent[]
  readonly signals: readonly ClaimableId[]
  readonly notice: RunNotice
}

export const externalWrite = async (
  context: EngineContext,
  record: StreamRecord,
  change: Change,
): Promise<ExternalWrite> => {
  const { state, facts, now } = change
  const id = record.stream as RunId
  const sealed = sealFacts(context, id, headOf(record), facts)
  const ended = state.kind === 'ended'
  const ending = ended ? await endingFor(context, record, change) : null
  const write = {
    stream: id,
    create: null,
    expectedVersion: record.version,
    epoch: null,
    facts: sealed.facts,
    headHash: sealed.head.headHash,
    ...restOf(record, state, now),
    release: false,
    seenSignal: record.signal,
    opensWaits: [],
    closesWaits: ended ? waitingSteps(change.before) : [],
  }
  const { handler } = record
  return {
    write,
    runs: ending?.runs ?? [],
    events: ending?.events ?? [],
    signals: ended
      ? withLost(
          streamsToSignal(context, record, state),
          record.recoveries > 0 ? await unrecordedChildren(context, id) : [],
        )
      : noLongerAsked(change),
    notice: { run: id, handler, status: statusOf(state, true), version: sealed.head.version, facts },
  }
}

/**
 * A run that has not ended must be claimed now, to stop children, to go on or to begin again; unless a person has paused it, or it was
 * to begin later and nothing of it has begun.
 */
const restOf = (
  record: StreamRecord,
  state: RunState,
  now: Instant,
): { readonly status: RunStatus; readonly wakeAt: Instant | null } => {
  const status = statusOf(state, record.lease === null)
  if (state.kind !== 'live') return { status, wakeAt: null }
  const isHeld = state.pause !== null && state.cancel === null
  if (isUntouched(state) && state.cancel === null && record.wakeAt !== null && record.wakeAt > now)
    return { status: isHeld ? status : 'queued', wakeAt: record.wakeAt }
  return { status, wakeAt: isHeld ? wakeAt(state) : now }
}

/** Tasks whose question this change has answered: once signalled, they find that no run waits for them. */
const noLongerAsked = ({ before, state }: Change): readonly TaskId[] => {
  if (before.kind !== 'live' || state.kind !== 'live') return []
  return before.tasks.filter((task) => !state.tasks.includes(task))
}

/** ending-1: also for a run that no worker holds. */
const endingFor = async (
  context: EngineContext,
  record: StreamRecord,
  change: Change,
): Promise<ReturnType<typeof mergeSideWrites> | null> => {
  if (!causesEndEvents(context, record.handler, change) && !emitsLifecycle(context, record.handler, change)) return null
  const trigger = triggerOf(record, change.state)
  const sequences = trigger === null ? [] : [trigger]
  const [event] =
    sequences.length === 0 ? [] : await context.ledger.events({ tenant: context.tenant, sequences, limit: 1 })
  const { handler, session, parent, version } = record
  const caused = { id: record.stream as RunId, handler, session, parent, event: event ?? null }
  const parts = [endingOf(context, caused, change, version), lifecycleOf(context, caused, change, version)]
  return mergeSideWrites(parts.filter((part) => part !== null))
}
