/**
 * One submit of one person: checked in a fixed order, then a vote, a decision, or an action that leaves the task open.
 *
 * Owns the order of checks and what closes a task. The caller has checked the person's identity and whether they may see the task.
 */
import { type Decision, facts, type Refusal, refuse } from '#model/kernel/machine.ts'
import { nameProblem } from '#model/kernel/row-key.ts'
import { agreed, editsOf, outcomeOf } from './choice.ts'
import { type Draft, draftOf, record } from './draft.ts'
import type { ClosedTask, Edit, OpenTask, Submit, TaskFact } from './fact.ts'
import { unseenRefusal } from './newer-drafts.ts'
import { isClosing, isInReach, quorumFor, votersAmong, votersNeeded } from './quorum.ts'
import { forbid } from './rights.ts'
import { type Assignees, MAX_REASSIGNS, type TaskAction } from './spec.ts'
import { applyEdits, subjectText } from './subject.ts'
import { deadlineFrom } from './time.ts'

/** Actions that do not consent to the content. */
const isHandOver = ({ name }: TaskAction): boolean => name === 'reassign' || name === 'escalate'

export const closedRefusal = ({ status, end }: ClosedTask): Refusal =>
  refuse(
    'TASK_CLOSED',
    end.kind === 'decided' ? `${end.by} closed the task with ${end.action}: ${status}` : `the task is ${status}`,
  )

/** The outcome of a repeated request; null: the request is new. */
const repeated = ({ requests }: OpenTask, { request }: Submit): Decision<TaskFact> | null => {
  const first = request === null ? undefined : requests.find(({ key }) => key === request.key)
  if (first === undefined) return null
  return first.hash === request?.hash
    ? facts()
    : refuse('IDEMPOTENCY_MISMATCH', `the key ${first.key} was used for another decision`)
}

const isMissing = (fields: Submit['fields'], name: string): boolean =>
  !Object.hasOwn(fields, name) || fields[name] === null || fields[name] === ''

const splitTargets = (to: Submit['to']): Assignees => ({
  users: to.flatMap(({ kind, id }) => (kind === 'user' ? id : [])),
  groups: to.flatMap(({ kind, id }) => (kind === 'group' ? id : [])),
})

/** task-9. */
const quorumRefusal = ({ spec, votes }: OpenTask, to: Submit['to']): Refusal | null => {
  const people = splitTargets(to)
  const voted = votes.map(({ by }) => by)
  if (isInReach(spec, people, voted)) return null
  const left = votersAmong(people, { excluded: spec.excluded, voted })
  return refuse('QUORUM_IMPOSSIBLE', `the quorum needs ${votersNeeded(spec)} people; ${left} would be left`)
}

const targetRefusal = (task: OpenTask, { to }: Submit): Refusal | null => {
  const machine = to.find(({ kind }) => kind === 'agent' || kind === 'service')
  const excluded = to.find(({ kind, id }) => kind === 'user' && task.spec.excluded.includes(id))
  if (task.reassigned >= MAX_REASSIGNS)
    return refuse('ACTION_NOT_ALLOWED', `a task can be reassigned at most ${MAX_REASSIGNS} times`)
  if (to.length === 0) return refuse('FIELDS_REQUIRED', 'to is missing: name the user or group for the task')
  const misnamed = nameProblem(to.map(({ id }) => id))
  if (misnamed !== null) return refuse('INPUT_INVALID', misnamed)
  if (machine !== undefined)
    return refuse('ACTION_NOT_ALLOWED', `${machine.id} is of kind ${machine.kind}, not a person`)
  if (excluded !== undefined) return refuse('SEPARATION_OF_DUTIES', `${excluded.id} may not decide this task`)
  return quorumRefusal(task, to)
}

const actionRefusal = (task: OpenTask, { by, action: name }: Submit): Refusal | TaskAction => {
  const action = task.spec.actions.find((entry) => entry.name === name)
  const known = task.spec.actions.map((entry) => entry.name).join(', ')
  if (action === undefined)
    return refuse('ACTION_NOT_ALLOWED', `"${name}" is not an action of the task; expected one of ${known}`)
  if (task.status === 'revision_requested')
    return refuse('ACTION_NOT_ALLOWED', 'a revision was requested; decide when it has arrived')
  // The first vote counts; an edit makes a new subject, which has no votes.
  if (action.terminal && action.name !== 'edit' && task.votes.some((vote) => vote.by === by.id))
    return refuse('ACTION_NOT_ALLOWED', `${by.id} has already voted; the first vote counts`)
  if (action.name === 'escalate' && task.level + 1 >= task.spec.levels.length)
    return refuse('ESCALATION_EXHAUSTED', `level ${task.level} is the last one`)
  return action
}

/** task-8. */
const confirmRefusal = ({ name, confirm, warning }: TaskAction, submit: Submit): Refusal | null => {
  if (warning !== undefined && submit.acknowledged !== true) return refuse('WARNING_NOT_ACKNOWLEDGED', warning)
  if (confirm === undefined || submit.confirm?.trim() === confirm) return null
  return refuse('CONFIRMATION_REQUIRED', `to confirm ${name}, type "${confirm}"`)
}

const formRefusal = (task: OpenTask, action: TaskAction, submit: Submit): Refusal | null => {
  if (action.requiresReason && (submit.reason ?? '').trim() === '')
    return refuse('REASON_REQUIRED', `${action.name} needs a reason`)
  const unconfirmed = confirmRefusal(action, submit)
  if (unconfirmed !== null) return unconfirmed
  const missing = action.requiredFields.filter((name) => isMissing(submit.fields, name))
  if (missing.length > 0) return refuse('FIELDS_REQUIRED', `missing: ${missing.join(', ')}`)
  if (action.name === 'reassign') return targetRefusal(task, submit)
  const problem = action.fieldsSchema === null ? null : submit.world.misfit(action.fieldsSchema, submit.fields)
  return problem === null ? null : refuse('MODIFICATION_INVALID', `fields: ${problem}`)
}

interface Checked {
  readonly kind: 'checked'
  readonly action: TaskAction
  readonly edits: readonly Edit[]
}

const checkContent = (task: OpenTask, submit: Submit): Checked | Refusal => {
  const named = task.spec.actions.find(({ name }) => name === submit.action)
  const isBound = named === undefined || !isHandOver(named) || submit.shownHash !== null
  if (isBound && submit.shownHash !== task.hash)
    return refuse('STALE_VIEW', `revision ${task.revision} with hash ${task.hash} is in force`)
  const action = actionRefusal(task, submit)
  if ('kind' in action) return action
  const formed = formRefusal(task, action, submit)
  if (formed !== null) return formed
  const edits = editsOf(task, action, submit)
  if ('kind' in edits) return edits
  return (isBound ? unseenRefusal(task, action, submit) : null) ?? { kind: 'checked', action, edits }
}

/** Escalates to the next level, if there is one. */
export const climb = (
  draft: Draft,
  { by, reason, request }: { readonly by: string; readonly reason: string; readonly request: Submit['request'] },
): void => {
  const { task, now } = draft
  const next = task.spec.levels[task.level + 1]
  if (next === undefined) return
  const deadlineAt = deadlineFrom(next.deadline, now)
  const level = task.level + 1
  record(draft, { type: 'task.escalated', at: now, by, request, level, to: next.to, reason, deadlineAt })
}

const leaveOpen = (draft: Draft, action: TaskAction, submit: Submit): void => {
  const { reason, fields, request } = submit
  const asked = { at: draft.now, by: submit.by.id, request }
  if (action.name === 'reassign')
    return record(draft, { type: 'task.reassigned', ...asked, to: splitTargets(submit.to), reason })
  if (action.name === 'escalate') return climb(draft, { by: asked.by, reason: reason ?? '', request })
  const said = { ...asked, action: action.name, reason, fields }
  if (action.nextState === 'revision_requested') return record(draft, { type: 'task.revision_requested', ...said })
  if (!isClosing(action.nextState)) record(draft, { type: 'task.acted', ...said, status: action.nextState })
}

const change = (draft: Draft, edits: readonly Edit[], { by, world }: Submit): void => {
  if (edits.length === 0) return
  const { items, hash } = draft.task
  const next = world.digest(subjectText({ ...draft.task, items: applyEdits(items, edits) }))
  record(draft, { type: 'task.edited', at: draft.now, by: by.id, edits, previousHash: hash, hash: next })
}

const closeOrVote = (draft: Draft, { action, edits }: Checked, submit: Submit): void => {
  const { nextState: outcome, name } = action
  if (!isClosing(outcome)) return
  change(draft, edits, submit)
  const { now, task } = draft
  const { reason, fields, request, by } = submit
  const said = {
    ...{ at: now, by: by.id, action: name, reason, hash: task.hash, request },
    ...(action.warning !== undefined && { acknowledged: true as const }),
  }
  const own = outcomeOf(task.items, action, submit.items)
  const quorum = quorumFor(task.spec.quorum, outcome)
  if (quorum <= 1) return record(draft, { type: 'task.decided', ...said, status: outcome, fields, ...own })
  record(draft, { type: 'task.voted', ...said, outcome, ...own })
  const votes = draft.task.votes.filter((vote) => vote.outcome === outcome)
  if (votes.length >= quorum)
    record(draft, { type: 'task.decided', ...said, request: null, status: outcome, fields, ...agreed(votes) })
}

export const submitTo = (state: OpenTask | ClosedTask, submit: Submit): Decision<TaskFact> => {
  const task = state.kind === 'open' ? state : state.task
  const refusal = forbid(task, submit.by)
  if (refusal !== null) return refusal
  const again = repeated(task, submit)
  if (again !== null) return again
  if (state.kind === 'closed') return closedRefusal(state)
  const checked = checkContent(state, submit)
  if (checked.kind === 'refused') return checked
  const draft = draftOf(state, submit.now)
  if (checked.action.terminal) closeOrVote(draft, checked, submit)
  else leaveOpen(draft, checked.action, submit)
  return facts(...draft.facts)
}
