/**
 * What a task tells: the lifecycle events of people's work, those of bundles, and the event that an action was declared to emit.
 *
 * Owns which fact becomes which event and their data. All of them are written with the fact, or not at all; what people do is rare, so
 * they are told whether or not anybody listens.
 *
 * task-events-1  An event is named by the fact that it reports: the same fact never tells twice.
 * task-events-2  What a person does begins a new chain of causes; what time or the system does goes on with the run's.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { checkEvent, type Outgoing, routeAll } from '#engine/core/events.ts'
import { compileValue } from '#manifest/expressions/values.ts'
import type { Cause, Event } from '#model/event/event.ts'
import type { SessionId, TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { humanWords } from '#model/run/outcome.ts'
import type { OpenTask, TaskFact, TaskState } from '#model/task/fact.ts'
import { SYSTEM, type TaskAction } from '#model/task/spec.ts'
import { decisionData, type TaskAnswer, taskAnswer } from '#model/task/view.ts'

/** Where a task stands: what every event it tells names. */
export interface TaskPlace {
  readonly id: TaskId
  readonly handler: string
  readonly session: SessionId | null
}

interface Told {
  readonly type: string
  readonly data: { readonly [name: string]: Json }
}

/** An event that an action emits, and the place of its fact in the change. */
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

/** What the author's events are filled in with: the task's answer as far as it has one. */
const dataOf = (place: Pick<TaskPlace, 'id'>, { state }: Change, fact: TaskFact): { readonly [name: string]: Json } => {
  const answer = taskAnswer(state)
  if (answer !== null) return decisionData(place.id, answer) as { readonly [name: string]: Json }
  const { by, reason = null, fields = {} } = fact as { by?: string; reason?: string | null; fields?: Json }
  const acted = { decision: actionOf(fact) ?? '', modifications: null, feedback: reason, decidedBy: by ?? null }
  return { bundle_id: place.id, ...humanWords({ ...acted, decidedAt: fact.at }), fields }
}

/** What the author's own payload may speak of besides: what was decided on, which is too much for every event. */
const rootsOf = (data: { readonly [name: string]: Json }, { state }: Change): { readonly [root: string]: Json } => {
  const items = taskAnswer(state)?.items ?? []
  const task = { ...data, context: openOf(state)?.spec.context ?? null, items: items.map((item) => ({ ...item })) }
  return { task, payload: data }
}

const payloadOf = (action: TaskAction, data: { readonly [name: string]: Json }, change: Change): Json =>
  action.eventPayload === null ? data : compileValue(action.eventPayload, ['task', 'payload'])(rootsOf(data, change))

/** Refuses what may not be sent: then nothing of the act is written. */
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
  ...humanWords({
    ...{ decision: fact.action, modifications: answer?.modifications ?? null, feedback: fact.reason },
    ...{ decidedBy: fact.by, decidedAt: fact.at },
  }),
  status: fact.status,
  fields: fact.fields,
  approved: fact.approved,
  rejected: fact.rejected,
  partial: answer?.partial ?? false,
})

/** Who was asked at a level. The task may stand on the next one by now. */
const askedAt = (state: TaskState, level: number): { readonly [name: string]: Json } => {
  const task = openOf(state)
  const isThere = task?.level === level
  return {
    assignees: assignees(isThere ? task.asked : task?.spec.levels[level]?.to),
    deadline: isThere ? task.deadlineAt : null,
  }
}

/** The word of the modality; null: this fact is nobody's business outside. */
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

/** `version` is the task's before these facts. */
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
