/**
 * Builds the append for a change of a task: its sealed facts, its inbox row, its wake time, its events and signals.
 *
 * Owns the shape of a task's creation and of every later write to it. Never decides anything about the task (model/task/task.ts).
 *
 * task-append-1  The row agrees with the state after the facts.
 * task-append-2  The run that asked is signalled in the same append that gives the task its answer.
 */
import { advanceTask } from '#engine/core/advance.ts'
import { EMPTY_CHAIN, headOf, sealFacts } from '#engine/core/chain.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import type { Outgoing } from '#engine/core/events.ts'
import type { ClaimableId, Instant, TaskId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { OpenTask, TaskFact, TaskState } from '#model/task/fact.ts'
import type { Assignees } from '#model/task/spec.ts'
import { taskWakeAt } from '#model/task/time.ts'
import { inboxRow, taskAnswer } from '#model/task/view.ts'
import type { Append, StreamRecord, StreamWrite, TaskRow } from '#ports/ledger.ts'
import { type Emitted, type TaskPlace, taskEvents } from './events.ts'

export interface TaskChange {
  readonly before: TaskState
  readonly state: TaskState
  readonly facts: readonly TaskFact[]
}

type Settled = Exclude<TaskState, { readonly kind: 'none' }>

const addressesOf = ({ users, groups }: Assignees): readonly string[] => [
  ...users.map((user) => `user:${user}`),
  ...groups.map((group) => `group:${group}`),
]

const rowOf = (context: Pick<EngineContext, 'tenant'>, state: TaskState, updatedAt: Instant): TaskRow | null => {
  const row = inboxRow(state)
  if (row === null) return null
  const { run, step, status, isOpen, type, title, claimedBy, priority, deadlineAt, openedAt, followUps, ...rest } = row
  const { asked, deciders, ...summary } = rest
  return {
    ...{ tenant: context.tenant, run, step, status, isOpen, type, title, claimedBy, priority, deadlineAt, updatedAt },
    addresses: addressesOf(asked),
    createdAt: openedAt,
    putOff: Object.fromEntries(followUps.map(({ by, until }) => [by, until])),
    summary: { ...summary, deciders: addressesOf(deciders) },
  }
}

/** The status of the stream: waiting, or how it ended. */
const statusOf = (state: TaskState): RunStatus => {
  if (state.kind !== 'closed') return 'waiting'
  if (state.end.kind === 'decided') return 'success'
  return state.end.kind === 'expired' ? 'expired' : 'cancelled'
}

const FACTS_PER_CHECKPOINT = 64
const BYTES_PER_FACT = 200

/** Writes a larger checkpoint after more facts, so that checkpoints stay in proportion to the facts. */
const withCheckpoint = ({ state, facts }: TaskChange, record: StreamRecord): readonly TaskFact[] => {
  const known = record.facts.length - 1 - record.facts.findLastIndex(({ type }) => type === 'task.checkpointed')
  const last = facts.at(-1)
  if (last === undefined || known + facts.length < FACTS_PER_CHECKPOINT) return facts
  const { facts: checkpoint } = advanceTask(state, { type: 'checkpoint_task', now: last.at })
  const isWorthIt = (known + facts.length) * BYTES_PER_FACT >= JSON.stringify(checkpoint).length
  return isWorthIt ? [...facts, ...checkpoint] : facts
}

const PLAIN = { release: false, seenSignal: 0, opensWaits: [], closesWaits: [] } as const

/** Builds the write that creates the task. The task is due at its first reminder or deadline. */
export const taskBirth = (
  context: EngineContext,
  place: TaskPlace,
  { state, facts }: TaskChange,
  now: Instant,
): { readonly write: StreamWrite; readonly told: Outgoing } => {
  const sealed = sealFacts(context, place.id, EMPTY_CHAIN, facts)
  const row = rowOf(context, state, now)
  const { handler, session } = place
  const write: StreamWrite = {
    ...PLAIN,
    stream: place.id,
    create: {
      tenant: context.tenant,
      handler,
      systemHash: context.system().hash,
      session,
      parent: (state as OpenTask).run,
      event: null,
      lease: null,
      createdAt: now,
    },
    expectedVersion: 0,
    epoch: null,
    facts: sealed.facts,
    headHash: sealed.head.headHash,
    status: statusOf(state),
    wakeAt: taskWakeAt(state),
    ...(row !== null && { task: row }),
  }
  return { write, told: taskEvents(context, place, { state, facts }, 0) }
}

/** The lease of the worker that holds the task: the write releases it. */
export interface TaskHolder {
  readonly epoch: number
  readonly signal: number
}

export interface TaskAppend {
  readonly append: Omit<Append, 'appendId'>
  readonly told: Outgoing
  readonly wakeAt: Instant | null
}

export const taskAppend = (
  context: EngineContext,
  record: StreamRecord,
  change: TaskChange,
  emitted: readonly Emitted[],
  holder: TaskHolder | null = null,
): TaskAppend => {
  const { state } = change
  const facts = withCheckpoint(change, record)
  const head = headOf(record)
  const sealed = sealFacts(context, record.stream, head, facts)
  const row = facts.length === 0 ? null : rowOf(context, state, sealed.head.lastAt)
  const wakeAt = taskWakeAt(state)
  const own: StreamWrite = {
    ...PLAIN,
    stream: record.stream,
    create: null,
    expectedVersion: record.version,
    epoch: holder?.epoch ?? null,
    facts: sealed.facts,
    headHash: sealed.head.headHash,
    status: statusOf(state),
    wakeAt,
    release: holder !== null,
    // A command from outside has not handled the pending signals: the worker that they wake must do that.
    seenSignal: holder?.signal ?? 0,
    ...(row !== null && { task: row }),
  }
  const place = { id: record.stream as TaskId, handler: record.handler, session: record.session }
  const told = taskEvents(context, place, change, record.version, emitted)
  return {
    append: {
      writes: [own, ...told.runs.map(({ write }) => write)],
      events: told.events,
      signals: isNewAnswer(change) ? signalled(state) : [],
      documents: [],
    },
    told,
    wakeAt,
  }
}

/** task-append-2: true if this change gives the task its answer. */
const isNewAnswer = ({ before, state }: TaskChange): boolean =>
  taskAnswer(before) === null && taskAnswer(state) !== null

const signalled = (state: TaskState): readonly ClaimableId[] => {
  if (state.kind === 'none') return []
  const settled: Settled = state
  return [settled.kind === 'open' ? settled.run : settled.task.run]
}
