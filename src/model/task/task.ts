/**
 * A task: a stream of its own that waits for people. A run's step creates it; one decision, a deadline, or the end of the run closes it.
 *
 * Owns which command is accepted when, and what a deadline does. Submits are in submit.ts, items in choice.ts, permissions in rights.ts, time in
 * time.ts. Never reads a clock; hashes, schemas and identities arrive with the command.
 *
 * task-1  A task closes once; every later command learns who closed it.
 * task-2  Only a person decides, only one to whom it is addressed, and never one who is excluded, at any level.
 * task-3  A decision is bound to the hash of what was shown; an edit or a revision makes a new hash and clears the votes.
 * task-4  Votes of a quorum are from distinct people on the same hash.
 * task-5  A deadline is recorded once per level, a reminder once per level and number, and nothing after the close.
 * task-6  A request with a key is done once.
 * task-7  A decision never ignores a draft of its own author that they have not seen.
 * task-8  An action that must be confirmed is accepted only with the confirmation typed by the person; one with a warning only if they
 *         acknowledged it.
 */
import { canonical } from '#model/kernel/json.ts'
import { type Decision, facts, type Machine, refuse } from '#model/kernel/machine.ts'
import { nameProblem } from '#model/kernel/row-key.ts'
import { outcomeOf } from './choice.ts'
import { type Draft, draftOf, record } from './draft.ts'
import type { ClosedTask, OpenTask, TaskCommand, TaskFact, TaskState } from './fact.ts'
import { evolveTask } from './fold.ts'
import { markedDraft } from './mark.ts'
import { draftRefusal } from './newer-drafts.ts'
import { isInReach, votersNeeded } from './quorum.ts'
import { forbid } from './rights.ts'
import { type Identity, MAX_ESCALATIONS, SYSTEM } from './spec.ts'
import { itemsOf, sectionsProblem, subjectText } from './subject.ts'
import { climb, closedRefusal, submitTo } from './submit.ts'
import { deadlineFrom, dueReminder, isDeadlineDue } from './time.ts'

type CommandOf<Type extends TaskCommand['type']> = Extract<TaskCommand, { readonly type: Type }>
const BECAUSE_LATE = 'deadline'

const open = ({ now, world, run, step, spec, cause }: CommandOf<'open_task'>): Decision<TaskFact> => {
  const problem = sectionsProblem(spec.sections)
  if (problem !== null) return refuse('INPUT_INVALID', problem)
  if (spec.levels.length === 0 || spec.levels.length > MAX_ESCALATIONS + 1)
    return refuse(
      'INPUT_INVALID',
      `a task needs an assignment and can have at most ${MAX_ESCALATIONS} escalation levels`,
    )
  const misnamed = nameProblem(spec.levels.flatMap(({ to }) => [...to.users, ...to.groups]))
  if (misnamed !== null) return refuse('INPUT_INVALID', misnamed)
  if (!isInReach(spec, spec.levels[0]?.to ?? { users: [], groups: [] }))
    return refuse(
      'QUORUM_IMPOSSIBLE',
      `the quorum needs ${votersNeeded(spec)} people who may decide; fewer are assigned`,
    )
  const items = itemsOf(spec.sections, world.digest)
  const hash = world.digest(subjectText({ run, step, spec, items }))
  const deadlineAt = deadlineFrom(spec.levels[0]?.deadline ?? null, now)
  const born = { type: 'task.opened', at: now, run, step, spec, items, hash, deadlineAt } as const
  return facts(cause === undefined ? born : { ...born, cause })
}

const revise = (task: OpenTask, command: CommandOf<'revise_task'>): Decision<TaskFact> => {
  const { now, world, sections, shown, actions } = command
  const problem = sectionsProblem(sections)
  if (problem !== null) return refuse('INPUT_INVALID', problem)
  const items = itemsOf(sections, world.digest)
  const changed = actions === undefined ? {} : { actions }
  const hash = world.digest(subjectText({ ...task, spec: { ...task.spec, ...shown, sections, ...changed }, items }))
  const { title, instructions, context } = task.spec
  const isShown = shown === undefined || canonical({ title, instructions, context }) === canonical({ ...shown })
  const revised = {
    type: 'task.revised',
    at: now,
    revision: task.revision + 1,
    sections,
    items,
    hash,
    ...changed,
  } as const
  return facts(isShown ? revised : { ...revised, shown })
}

/** Records that a person who may decide has seen the task; others leave no trace. Recorded again once the soft lock has expired. */
const view = (task: OpenTask, { now, by }: CommandOf<'view_task'>): Decision<TaskFact> => {
  if (forbid(task, by) !== null) return facts()
  const first = !task.viewedBy.includes(by.id)
  const isLookedAt = task.viewing !== null && task.viewing.until > now
  if (!first && isLookedAt && task.status !== 'pending') return facts()
  return facts({ type: 'task.viewed', at: now, by: by.id, first })
}

const claim = (task: OpenTask, { now, by }: CommandOf<'claim_task'>): Decision<TaskFact> => {
  if (task.claimedBy === by.id) return facts()
  if (task.claimedBy !== null) return refuse('TASK_CLAIMED', `${task.claimedBy} has claimed the task`)
  return facts({ type: 'task.claimed', at: now, by: by.id })
}

const unclaim = (task: OpenTask, { now, by }: CommandOf<'unclaim_task'>): Decision<TaskFact> => {
  if (task.claimedBy === null) return facts()
  if (task.claimedBy !== by.id) return refuse('TASK_CLAIMED', `${task.claimedBy} has claimed the task`)
  return facts({ type: 'task.unclaimed', at: now, by: by.id })
}

const saveDraft = (task: OpenTask, command: CommandOf<'save_draft'>): Decision<TaskFact> => {
  const { now, by, item, content } = command
  if (item !== null && !task.items.some(({ id }) => id === item))
    return refuse('NOT_FOUND', `the task has no item ${item}`)
  const refusal = draftRefusal(task, command)
  return refusal ?? facts({ type: 'task.draft_saved', at: now, by: by.id, item, content })
}

/** Saves drafts like any other, all in one append. */
const markItems = (task: OpenTask, { now, by, items, verdict }: CommandOf<'mark_items'>): Decision<TaskFact> => {
  const unknown = items.find((item) => !task.items.some(({ id }) => id === item))
  if (unknown !== undefined) return refuse('NOT_FOUND', `the task has no item ${unknown}`)
  return facts(
    ...items.flatMap<TaskFact>((item) => {
      const content = markedDraft(task, by.id, item, verdict)
      return content === null ? [] : [{ type: 'task.draft_saved', at: now, by: by.id, item, content }]
    }),
  )
}

const setFollowUp = (_task: OpenTask, { now, by, until }: CommandOf<'set_follow_up'>): Decision<TaskFact> =>
  facts({ type: 'task.follow_up_set', at: now, by: by.id, until })

/** Runs a command that decides nothing: same permissions, and the same refusal when the task is closed. */
const byPerson = <Command extends { readonly by: Identity }>(
  state: OpenTask | ClosedTask,
  command: Command,
  rule: (task: OpenTask, command: Command) => Decision<TaskFact>,
): Decision<TaskFact> => {
  const refusal = forbid(state.kind === 'open' ? state : state.task, command.by)
  if (refusal !== null) return refusal
  return state.kind === 'closed' ? closedRefusal(state) : rule(state, command)
}

/** Performs the action that the author declared for a missed deadline, as the system. */
const actLate = (draft: Draft): void => {
  const { task, now } = draft
  const { autoAction, actions } = task.spec
  if (autoAction === null) return
  if (autoAction === 'expire') return record(draft, { type: 'task.expired', at: now })
  if (autoAction === 'escalate') return climb(draft, { by: SYSTEM, reason: BECAUSE_LATE, request: null })
  const action = actions.find(({ name }) => name === autoAction)
  if (action === undefined) return
  const { name, nextState: status } = action
  const said = { at: now, by: SYSTEM, request: null, action: name, reason: BECAUSE_LATE, fields: {} }
  if (status === 'approved' || status === 'rejected' || status === 'completed') {
    const outcome = outcomeOf(task.items, action, {})
    record(draft, { type: 'task.decided', ...said, status, hash: task.hash, ...outcome })
  } else if (status !== 'revision_requested') record(draft, { type: 'task.acted', ...said, status })
}

/** task-5. A level whose deadline is in the past is passed at once, so there may be several. */
const passTime = (task: OpenTask, { now }: CommandOf<'pass_time'>): Decision<TaskFact> => {
  const draft = draftOf(task, now)
  while (!draft.isClosed && isDeadlineDue(draft.task, now)) {
    record(draft, { type: 'task.timed_out', at: now, level: draft.task.level })
    actLate(draft)
  }
  const n = draft.isClosed ? null : dueReminder(draft.task, now)
  if (n !== null) record(draft, { type: 'task.reminded', at: now, level: draft.task.level, n })
  return facts(...draft.facts)
}

const decideTask = (state: OpenTask | ClosedTask, command: TaskCommand): Decision<TaskFact> => {
  switch (command.type) {
    case 'open_task':
      return facts()
    case 'decide_task':
      return submitTo(state, command)
    case 'claim_task':
      return byPerson(state, command, claim)
    case 'unclaim_task':
      return byPerson(state, command, unclaim)
    case 'save_draft':
      return byPerson(state, command, saveDraft)
    case 'mark_items':
      return byPerson(state, command, markItems)
    case 'set_follow_up':
      return byPerson(state, command, setFollowUp)
    case 'view_task':
      return state.kind === 'open' ? view(state, command) : facts()
    case 'pass_time':
      return state.kind === 'open' ? passTime(state, command) : facts()
    case 'withdraw_task':
      return state.kind === 'open'
        ? facts({ type: 'task.withdrawn', at: command.now, reason: command.reason })
        : facts()
    case 'revise_task':
      return state.kind === 'open' ? revise(state, command) : closedRefusal(state)
    case 'checkpoint_task':
      return facts({ type: 'task.checkpointed', at: command.now, state })
  }
}

export const task: Machine<TaskState, TaskCommand, TaskFact> = {
  initial: { kind: 'none' },

  decide(state, command) {
    if (state.kind !== 'none') return decideTask(state, command)
    return command.type === 'open_task' ? open(command) : refuse('NOT_FOUND', 'the task does not exist')
  },

  evolve: evolveTask,
}
