/**
 * Checks a run between two facts: the tables agree with the facts, and something will move the run on.
 *
 * For a run that a worker holds only its facts and status are checked: its wake is valid from the release of the lease.
 */
import type { Opened } from '#cli/verify/opened.ts'
import type { Findings, Place } from '#cli/verify/report.ts'
import type { Moment, StreamRow, WaitRow } from '#cli/verify/tables.ts'
import { neededTypes, type OpenStep, type RunState } from './run-state.ts'

const ENDED: ReadonlySet<string> = new Set(['success', 'partial', 'failed', 'cancelled', 'expired', 'quarantined'])
const LIVE: ReadonlySet<string> = new Set(['queued', 'running', 'waiting', 'paused', 'cancelling'])
/** Open steps that an answer from outside settles. A cancelled run only waits for its children. */
const ANSWERED: ReadonlySet<OpenStep['kind']> = new Set(['waiting', 'calling', 'uncertain'])

export const isEnded = (status: string): boolean => ENDED.has(status)

/** A run at rest: its row, its state from the facts, and the present moment. */
export interface Rest {
  readonly row: StreamRow
  readonly state: RunState
  readonly moment: Moment
  readonly place: Place
}

export const checkRest = (findings: Findings, rest: Rest, waits: readonly WaitRow[], opened: Opened): void => {
  checkStatus(findings, rest)
  checkWaits(findings, rest, waits, opened)
  const { row, state } = rest
  if (state.end === null && row.lease === null) {
    checkStranded(findings, rest)
    if (row.wake_at !== null) checkWake(findings, rest, row.wake_at)
    if (!state.cancelled) checkOversleep(findings, rest)
  }
}

const checkStatus = (findings: Findings, { row, state, place }: Rest): void => {
  const { status } = row
  const isSaid = (status !== 'cancelling' || state.cancelled) && (status !== 'paused' || state.isHeld)
  const fits = state.end === null ? LIVE.has(status) && isSaid : status === state.end
  findings.expect(
    'V4',
    fits,
    place,
    () => `the status is ${status}, but the facts give ${state.end ?? describeLife(state)}`,
  )
}

const describeLife = (state: RunState): string => {
  if (state.cancelled) return 'cancel requested'
  return state.paused ? 'paused' : 'not ended'
}

const addressOf = (wait: Omit<WaitRow, 'stream'>): string =>
  JSON.stringify([wait.step, wait.type, wait.path, wait.value])

/** The rows that open waits may have: one per type. `needed` are those whose type has not come yet. */
const openWaits = (
  { row: { tenant }, state }: Rest,
  opened: Opened,
): { readonly allowed: ReadonlySet<string>; readonly needed: ReadonlySet<string> } => {
  const allowed = new Set<string>()
  const needed = new Set<string>()
  for (const [step, open] of state.end === null ? state.openSteps() : []) {
    if (open.kind !== 'waiting') continue
    const match = open.wait.match ?? { path: '', value: '' }
    const address = (type: string): string => addressOf({ step, type, ...opened.wait(tenant, type, match) })
    for (const type of open.wait.types) allowed.add(address(type))
    for (const type of neededTypes(open)) needed.add(address(type))
  }
  return { allowed, needed }
}

/** A wait for all types may keep the row of a type that has come: it wakes the run once too often and does no harm. */
const checkWaits = (findings: Findings, rest: Rest, waits: readonly WaitRow[], opened: Opened): void => {
  const { state, place } = rest
  const { allowed, needed } = openWaits(rest, opened)
  const found = new Set(waits.map(addressOf))
  for (const address of found) {
    findings.expect('V4', allowed.has(address), place, () => `the table has a wait that the facts do not: ${address}`)
  }
  // A cancelled run receives no more events, so its rows may be gone before it ends.
  if (state.cancelled) return
  for (const address of needed) {
    findings.expect(
      'V4',
      found.has(address),
      place,
      () => `the facts have an open wait that the table does not: ${address}`,
    )
  }
}

const checkStranded = (findings: Findings, { row, state, place }: Rest): void => {
  const waits = (): boolean =>
    [...state.openSteps()].some(([, { kind }]) => (state.cancelled ? kind === 'calling' : ANSWERED.has(kind)))
  findings.expect(
    'V13',
    row.wake_at !== null || state.isHeld || waits(),
    place,
    () =>
      `the run is ${row.status}, and nothing can continue it: no wake, no holder, no open wait, child or uncertain step`,
  )
}

const stepInstant = (open: OpenStep): number | null => {
  if (open.kind === 'waiting') return open.wait.timeoutAt
  return open.kind === 'sleeping' || open.kind === 'retrying' ? open.wakeAt : null
}

/** A wake must be an instant that the facts give, or be due by now: after a signal, a freed lease, or a start that was put off. */
const checkWake = (findings: Findings, { row, state, moment, place }: Rest, wakeAt: number): void => {
  const isKnown = (): boolean =>
    wakeAt === state.deadlineAt ||
    wakeAt === state.retryAt ||
    [...state.openSteps()].some(([, open]) => stepInstant(open) === wakeAt)
  const isDue = wakeAt <= Math.max(moment.now, moment.event_time)
  findings.expect(
    'V4',
    isDue || row.status === 'queued' || (state.isHeld && state.isUntouched) || isKnown(),
    place,
    () => `the run has a wake at ${wakeAt}, which has not passed and is not in its facts`,
  )
}

/** The wake must not be later than the first instant at which time alone moves the run on, unless it is due anyway. */
const checkOversleep = (findings: Findings, { row, state, moment, place }: Rest): void => {
  const next = nextInstant(state)
  if (next === null || row.status === 'queued') return
  const holds = row.wake_at !== null && row.wake_at <= Math.max(next, moment.now)
  findings.expect(
    'V4',
    holds,
    place,
    () => `the run must continue at ${next}, but its wake is ${row.wake_at ?? 'never'}`,
  )
}

/** The instant at which time alone moves the run on; null: only an answer from outside does. */
const nextInstant = (state: RunState): number | null => {
  if (state.isHeld) return state.deadlineAt
  let next = earlier(state.deadlineAt, state.retryAt)
  for (const [, open] of state.openSteps()) next = earlier(next, stepInstant(open))
  return next
}

const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)
