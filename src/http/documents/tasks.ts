/** Tasks as the wire spells them, described: a row of an inbox, the whole of one, and what a person sends about it. */
import { OPEN_STATUSES } from '../../model/task-spec.ts'
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
} from '../schema.ts'

export const OPEN = OPEN_STATUSES
export const CLOSED = ['approved', 'rejected', 'completed', 'expired', 'withdrawn'] as const
export const TYPES = ['approval', 'input', 'review', 'decision'] as const
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

const end = record({ decision: text, by: orNull(text), at: instant, reason: orNull(text) })

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
  TaskSummary: record({
    ...head,
    assignees: described('user:ana, group:editors', list(text)),
    priority: whole,
    is_overdue: yesNo,
    created_at: instant,
    updated_at: instant,
    decision: orNull(text),
    decided_by: orNull(text),
    items: described('how many it has', whole),
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
    is_terminal: yesNo,
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
    viewed_by: list(text),
    sections: list(ref('TaskSection')),
    actions: list(ref('TaskAction')),
    allowed_actions: described('those that the caller may take now', list(text)),
    drafts: described("the caller's own, not submitted yet", list(ref('TaskDraft'))),
    votes: list(record({ by: text, action: text })),
    end: orNull(end),
    approved: list(text),
    rejected: list(text),
  }),
  TaskVerdict: record({ task: text, status: whole }, { state: text, problem: ref('Problem') }),
}

const to = described('user:eve or group:leads; a bare name is a person', { anyOf: [text, list(text)] })
const decision = {
  reason: text,
  fields: mapOf(anything),
  items: mapOf(closed({ status: words(ITEM_VERDICTS) }, { modifications: anything })),
  shown_hash: text,
  to,
}

export const DECIDE = closed({ action: text }, decision)
export const DECIDE_MANY = closed({ decisions: list(closed({ task: text, action: text }, decision)) })
export const HAND_ON = closed({}, { to, reason: text })
export const SAVE_DRAFT = closed({}, { item: orNull(text), content: anything })
export const FOLLOW_UP = closed({}, { until: described('null: at once again', orNull(instant)) })
