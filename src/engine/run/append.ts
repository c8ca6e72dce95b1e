/**
 * Builds one append of a run in memory: its sealed facts, its row, its wait rows, and the side writes of its commands.
 *
 * Owns how a decided batch of requests becomes a write. Pure, except for the ids; never knows what happens to the append.
 */
import { type ChainHead, type Sealed, sealFacts } from '#engine/core/chain.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { type LifeRecord, lifecycleOf } from '#engine/core/lifecycle.ts'
import type { SeenEvents } from '#engine/wait/seen-events.ts'
import type { ClaimableId, Instant, TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { calledBy } from '#model/run/child-retry.ts'
import type { LiveRun, RunFact, RunState } from '#model/run/fact.ts'
import { isUntouched, statusOf, wakeAt } from '#model/run/run.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Append, StreamWrite, WaitRow } from '#ports/ledger.ts'
import type { EndingContext } from './declared-end.ts'
import { endingOf } from './ending.ts'
import { withLost } from './lost-children.ts'
import type { NewRun } from './new-run.ts'
import { type Gathered, mergeSideWrites, type SideWrites } from './run-request.ts'

export interface AppendContext {
  readonly record: LifeRecord & { readonly epoch: number }
  readonly head: ChainHead
  /** The state before these requests. */
  readonly before: RunState
  readonly departs: 'ended' | 'parked' | null
  /** Whether its code has been entered since it came into memory. */
  readonly isEntered: boolean
  /** Counts only if the run has no lease when this is written: it parks with this append, or was released before. */
  readonly wakeAt: Instant | null
  readonly seenSignal: number
  /** Children that the run may not have recorded; its end is signalled to them, too. */
  readonly lost: readonly ClaimableId[]
  /** How many events of a type were looked at before a step opens a wait on them. */
  readonly seen: Pick<SeenEvents, 'countOf'>
  /** What the executor reports besides the result. */
  readonly report: { readonly [name: string]: Json }
}

export interface RunAppend {
  readonly append: Append
  readonly sealed: Sealed
  readonly created: readonly NewRun[]
  /** New tasks, to be signalled because they may have deadlines. */
  readonly asked: readonly ClaimableId[]
}

const NONE: readonly never[] = []
const CANCEL_AGAIN_MS = 5_000

/** When the run must be claimed again; for a run that stays in memory, when another worker must claim it if its holder fails. */
export const wakeAfter = (
  state: RunState,
  departs: AppendContext['departs'],
  {
    entry,
    isUntold,
    waitsUntil,
  }: {
    readonly entry: 'none' | 'inside' | 'over'
    readonly isUntold: boolean
    readonly waitsUntil: Instant | null
  },
  now: Instant,
): Instant | null => {
  if (departs === null) return now
  if (departs === 'ended' || state.kind !== 'live') return null
  if (state.cancel !== null) return isUntold ? now + CANCEL_AGAIN_MS : null
  if (state.pause !== null) return wakeAt(state)
  // The code is not running and may be entered: its delay has passed, or a person retried it, while this stay was ending.
  return entry !== 'inside' && state.retryAt === null ? (waitsUntil ?? now) : wakeAt(state)
}

export const runAppend = (
  context: EndingContext & Pick<EngineContext, 'appendId' | 'gates'>,
  gathered: Gathered,
  about: AppendContext,
): RunAppend => {
  const { record, departs } = about
  const sealed = sealFacts(context, record.id, about.head, gathered.facts)
  const { version } = about.head
  const ending = departs === 'ended' ? endingOf(context, record, gathered, version) : null
  const life = lifecycleOf(context, record, gathered, version, about.report)
  const { events, runs, documents, tasks } = mergeSideWrites(
    ending === null && life === null ? gathered.carried : [...gathered.carried, ...sideWritesIn(ending, life)],
  )
  const own = ownWrite(gathered, sealed, about)
  const append: Append = {
    appendId: context.appendId(),
    writes: runs.length === 0 && tasks.length === 0 ? [own] : [own, ...runs.map((run) => run.write), ...tasks],
    events,
    signals: departs === 'ended' ? withLost(streamsToSignal(context, record, gathered.state), about.lost) : NONE,
    documents,
  }
  return {
    append,
    sealed,
    created: runs,
    asked: tasks.length === 0 ? NONE : tasks.map(({ stream }) => stream as TaskId),
  }
}

const sideWritesIn = (...parts: readonly (SideWrites | null)[]): readonly SideWrites[] =>
  parts.filter((part): part is SideWrites => part !== null)

/**
 * Returns the streams to signal with a run's end: its parent, the gate that tracks it, the tasks that it no longer waits for (run-4), and
 * the runs that end with it (parent-end.ts).
 */
export const streamsToSignal = (
  { gates }: Pick<EngineContext, 'gates'>,
  { parent, handler }: { readonly parent: ClaimableId | null; readonly handler: string },
  state: RunState,
): readonly ClaimableId[] => {
  if (state.kind !== 'ended') return parent === null ? NONE : [parent]
  const told = calledAndAsked(state.last)
  // A gate is the parent of the runs that it tracks. After a retry it may track a run that has another parent.
  const gate = state.last.retried === null ? gates.hearsEnd(handler, parent) : gates.gateFor(handler)
  const above = gate === null || gate === parent ? NONE : [gate]
  return parent === null ? [...above, ...told] : [parent, ...above, ...told]
}

const calledAndAsked = (run: LiveRun): readonly ClaimableId[] => {
  const called = calledBy(run)
  return called.length === 0 ? run.tasks : [...new Set([...run.tasks, ...called])]
}

const ownWrite = ({ state, facts }: Gathered, sealed: Sealed, about: AppendContext): StreamWrite => ({
  stream: about.record.id,
  create: null,
  expectedVersion: about.head.version,
  epoch: about.record.epoch,
  facts: sealed.facts,
  headHash: sealed.head.headHash,
  status: statusAfter(state, about),
  wakeAt: about.wakeAt,
  release: about.departs !== null,
  seenSignal: about.seenSignal,
  opensWaits: isWaiting(state) ? opensWaits(facts, state, about.seen) : NONE,
  closesWaits: isWaiting(about.before) ? closesWaits(about.before, facts, state) : NONE,
})

/** A run that parks before it has begun is `queued`. */
const statusAfter = (state: RunState, { departs, isEntered }: AppendContext): RunStatus => {
  const status = statusOf(state, departs === 'parked')
  return status === 'waiting' && !isEntered && state.kind === 'live' && isUntouched(state) ? 'queued' : status
}

/** Whether any step is open. Checked first, so that a run that waits for nothing pays nothing for waits. */
const isWaiting = (state: RunState): state is LiveRun => state.kind === 'live' && state.open.size > 0

const opensWaits = (facts: readonly RunFact[], after: LiveRun, seenEvents: AppendContext['seen']): readonly WaitRow[] =>
  facts.flatMap((fact) => {
    if (fact.type !== 'wait.opened' || !after.open.has(fact.step)) return []
    const { types, match, base } = fact.wait
    const path = match?.path ?? ''
    const value = match?.value ?? ''
    return types.map((type) => ({
      step: fact.step,
      type,
      path,
      value,
      base,
      seen: seenEvents.countOf(fact.step, type),
    }))
  })

/** Returns the steps whose wait rows are to be closed: those that settled with these facts, or all of them at the run's end. */
const closesWaits = (before: LiveRun, facts: readonly RunFact[], after: RunState): readonly string[] => {
  if (after.kind === 'ended') return waitingSteps(before)
  if (after.kind !== 'live') return NONE
  const touched = facts.flatMap((fact) =>
    fact.type === 'wait.received' || fact.type === 'wait.timed_out' ? [fact.step] : [],
  )
  return [...new Set(touched)].filter((step) => before.open.get(step)?.kind === 'waiting' && !after.open.has(step))
}

export const waitingSteps = (state: RunState): readonly string[] =>
  state.kind === 'live' ? state.open.entries().flatMap(([step, open]) => (open.kind === 'waiting' ? [step] : [])) : NONE
