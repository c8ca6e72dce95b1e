/**
 * One command to many runs: which runs it means, what it does to each, and how its progress is reported.
 *
 * Owns the order, its refusals and the sums. Never looks for a run and never sends a command to one: a job is an ordinary run
 * (executors/workflow/bulk.ts).
 *
 * bulk-1  Each run that was found counts once, as done or as failed: at the end the two add up to the total.
 * bulk-2  A run records the command of one job once, however often it is sent.
 */
import type { Kind } from '#model/access/identity.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'
import { type Instant, isPlainText, isRunId, isSessionId, type RunId, type SessionId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { type Refusal, refuse } from '#model/kernel/machine.ts'
import type { RunCommand, RunFact } from './fact.ts'
import { isEnded, RUN_STATUSES, type RunStatus } from './status.ts'

export const BULK_ACTIONS = ['cancel', 'retry', 'pause', 'resume'] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

/** The filter of a list of runs. */
export interface RunFilter {
  readonly status: RunStatus | null
  readonly handler: string | null
  readonly session: SessionId | null
}

export interface BulkCommand {
  readonly action: BulkAction
  /** Null: the order names its runs. */
  readonly where: RunFilter | null
  readonly reason: string | null
  readonly by: string
  /** The kind of `by`. Absent: a person. */
  readonly kind?: Kind
}

/** The input of a caller, not yet validated. */
export interface BulkIntent {
  readonly action: string
  readonly where: { readonly [term: string]: Json | undefined } | null
  readonly ids: readonly string[] | null
  readonly reason: string | null
  readonly by: string
  /** The kind of `by`. Absent: a person. */
  readonly kind?: Kind
}

const FILTER_TERMS = ['status', 'handler', 'session'] as const
const MAX_IDS = 1_000
const MAX_TEXT = 1_000

const bad = (detail: string): Refusal => refuse('INPUT_INVALID', detail)

const isRefusal = (value: object): value is Refusal => 'kind' in value && value.kind === 'refused'

const filterOf = (given: NonNullable<BulkIntent['where']>): RunFilter | Refusal => {
  const terms = Object.entries(given)
  if (terms.length === 0) return bad(`where is empty; give at least one of ${FILTER_TERMS.join(', ')}`)
  const unknown = terms.find(([term]) => !FILTER_TERMS.some((known) => known === term))
  if (unknown !== undefined) return bad(`where has an unknown term ${unknown[0]}; expected ${FILTER_TERMS.join(', ')}`)
  const empty = terms.find(([, value]) => typeof value !== 'string' || value === '')
  if (empty !== undefined) return bad(`where.${empty[0]} must be a text`)
  const { status = null, handler = null, session = null } = given as { readonly [term: string]: string }
  const known = RUN_STATUSES.find((word) => word === status && word !== 'session')
  if (status !== null && known === undefined) return bad(`where.status is "${status}", which is not a status`)
  if (session !== null && !isSessionId(session))
    return bad(`where.session is "${session}"; expected the id of a session`)
  return { status: known ?? null, handler, session }
}

const idsOf = (given: readonly string[]): readonly RunId[] | Refusal => {
  const wrong = given.find((id) => !isRunId(id))
  if (wrong !== undefined) return bad(`"${wrong}" is not a full run id`)
  if (given.length === 0 || given.length > MAX_IDS)
    return bad(`ids has ${given.length} entries; expected 1 to ${MAX_IDS}, or where`)
  return [...new Set(given.filter(isRunId))]
}

/** The validated order, and the runs that it names; `ids` is null if it has a filter. */
export const bulkCommand = (
  intent: BulkIntent,
): { readonly order: BulkCommand; readonly ids: readonly RunId[] | null } | Refusal => {
  const action = BULK_ACTIONS.find((word) => word === intent.action)
  if (action === undefined) return bad(`action is "${intent.action}"; expected one of ${BULK_ACTIONS.join(', ')}`)
  if ((intent.where === null) === (intent.ids === null)) return bad('give either where or ids')
  const { reason, by, kind } = intent
  if (reason !== null && !isPlainText(reason, MAX_TEXT))
    return bad(`reason must have 1 to ${MAX_TEXT} characters and no control characters`)
  const where = intent.where === null ? null : filterOf(intent.where)
  const ids = intent.ids === null ? null : idsOf(intent.ids)
  if (where !== null && isRefusal(where)) return where
  if (ids !== null && isRefusal(ids)) return ids
  return { order: { action, where, reason, by, ...(kind !== undefined && { kind }) }, ids }
}

/** True if the action can change a run of this status. A filter may find others: they are skipped, and do not count as failures. */
export const concerns = (action: BulkAction, status: RunStatus): boolean => {
  if (action === 'retry') return isEnded(status) && status !== 'success' && status !== 'partial'
  if (action === 'resume') return status === 'paused'
  const isOver = isEnded(status) || status === 'cancelling'
  return action === 'cancel' ? !isOver : !isOver && status !== 'paused'
}

/** The name under which a run records the command: who gave it, and in which job. */
export const spokenBy = (by: string, job: RunId): string => `${by} in job ${job.slice(-8)}`

const FACTS = {
  cancel: 'run.cancel_requested',
  retry: 'run.retried',
  pause: 'run.paused',
  resume: 'run.resumed',
} as const satisfies Record<BulkAction, RunFact['type']>

/** bulk-2. */
export const hasReceived = (facts: readonly RunFact[], action: BulkAction, by: string): boolean =>
  facts.some((fact) => fact.type === FACTS[action] && fact.by === by)

/** The commands for actions that the run alone decides on. A cancel must also reach the run's holder, a retry its gate and its children. */
export const commandOf = (
  action: 'pause' | 'resume',
  now: Instant,
  { by, reason }: Pick<BulkCommand, 'by' | 'reason'>,
): RunCommand => (action === 'pause' ? { type: 'pause_run', now, by, reason } : { type: 'resume_run', now, by })

/** `failure` null: it was done. */
export interface BulkOutcome {
  readonly run: RunId
  readonly failure: { readonly code: ErrorCode; readonly detail: string } | null
}

export interface BulkFailures {
  readonly code: ErrorCode
  readonly count: number
  /** The detail of the first failure; `runs` are the first few that failed this way. */
  readonly detail: string
  readonly runs: readonly RunId[]
}

export interface BulkProgress {
  /** The runs found so far. */
  readonly total: number
  readonly done: number
  readonly failures: readonly BulkFailures[]
  /** All matching runs were found: the total is final. */
  readonly isWhole: boolean
}

/** If the runs are named, the total is known before the first of them receives the command. */
export const progressAtFirst = (ids: readonly RunId[] | null): BulkProgress => ({
  ...{ total: ids?.length ?? 0, done: 0, failures: [] },
  isWhole: ids !== null,
})

export const failedOf = ({ failures }: BulkProgress): number => failures.reduce((sum, { count }) => sum + count, 0)

const NAMED = 5

const withFailure = (failures: readonly BulkFailures[], { run, failure }: BulkOutcome): readonly BulkFailures[] => {
  if (failure === null) return failures
  const known = failures.find(({ code }) => code === failure.code)
  if (known === undefined) return [...failures, { ...failure, count: 1, runs: [run] }]
  const runs = known.runs.length < NAMED ? [...known.runs, run] : known.runs
  return failures.map((one) => (one === known ? { ...known, count: known.count + 1, runs } : one))
}

/** bulk-1. */
export const progressAfter = (
  before: BulkProgress,
  outcomes: readonly BulkOutcome[],
  isLast: boolean,
): BulkProgress => ({
  total: before.isWhole ? before.total : before.total + outcomes.length,
  isWhole: before.isWhole || isLast,
  done: before.done + outcomes.filter(({ failure }) => failure === null).length,
  failures: outcomes.reduce(withFailure, before.failures),
})

/** The stored record of a job, beside its run. */
export interface JobRecord extends BulkCommand {
  readonly progress: BulkProgress
}

export const JOB_TABLE = 'trihand.job'
/** The runs that a job is sending the command to at this moment. */
export const JOB_PAGE_TABLE = 'trihand.job.page'

export const toJobJson = (job: JobRecord): Json => JSON.parse(JSON.stringify(job)) as Json

/** Reads what `toJobJson` wrote. Null: there is no such job. */
export const fromJobJson = (value: Json | null): JobRecord | null =>
  isJsonRecord(value) && isJsonRecord(value['progress']) ? (value as unknown as JobRecord) : null
