/**
 * Applies facts to the state of a task.
 *
 * Owns evolve. Never decides: that is task.ts and the files next to it.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { ClosedTask, OpenTask, RequestKey, TaskFact, TaskItem, TaskState, Vote } from './fact.ts'
import { draftRevision } from './newer-drafts.ts'
import { withoutVotes } from './quorum.ts'
import type { Assignees } from './spec.ts'
import { applyEdits } from './subject.ts'

type FactOf<Type extends TaskFact['type']> = Extract<TaskFact, { readonly type: Type }>

const KEPT_REQUESTS = 100
const SOFT_LOCK_MS = 5 * 60_000

const born = ({ run, step, spec, items, hash, deadlineAt, at, cause }: FactOf<'task.opened'>): OpenTask => {
  const to = spec.levels[0]?.to ?? { users: [], groups: [] }
  return {
    kind: 'open',
    run,
    step,
    spec,
    cause: cause ?? null,
    openedAt: at,
    status: 'pending',
    revision: 1,
    awaited: null,
    items,
    edits: [],
    hash,
    asked: to,
    deciders: to,
    level: 0,
    escalation: null,
    reachedAt: at,
    deadlineAt,
    timedOut: false,
    reminded: 0,
    reassigned: 0,
    claimedBy: null,
    viewing: null,
    viewedBy: [],
    drafts: [],
    followUps: [],
    votes: [],
    requests: [],
  }
}

const union = (one: readonly string[], other: readonly string[]): readonly string[] => [...new Set([...one, ...other])]

const both = (one: Assignees, other: Assignees): Assignees => ({
  users: union(one.users, other.users),
  groups: union(one.groups, other.groups),
})

const view = (task: OpenTask, { by, at }: FactOf<'task.viewed'>): OpenTask => ({
  ...task,
  status: task.status === 'pending' ? 'in_review' : task.status,
  viewing: { by, until: at + SOFT_LOCK_MS },
  viewedBy: union(task.viewedBy, [by]),
})

const saveDraft = (task: OpenTask, { by, item, content, at }: FactOf<'task.draft_saved'>): OpenTask => {
  const others = task.drafts.filter((draft) => draft.by !== by || draft.item !== item)
  const saved = draftRevision(task, by) + 1
  return { ...task, drafts: [...others, { by, item, content, savedAt: at, revision: task.revision, saved }] }
}

const followUp = (task: OpenTask, { by, until }: FactOf<'task.follow_up_set'>): OpenTask => {
  const others = task.followUps.filter((entry) => entry.by !== by)
  return { ...task, followUps: until === null ? others : [...others, { by, until }] }
}

/** Removes the claim and the soft lock. */
const handOver = (task: OpenTask): OpenTask => ({ ...task, status: 'pending', claimedBy: null, viewing: null })

const escalate = (task: OpenTask, fact: FactOf<'task.escalated'>): OpenTask => ({
  ...handOver(task),
  level: fact.level,
  asked: fact.to,
  deciders: both(task.deciders, fact.to),
  escalation: { by: fact.by, reason: fact.reason },
  reachedAt: fact.at,
  deadlineAt: fact.deadlineAt,
  timedOut: false,
  reminded: 0,
})

const edit = (task: OpenTask, { edits, by, hash }: FactOf<'task.edited'>): OpenTask => ({
  ...task,
  items: applyEdits(task.items, edits),
  edits: [...task.edits, ...edits.map((entry) => ({ ...entry, by }))],
  hash,
  ...withoutVotes(task),
})

const voteOf = ({ by, at, action, outcome, hash, approved, rejected, reason }: FactOf<'task.voted'>): Vote => ({
  by,
  at,
  action,
  outcome,
  hash,
  approved,
  rejected,
  reason,
})

/** The time that a revision took is added to the deciders' time. */
const revise = (task: OpenTask, fact: FactOf<'task.revised'>): OpenTask => {
  const { at, revision, sections, items, hash, shown, actions = task.spec.actions } = fact
  const tookMs = task.awaited === null ? 0 : Math.max(0, at - task.awaited.at)
  const later = (instant: Instant): Instant => instant + tookMs
  return {
    ...task,
    spec: { ...task.spec, ...shown, sections, actions },
    status: 'pending',
    revision,
    awaited: null,
    items,
    edits: [],
    hash,
    reachedAt: later(task.reachedAt),
    deadlineAt: task.deadlineAt === null ? null : later(task.deadlineAt),
    viewing: null,
    ...withoutVotes(task),
  }
}

const settle = (item: TaskItem, { status, approved, rejected }: FactOf<'task.decided'>): TaskItem => {
  const isRejected = rejected.includes(item.id) || (item.kind === 'document' && status === 'rejected')
  const isApproved = approved.includes(item.id) || (item.kind === 'document' && status === 'approved')
  if (isRejected) return { ...item, status: 'rejected' }
  return isApproved && item.status !== 'edited' ? { ...item, status: 'approved' } : item
}

const close = (task: OpenTask, fact: FactOf<'task.decided'>): ClosedTask => {
  const { by, at, action, status, reason, fields, hash, approved, rejected, acknowledged } = fact
  const verdict = { by, at, action, status, reason, fields, hash, approved, rejected }
  return {
    kind: 'closed',
    status,
    task: { ...task, items: task.items.map((item) => settle(item, fact)) },
    end: { kind: 'decided', ...verdict, ...(acknowledged === true && { acknowledged }) },
  }
}

const evolveOpen = (task: OpenTask, fact: TaskFact): TaskState => {
  switch (fact.type) {
    case 'task.opened':
      return task
    case 'task.viewed':
      return view(task, fact)
    case 'task.claimed':
      return { ...task, claimedBy: fact.by }
    case 'task.unclaimed':
      return { ...task, claimedBy: null }
    case 'task.draft_saved':
      return saveDraft(task, fact)
    case 'task.follow_up_set':
      return followUp(task, fact)
    case 'task.reassigned':
      return { ...handOver(task), asked: fact.to, deciders: fact.to, reassigned: task.reassigned + 1 }
    case 'task.escalated':
      return escalate(task, fact)
    case 'task.reminded':
      return { ...task, reminded: fact.n }
    case 'task.timed_out':
      return { ...task, timedOut: true }
    case 'task.edited':
      return edit(task, fact)
    case 'task.voted':
      return { ...task, votes: [...task.votes, voteOf(fact)] }
    case 'task.acted':
      return { ...task, status: fact.status }
    case 'task.revision_requested': {
      const { at, by, action, reason } = fact
      return { ...task, status: 'revision_requested', awaited: { at, by, action, reason } }
    }
    case 'task.revised':
      return revise(task, fact)
    case 'task.decided':
      return close(task, fact)
    case 'task.expired':
      return { kind: 'closed', status: 'expired', task, end: { kind: 'expired', at: fact.at } }
    case 'task.withdrawn': {
      const { at, reason } = fact
      return { kind: 'closed', status: 'withdrawn', task, end: { kind: 'withdrawn', at, reason } }
    }
    case 'task.checkpointed':
      return fact.state
  }
}

const keepRequest = (state: TaskState, request: RequestKey | null): TaskState => {
  if (request === null || state.kind === 'none') return state
  const kept = (task: OpenTask): OpenTask => ({ ...task, requests: [...task.requests, request].slice(-KEPT_REQUESTS) })
  return state.kind === 'open' ? kept(state) : { ...state, task: kept(state.task) }
}

export const evolveTask = (state: TaskState, fact: TaskFact): TaskState => {
  if (fact.type === 'task.checkpointed') return fact.state
  if (state.kind === 'none') return fact.type === 'task.opened' ? born(fact) : state
  if (state.kind === 'closed') return state
  const next = evolveOpen(state, fact)
  return 'request' in fact ? keepRequest(next, fact.request) : next
}
