/**
 * Checks one task, fact by fact and then at rest: its chain, its decisions, and whether its inbox row agrees with its facts.
 *
 * Owns the order of checks only. After a fact that cannot be read the task's rest is not checked; its chain still is.
 */
import { checkTaskFact } from '#cli/verify/checks/task-checks.ts'
import { TaskState } from '#cli/verify/checks/task-state.ts'
import { readBody } from '#cli/verify/source/fact.ts'
import { beginChain, endChain, type Inspection } from './inspection.ts'
import type { Place } from './report.ts'
import { type FactRow, nameOf, type StreamRow, type TaskTableRow } from './tables.ts'

/** The status of the stream after each end of the task. */
const STATUS = { decided: 'success', expired: 'expired', withdrawn: 'cancelled' } as const

export const inspectTask = async (
  inspection: Inspection,
  row: StreamRow,
  facts: AsyncIterable<FactRow>,
  rows: readonly TaskTableRow[],
): Promise<void> => {
  const { findings } = inspection
  const chain = beginChain(inspection, row)
  const state = new TaskState()
  let isReadable = true
  findings.count('tasks')
  for await (const fact of facts) {
    findings.count('facts')
    chain.next(fact)
    const place = { stream: nameOf(row), seq: fact.seq }
    const isRead = judge(inspection, state, fact, place)
    findings.expect('V4', isRead, place, () => `the fact ${fact.type} cannot be read`)
    isReadable &&= isRead
  }
  endChain(inspection, row, chain)
  if (!isReadable) return
  const place = { stream: nameOf(row), seq: null }
  checkRow(inspection, row, state, rows, place)
  if (state.end === null) checkWake(inspection, row, state, place)
}

/** False: the fact cannot be read. */
const judge = ({ findings }: Inspection, state: TaskState, fact: FactRow, place: Place): boolean => {
  const body = readBody(fact.body)
  if (body === null) return false
  try {
    checkTaskFact(findings, state, { type: fact.type, body, at: fact.recorded_at }, place)
    state.apply(fact.type, body, fact.recorded_at)
    return true
  } catch {
    return false
  }
}

const checkRow = (
  { findings }: Inspection,
  row: StreamRow,
  state: TaskState,
  rows: readonly TaskTableRow[],
  place: Place,
): void => {
  const status = state.end === null ? 'waiting' : STATUS[state.end]
  findings.expect('V4', row.status === status, place, () => `its stream is ${row.status}, but its facts give ${status}`)
  const [task] = rows
  findings.expect('V4', task !== undefined, place, () => 'the inbox does not have it')
  if (task === undefined) return
  const isOpen = state.end === null
  const inboxes = isOpen ? new Set(state.addresses).size + 1 : 0
  const told = [`run_${task.run}`, task.step, task.status, Boolean(task.is_open), task.claimed_by, task.deadline]
  const known = [state.run, state.step, state.status, isOpen, state.claimedBy, state.deadlineAt]
  findings.expect(
    'V4',
    told.join() === known.join(),
    place,
    () => `the inbox has ${told.join()}, but its facts give ${known.join()}`,
  )
  findings.expect(
    'V4',
    task.addresses === JSON.stringify(state.addresses) && task.inboxes === inboxes,
    place,
    () => `it is in ${task.inboxes} inboxes, for ${task.addresses}; its facts give ${state.addresses.join()}`,
  )
}

/** The deadline does not run while a revision is awaited, so the task needs no wake for it then. */
const checkWake = ({ findings, moment }: Inspection, row: StreamRow, state: TaskState, place: Place): void => {
  if (row.lease !== null || state.deadlineAt === null || state.timedOut || state.status === 'revision_requested') return
  const isInTime = row.wake_at !== null && row.wake_at <= Math.max(state.deadlineAt, moment.now)
  findings.expect(
    'V13',
    isInTime,
    place,
    () => `its deadline is ${state.deadlineAt}, its wake ${row.wake_at ?? 'never'}`,
  )
}
