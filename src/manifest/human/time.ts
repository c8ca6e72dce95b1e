/**
 * Brings deadlines, reminders and escalation levels of a task from what an author writes to the normal form.
 *
 * Owns their spelling and every refusal of them.
 */
import { invalid } from '#manifest/define/invalid.ts'
import { type Duration, durationWithin, wholeNumber } from '#manifest/expressions/ranges.ts'
import { parseInstant } from '#manifest/time/civil.ts'
import type { DeadlineDefinition } from '#model/task/human.ts'
import type { EscalationSource, ReminderSource } from '#model/task/source.ts'
import { type Assignees, type Deadline, type Level, MAX_ESCALATIONS, type Reminders } from '#model/task/spec.ts'

const LONGEST = '3650d'
const MAX_REMINDERS = 100
const DEFAULT_REMINDERS = 5
const ADDRESS = /^(user|group):(.+)$/
const INSTANT_LIKE = /^\d{4}-\d{2}-\d{2}/

/** A duration, or an instant with its offset. */
export const deadlineOf = (given: Duration, path: string): Deadline =>
  typeof given === 'string' && INSTANT_LIKE.test(given)
    ? { kind: 'at', at: parseInstant(given, path) }
    : { kind: 'after', ms: durationWithin(path, given, { min: '1ms', max: LONGEST }) }

export const defineDeadline = (given: Duration | undefined, path: string): DeadlineDefinition | null => {
  if (given === undefined) return null
  return typeof given === 'string' && given.includes('{{') ? { kind: 'template', text: given } : deadlineOf(given, path)
}

/** `user:ana` and `group:editors`; a bare name is a person. */
export const addresseesOf = (given: string | readonly string[], path: string): Assignees => {
  const users: string[] = []
  const groups: string[] = []
  for (const address of typeof given === 'string' ? [given] : given) {
    const [, kind = 'user', name = address] = ADDRESS.exec(address) ?? []
    if (name.trim() === '') throw invalid(path, 'expected user:<id> or group:<name>')
    if (kind === 'group') groups.push(name)
    else users.push(name)
  }
  return { users, groups }
}

export const defineLevels = (given: readonly EscalationSource[], path: string): readonly Level[] => {
  if (given.length > MAX_ESCALATIONS)
    throw invalid(path, `at most ${MAX_ESCALATIONS} levels are allowed, not ${given.length}`)
  return given.map(({ to, deadline }, i) => ({
    to: addresseesOf(to, `${path}[${i}].to`),
    deadline: deadline === undefined ? null : deadlineOf(deadline, `${path}[${i}].deadline`),
  }))
}

const repeating = (
  { every, startAfter = every, max = DEFAULT_REMINDERS }: ReminderSource,
  path: string,
): Reminders => ({
  kind: 'every',
  everyMs: durationWithin(`${path}.every`, every, { min: '1s', max: LONGEST }),
  startAfterMs: durationWithin(`${path}.startAfter`, startAfter, { min: '1s', max: LONGEST }),
  max: wholeNumber(`${path}.max`, max, { min: 1, max: MAX_REMINDERS }),
})

/** A reminder that lies further before the deadline than the longest deadline would never be sent. */
const checkReach = (beforeMs: readonly number[], deadlines: readonly DeadlineDefinition[], path: string): void => {
  if (deadlines.length === 0) throw invalid(path, 'reminders count back from a deadline, but the task has none')
  const longest = Math.max(
    ...deadlines.map((deadline) => (deadline.kind === 'after' ? deadline.ms : Number.POSITIVE_INFINITY)),
  )
  if (beforeMs.some((ms) => ms >= longest)) throw invalid(path, 'a reminder would come before the task is opened')
}

const isRepeating = (given: ReminderSource | readonly Duration[]): given is ReminderSource => !Array.isArray(given)

export const defineReminders = (
  given: ReminderSource | readonly Duration[] | undefined,
  deadlines: readonly (DeadlineDefinition | null)[],
  path: string,
): Reminders | null => {
  if (given === undefined) return null
  if (isRepeating(given)) return repeating(given, path)
  if (given.length > MAX_REMINDERS) throw invalid(path, `at most ${MAX_REMINDERS} reminders are allowed`)
  if (given.length === 0) return null
  const beforeMs = [...new Set(given.map((each) => durationWithin(path, each, { min: '1ms', max: LONGEST })))]
  beforeMs.sort((one, other) => other - one)
  checkReach(
    beforeMs,
    deadlines.filter((deadline) => deadline !== null),
    path,
  )
  return { kind: 'before', beforeMs }
}
