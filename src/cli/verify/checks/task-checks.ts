/**
 * Checks each fact of a task against the state before it: V5, V19 to V24.
 *
 * Never folds facts itself (task-state.ts).
 */
import type { Findings, Place } from '#cli/verify/report.ts'
import type { Body } from '#cli/verify/source/fact.ts'
import type { TaskState } from './task-state.ts'

const SYSTEM = 'system'
const CLOSING: ReadonlySet<string> = new Set(['task.decided', 'task.expired', 'task.withdrawn'])
/** Facts that name a person. */
const BY_PEOPLE: ReadonlySet<string> = new Set([
  'task.viewed',
  'task.claimed',
  'task.unclaimed',
  'task.draft_saved',
  'task.follow_up_set',
  'task.reassigned',
  'task.edited',
  'task.voted',
  'task.acted',
  'task.revision_requested',
  'task.decided',
])

export const checkTaskFact = (
  findings: Findings,
  state: TaskState,
  { type, body, at }: { readonly type: string; readonly body: Body; readonly at: number },
  place: Place,
): void => {
  const isFirst = place.seq === 0
  findings.expect('V4', isFirst === (type === 'task.opened'), place, () => `${type} is fact ${place.seq} of a task`)
  const isLate = state.end !== null && type !== 'task.checkpointed'
  findings.expect('V5', !isLate, place, () => `${type} after the task was ${state.end}`)
  if (CLOSING.has(type))
    findings.expect('V19', state.end === null, place, () => `${type}, but the task was ${state.end} already`)
  if (BY_PEOPLE.has(type)) checkPerson(findings, state, type, body, place)
  if (type === 'task.decided') checkDecision(findings, state, body, place)
  if (type === 'task.reminded') {
    const name = `${body.number('level')}/${body.number('n')}`
    findings.expect('V22', !state.reminded.has(name), place, () => `reminder ${name} is recorded twice`)
  }
  if (type === 'task.timed_out') checkTimeOut(findings, state, body, at, place)
  if (type === 'task.escalated')
    findings.expect(
      'V22',
      body.number('level') === state.level + 1,
      place,
      () => `it escalates from level ${state.level} to ${body.number('level')}`,
    )
}

const checkPerson = (findings: Findings, state: TaskState, type: string, body: Body, place: Place): void => {
  const by = body.text('by')
  const isSystem = by === SYSTEM
  const isDeclared = isSystem && state.autoAction !== null && state.timedOut
  findings.expect(
    'V20',
    isSystem ? isDeclared : by !== '' && by !== 'unknown',
    place,
    () => `${type} by "${by}"${isSystem ? ', although no deadline has passed that lets the system act' : ''}`,
  )
  findings.expect('V20', !state.excluded.includes(by), place, () => `${type} by ${by}, who is excluded`)
}

const checkDecision = (findings: Findings, state: TaskState, body: Body, place: Place): void => {
  const hash = body.text('hash')
  findings.expect('V21', hash === state.hash, place, () => `${hash} was decided, but ${state.hash} was shown`)
  const [approved, rejected] = [body.texts('approved'), body.texts('rejected')]
  const outcomes = [...approved, ...rejected]
  const isClean = new Set(outcomes).size === outcomes.length && outcomes.every((item) => state.items.has(item))
  findings.expect('V23', isClean, place, () => `items ${outcomes.join(', ')} do not match the items of the task`)
}

const checkTimeOut = (findings: Findings, state: TaskState, body: Body, at: number, place: Place): void => {
  const level = body.number('level')
  findings.expect(
    'V22',
    !state.timedOutLevels.has(level),
    place,
    () => `the deadline of level ${level} is recorded twice`,
  )
  findings.expect(
    'V24',
    state.deadlineAt !== null && at >= state.deadlineAt,
    place,
    () => `timed out at ${at}, before its deadline ${state.deadlineAt ?? 'which it does not have'}`,
  )
}
