/**
 * The events of a task: the lifecycle events of people's work, those of bundles, and the event that an action is declared to emit.
 *
 * Owns which fact becomes which event, and the events' data. Events are written with their fact or not at all. People's actions are rare,
 * so their events are emitted even without a listener.
 *
 * task-events-1  The id of an event is derived from the fact that it reports: a fact never emits an event twice.
 * task-events-2  An action of a person begins a new chain of causes; an action of a timer or the system continues the run's chain.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { checkEvent, type Outgoing, routeAll } from '#engine/core/events.ts'
import { compileValue } from '#manifest/expressions/values.ts'
import type { Cause, Event } from '#model/event/event.ts'
import type { SessionId, TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { humanOutcomeMembers } from '#model/run/outcome.ts'
import type { OpenTask, TaskFact, TaskState } from '#model/task/fact.ts'
import { SYSTEM, type TaskAction } from '#model/task/spec.ts'
import { decisionData, type TaskAnswer, taskAnswer } from '#model/task/view.ts'

/** Where a task belongs: every event of the task names this. */
export interface TaskPlace {
  readonly id: TaskId
  readonly handler: string
  readonly session: SessionId | null
}

interface Told {
  readonly type: string
  readonly data: { readonly [name: string]: Json }
}

/** An event that an action emits, and the index of its fact in the change. */
export interface Emitted {
  readonly index: number
  readonly type: string
  readonly data: Json
}

interface Change {
  readonly state: TaskState
  readonly facts: readonly TaskFact[]
}

const openOf = (state: TaskState): OpenTask | null => {
  if (state.kind === 'none') return null
  return state.kind === 'open' ? state : state.task
}

const actionOf = (fact: TaskFact): string | null =>
  fact.type === 'task.decided' || fact.type === 'task.acted' || fact.type === 'task.revision_requested'
    ? fact.action
    : null

/** The data of the author's events: the task's answer if there is one, otherwise the data of the fact. */
const dataOf = (place: Pick<TaskPlace, 'id'>, { state }: Change, fact: TaskFact): { readonly [name: string]: Json } => {
  const answer = taskAnswer(state)
  if (answer !== null) return decisionData(place.id, answer) as { readonly [name: string]: Json }
  const { by, reason = null, fields = {} } = fact as { by?: string; reason?: string | null; fields?: Json }
  const acted = { decision: actionOf(fact) ?? '', modifications: null, feedback: reason, decidedBy: by ?? null }
  return { bundle_id: place.id, ...humanOutcomeMembers({ ...acted, decidedAt: fact.at }), fields }
}

/** The roots for the author's own payload: also the context and the items, which are too large for every event. */
const rootsOf = (data: { readonly [name: string]: Json }, { state }: Change): { readonly [root: string]: Json } => {
  const items = taskAnswer(state)?.items ?? []
  const task = { ...data, context: openOf(state)?.spec.context ?? null, items: items.map((item) => ({ ...item })) }
  return { task, payload: data }
}

const payloadOf = (action: TaskAction, data: { readonly [name: string]: Json }, change: Change): Json =>
  action.eventPayload === null ? data : compileValue(action.eventPayload, ['task', 'payload'])(rootsOf(data, change))

/** Returns the events that actions emit. Throws if one may not be sent: then nothing of the action is written. */
export const emittedByActions = async (
  engine: Pick<EngineContext, 'system'>,
  place: Pick<TaskPlace, 'id' | 'handler'>,
  change: Change,
): Promise<readonly Emitted[]> => {
  const emitted: Emitted[] = []
  for (const [index, fact] of change.facts.entries()) {
    const action = openOf(change.state)?.spec.actions.find(({ name }) => name === actionOf(fact))
    if (action == null || action.emits === null) continue
    const data = payloadOf(action, dataOf(place, change, fact), change)
    const byPerson = 'by' in fact && fact.by !== SYSTEM
    await checkEvent(engine, action.emits, data, { kind: 'task', handler: place.handler, byPerson })
    emitted.push({ index, type: action.emits, data })
  }
  return emitted
}

const bundleWord = (fact: TaskFact): string | null => {
  switch (fact.type) {
    case 'task.opened':
      return 'created'
    case 'task.viewed':
      return fact.first ? 'viewed' : null
    case 'task.reassigned':
      return 'reassigned'
    case 'task.revision_requested':
      return 'revision_requested'
    case 'task.decided':
      return fact.status === 'rejected' ? 'rejected' : 'approved'
    case 'task.expired':
      return 'expired'
    default:
      return null
  }
}

const decidedData = (answer: TaskAnswer | null, fact: Extract<TaskFact, { readonly type: 'task.decided' }>) => ({
  ...humanOutcomeMembers({
    ...{ decision: fact.action, modifications: answer?.modifications ?? null, feedback: fact.reason },
    ...{ decidedBy: fact.by, decidedAt: fact.at },
  }),
  status: fact.status,
  fields: fact.fields,
  approved: fact.approved,
  rejected: fact.rejected,
  partial: answer?.partial ?? false,
})

/** The assignees of a level and its deadline. The task may already be at the next level. */
const askedAt = (state: TaskState, level: number): { readonly [name: string]: Json } => {
  const task = openOf(state)
  const isThere = task?.level === level
  return {
    assignees: assignees(isThere ? task.asked : task?.spec.levels[level]?.to),
    deadline: isThere ? task.deadlineAt : null,
  }
}

/** Returns the lifecycle event of the human modality for this fact; null if the fact has none. */
const humanEvent = (state: TaskState, fact: TaskFact): Told | null => {
  switch (fact.type) {
    case 'task.opened':
      return {
        type: 'human.assigned',
        data: { assignees: assignees(fact.spec.levels[0]?.to), deadline: fact.deadlineAt },
      }
    case 'task.reassigned':
      return {
        type: 'human.assigned',
        data: { assignees: assignees(fact.to), deadline: openOf(state)?.deadlineAt ?? null },
      }
    case 'task.escalated':
      return {
        type: 'human.assigned',
        data: { assignees: assignees(fact.to), deadline: fact.deadlineAt, level: fact.level },
      }
    case 'task.viewed':
      return fact.first ? { type: 'human.viewed', data: { by: fact.by } } : null
    case 'task.decided':
      return { type: 'human.decided', data: decidedData(taskAnswer(state), fact) }
    case 'task.timed_out':
      return { type: 'human.timed_out', data: { ...askedAt(state, fact.level), level: fact.level } }
    case 'task.reminded':
      return { type: 'human.reminded', data: { ...askedAt(state, fact.level), level: fact.level, n: fact.n } }
    case 'task.withdrawn':
      return { type: 'human.withdrawn', data: { reason: fact.reason } }
    default:
      return null
  }
}

const assignees = (to: { readonly users: readonly string[]; readonly groups: readonly string[] } | undefined): Json =>
  to === undefined ? { users: [], groups: [] } : { users: to.users, groups: to.groups }

const toldBy = (state: TaskState, fact: TaskFact): readonly Told[] => {
  const human = humanEvent(state, fact)
  const isBundle = (openOf(state)?.items.length ?? 0) > 0
  const word = isBundle ? bundleWord(fact) : null
  const bundle = word === null ? [] : [{ type: `approval_bundle.${word}`, data: human?.data ?? {} }]
  return [...(human === null ? [] : [human]), ...bundle]
}

const causeOf = ({ id }: TaskPlace, task: OpenTask | null, fact: TaskFact): Cause => {
  const own = task?.cause ?? { correlationId: id, causationId: null, traceparent: null, hops: 0, chain: [] }
  const isPerson = 'by' in fact && fact.by !== SYSTEM
  return { ...own, causationId: id, ...(isPerson && { hops: 0, chain: [] }) }
}

/** `version`: the task's version before these facts. */
export const taskEvents = (
  engine: EngineContext,
  place: TaskPlace,
  { state, facts }: Change,
  version: number,
  emitted: readonly Emitted[] = [],
): Outgoing => {
  const task = openOf(state)
  const { id, handler, session } = place
  const about = { run_id: task?.run ?? null, step_id: task?.step ?? null, session_id: session, handler }
  const events = facts.flatMap((fact, index) => {
    const base = { tenant: engine.tenant, source: `human:${task?.spec.name ?? handler}`, subject: id, time: fact.at }
    const cause = causeOf(place, task, fact)
    const event = (type: string, data: Json): Event => ({
      ...base,
      ...cause,
      id: `${id}/${version + index}/${type}`,
      type,
      data,
    })
    const own = toldBy(state, fact).map(({ type, data }) =>
      event(type, { ...about, modality: 'human', attempt: task?.revision ?? 1, task_id: id, ...data }),
    )
    return [...own, ...emitted.filter((one) => one.index === index).map(({ type, data }) => event(type, data))]
  })
  return routeAll(engine, events)
}
