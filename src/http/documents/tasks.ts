/** Schemas of tasks on the wire: a row of an inbox, a task in full, and what a person sends about it. */
import {
  anything,
  closed,
  described,
  instant,
  list,
  mapOf,
  orNull,
  record,
  ref,
  text,
  whole,
  words,
  yesNo,
} from '#http/openapi/schema.ts'
import { INBOX_VIEWS } from '#model/task/inbox-view.ts'
import { OPEN_STATUSES } from '#model/task/spec.ts'
import { HUMAN_OUTCOME } from './outcomes.ts'

export const OPEN = OPEN_STATUSES
export const CLOSED = ['approved', 'rejected', 'completed', 'expired', 'withdrawn'] as const
export const TYPES = ['approval', 'input', 'review', 'decision'] as const
const ORIGINS = ['human', 'tool_approval', 'question', 'escalation', 'uncertain', 'loop'] as const
export const ITEM_VERDICTS = ['approved', 'rejected', 'edited'] as const

const head = {
  id: text,
  run_id: text,
  step_id: text,
  type: ref('TaskType'),
  title: text,
  status: ref('TaskStatus'),
  is_open: yesNo,
  claimed_by: orNull(text),
  deadline: orNull(instant),
  level: whole,
}

const end = record({
  ...HUMAN_OUTCOME,
  fields: described('what was filled in; empty: nothing', mapOf(anything)),
})

export const taskComponents = {
  TaskType: words(TYPES),
  TaskStatus: words([...OPEN, ...CLOSED]),
  TaskCounts: record({
    ...Object.fromEntries(OPEN.map((status) => [status, whole])),
    more: described(
      'statuses with more tasks than were counted: of these there are at least so many',
      list(ref('TaskStatus')),
    ),
  }),
  TaskOrigin: words(ORIGINS),
  TaskSummary: record({
    ...head,
    assignees: described('user:ana, group:editors', list(text)),
    priority: whole,
    is_overdue: yesNo,
    created_at: instant,
    updated_at: instant,
    decision: orNull(text),
    decided_by: orNull(text),
    decided_at: orNull(instant),
    items: described('how many it has', whole),
    edited: described('how many of them people have changed', whole),
    origin: ref('TaskOrigin'),
    requester: described('who wanted it, if a person did', orNull(text)),
    escalation_reason: orNull(text),
    viewing: described('who else looks at it now', orNull(text)),
    votes: whole,
    cause: described('tasks of one cause can be answered together: worker eu-1', orNull(text)),
  }),
  TaskItem: record({ id: text, title: text, status: text, content: anything }),
  TaskSection: record({
    id: text,
    type: text,
    title: text,
    content: anything,
    is_editable: yesNo,
    items: list(ref('TaskItem')),
  }),
  TaskAction: record({
    name: text,
    label: text,
    requires_reason: yesNo,
    required_fields: list(text),
    fields_schema: described('JSON Schema of the fields that the action takes; null: any', anything),
    is_terminal: yesNo,
    emits: described('the event that it sends', orNull(text)),
    confirm: described('what the person types to confirm it', orNull(text)),
    warning: described('what the person must acknowledge before it is taken', orNull(text)),
  }),
  TaskDraft: record({ item: orNull(text), content: anything, is_stale: yesNo }),
  TaskDetail: record({
    ...head,
    handler: text,
    version: whole,
    name: text,
    instructions: text,
    context: anything,
    remarks: described('what an agent says about it; not part of what is consented to', orNull(text)),
    shown_hash: described('what a decision must name', text),
    revision: whole,
    assignees: record({ users: list(text), groups: list(text) }),
    origin: ref('TaskOrigin'),
    cause: described('tasks of one cause can be answered together', orNull(text)),
    requester: orNull(text),
    priority: whole,
    created_at: instant,
    escalation: orNull(record({ by: text, reason: text })),
    quorum: record({ approve: whole, reject: whole }),
    put_off_until: described("in the caller's inbox", orNull(instant)),
    viewed_by: list(text),
    sections: list(ref('TaskSection')),
    actions: list(ref('TaskAction')),
    allowed_actions: described('those that the caller may take now', list(text)),
    drafts: described("the caller's own, not submitted yet", list(ref('TaskDraft'))),
    draft_revision: described(
      'how many drafts of it the caller has saved; a decision names the one that it has seen',
      whole,
    ),
    votes: list(record({ by: text, action: text })),
    may_vote: described(
      'who may vote or decide now: these people, and members of these groups except those named; none while a revision is awaited',
      record({ users: list(text), groups: list(text), except: list(text) }),
    ),
    end: orNull(end),
    approved: list(text),
    rejected: list(text),
  }),
  TaskHappening: record({
    at: instant,
    what: text,
    by: orNull(text),
    text,
    items: described('those it is about; none: the whole', list(text)),
  }),
  TaskMarks: record({
    marked: described('items of which the rule is true', list(text)),
    unclear: described('items of which it cannot say', list(record({ item: text, detail: text }))),
    task: ref('TaskDetail'),
  }),
  InboxViews: record({
    ...Object.fromEntries(INBOX_VIEWS.map((view) => [view, whole])),
    more: described('of these there are at least so many', list(words(INBOX_VIEWS))),
  }),
  TaskVerdict: record({ task: text, status: whole }, { state: text, problem: ref('Problem') }),
}

const to = described('user:eve or group:leads; a bare name is a person', { anyOf: [text, list(text)] })
const draft_revision = described('the draft_revision of the task as the caller saw it', orNull(whole))
/** Binds an answer to what the person saw, and shows that the person confirmed it. */
export const ANSWER = {
  shown_hash: text,
  confirm: described('what the person typed, if the action asks for it (`confirm` of the action)', text),
  acknowledged: described('the person has read the `warning` of the action and means it all the same', yesNo),
}

const decision = {
  reason: text,
  fields: mapOf(anything),
  items: mapOf(closed({ status: words(ITEM_VERDICTS) }, { modifications: anything })),
  ...ANSWER,
  draft_revision,
  to,
}

export const DECIDE = closed({ action: text }, decision)
export const DECIDE_MANY = closed({ decisions: list(closed({ task: text, action: text }, decision)) })
export const DELEGATION = closed({}, { to, reason: text })
export const SAVE_DRAFT = closed({}, { item: orNull(text), content: anything, draft_revision })
export const MARK = closed({
  where: described('CEL over `item`, its `title` and its `section`: item.confidence >= 0.9', text),
  status: words(['approved', 'rejected', 'pending']),
})
export const FOLLOW_UP = closed({}, { until: described('null: at once again', orNull(instant)) })
