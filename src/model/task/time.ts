/**
 * When time matters to a task: the deadline of its level, and reminders, each recorded once.
 *
 * Owns which reminder is due. Never reads a clock, and does not decide what a deadline does.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { OpenTask, TaskState } from './fact.ts'
import type { Deadline } from './spec.ts'

export const deadlineFrom = (deadline: Deadline | null, reachedAt: Instant): Instant | null => {
  if (deadline === null) return null
  return deadline.kind === 'at' ? deadline.at : reachedAt + deadline.ms
}

/** The clock of a level stops while a revision is awaited: people cannot be late with content that is not there. */
const isTicking = ({ status }: OpenTask): boolean => status !== 'revision_requested'

export const isDeadlineDue = (task: OpenTask, now: Instant): boolean =>
  isTicking(task) && !task.timedOut && task.deadlineAt !== null && task.deadlineAt <= now

/** Returns the instant of reminder n of this level; null: there is no reminder of this number. */
const reminderAt = (task: OpenTask, n: number): Instant | null => {
  const { reminders } = task.spec
  if (reminders === null) return null
  if (reminders.kind === 'every')
    return n > reminders.max ? null : task.reachedAt + reminders.startAfterMs + (n - 1) * reminders.everyMs
  const beforeMs = reminders.beforeMs[n - 1]
  // After a deadline has passed, no reminder of it is needed.
  return beforeMs === undefined || task.deadlineAt === null || task.timedOut ? null : task.deadlineAt - beforeMs
}

interface Reminder {
  readonly n: number
  readonly at: Instant
}

/** Returns the next reminder after number n. One that was due before the level was reached is not for its people. */
const nextReminder = (task: OpenTask, after: number): Reminder | null => {
  for (let n = after + 1; ; n++) {
    const at = reminderAt(task, n)
    if (at === null) return null
    if (at > task.reachedAt) return { n, at }
  }
}

/** Returns the latest reminder that is due and not recorded; those before it are never sent. */
export const dueReminder = (task: OpenTask, now: Instant): number | null => {
  if (!isTicking(task)) return null
  let due: number | null = null
  for (let next = nextReminder(task, task.reminded); next !== null && next.at <= now; ) {
    due = next.n
    next = nextReminder(task, next.n)
  }
  return due
}

/** Returns when time next matters; null: only a command changes the task. */
export const taskWakeAt = (task: TaskState): Instant | null => {
  if (task.kind !== 'open' || !isTicking(task)) return null
  const remindAt = nextReminder(task, task.reminded)?.at ?? null
  const timeOutAt = task.timedOut ? null : task.deadlineAt
  if (remindAt === null || timeOutAt === null) return remindAt ?? timeOutAt
  return Math.min(remindAt, timeOutAt)
}
