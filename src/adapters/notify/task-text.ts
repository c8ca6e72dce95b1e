/**
 * The text of notices about a task: who asks, the deadline, and a link.
 *
 * Owns the text. A link opens a page and never decides: mail scanners open every link. Text of agents and strangers is left out.
 */
import type { StoredEvent } from '#model/event/event.ts'
import type { Json } from '#model/kernel/json.ts'

/** The events that people are notified of. */
export const TASK_EVENTS: readonly string[] = ['human.assigned', 'human.reminded', 'human.timed_out']

const TITLES: Readonly<Record<string, string>> = {
  'human.assigned': 'A task for you',
  'human.reminded': 'Reminder: a task waits for you',
  'human.timed_out': 'A task is overdue',
}

type Members = { readonly [key: string]: Json }

export const membersOf = (value: Json | undefined): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}

export const titleOf = ({ type }: StoredEvent): string => TITLES[type] ?? 'A task has changed'

export const textOf = ({ data, subject }: StoredEvent, publicUrl: string | null): string => {
  const { handler, deadline } = membersOf(data)
  const lines = [
    `${typeof handler === 'string' ? handler : 'A run'} asks for a decision.`,
    ...(typeof deadline === 'number' ? [`Until: ${new Date(deadline).toISOString()}`] : []),
    ...(publicUrl === null || subject === null
      ? ['Open your inbox.']
      : [`Open it: ${new URL(`/inbox?task=${encodeURIComponent(subject)}`, publicUrl).href}`]),
  ]
  return `${lines.join('\n')}\n`
}
