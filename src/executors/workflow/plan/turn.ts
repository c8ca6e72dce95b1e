/**
 * One execution of a step of a plan: its loop key, what it asks of the run that it calls, and how often it is tried.
 *
 * Owns which failures are worth another try. The count is in the loop keys of the tries, and the pause between two is a sleep of the run,
 * so a crash loses neither.
 */
import type { Retrying } from '#executors/workflow/step-api.ts'
import { DEFAULT_RETRY, retryDelayMs } from '#model/flow/policies/retry.ts'
import { ERRORS, type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { PlanStep } from '#model/plan/plan.ts'
import { isStepFailure } from '#model/run/step-failure.ts'
import type { Roots } from '#model/workflow/spec.ts'
import { WITHDRAWN } from './refusal.ts'

/** One execution of a step, for one item if the plan has items. */
export interface Turn {
  readonly step: PlanStep
  /** Made on demand: a step that has ended does not need them. */
  readonly roots: () => Roots
  /** Null: it has no loop key. */
  readonly key: string | null
  /** For a step that is done again because a person asked for changes. */
  readonly again?: Again
  /** For a step that is tried again after it failed: the failed execution. */
  readonly retries?: NonNullable<Retrying['retries']>
}

export interface Again {
  readonly key: string
  readonly feedback: string | null
  readonly revision: number
}

export const keyed = (key: string | null, part: string): { readonly key: string } => ({
  key: key === null ? part : `${key}.${part}`,
})

export const alone = (key: string | null): { readonly key?: string } => (key === null ? {} : { key })

/** The options that a step passes to the run that it calls. */
export const calling = ({ gate, terms }: PlanStep): Pick<PlanStep, 'gate' | 'terms'> => ({
  ...(gate !== undefined && { gate }),
  ...(terms !== undefined && { terms }),
})

/** Reports that the run was ended because the step's time was up. */
export const lateError = ({ name, terms }: PlanStep, error: unknown): unknown =>
  terms?.withinMs !== undefined && isStepFailure(error) && error.code === 'RUN_DEADLINE'
    ? new TrihandError('STEP_TIMEOUT', `${name} did not end within its timeout of ${terms.withinMs / 1_000} s`)
    : error

/** How often an incomplete answer is continued. */
export const mostParts = ({ retry = DEFAULT_RETRY }: PlanStep): number => retry.maxAttempts

/** A call that continues an incomplete answer receives it as `partial`. */
export const withPartial = (input: Json, sofar: Json | undefined): Json => {
  if (sofar === undefined) return input
  return isJsonRecord(input) ? { ...input, partial: sofar } : { input, partial: sofar }
}

/** Failures that another try cannot change: the plan is wrong, or a person has decided. */
const FINAL: readonly string[] = [
  ...WITHDRAWN,
  ...([
    'STEP_REFUSED',
    'PLAN_UNASSIGNED',
    'NOT_FOUND',
    'FUNCTION_NOT_IMPLEMENTED',
    'INPUT_INVALID',
    'EXPR_FAILED',
    'TEMPLATE_ERROR',
    'STEP_MISUSED',
    'BUDGET_EXCEEDED',
    'CHILD_DEPTH',
    'MODEL_NOT_ALLOWED',
    'MODULE_DENIED',
  ] satisfies readonly ErrorCode[]),
]

const isWorthAnother = (error: unknown): boolean =>
  (isStepFailure(error) || error instanceof TrihandError) &&
  Object.hasOwn(ERRORS, error.code) &&
  !FINAL.includes(error.code)

interface Trying {
  sleep(ms: number, part: string): Promise<void>
  /** The loop key of a try that begins. */
  begins(key: string | null): void
}

/** Tries as often as the step's policy says, each try under a loop key of its own; a failed child is retried. */
export const triedOften = async <Result>(
  first: Turn,
  work: (turn: Turn) => Promise<Result>,
  { sleep, begins }: Trying,
): Promise<Result> => {
  const { retry } = first.step
  let turn = first
  for (let attempt = 1; ; attempt++) {
    begins(turn.key)
    try {
      return await work(turn)
    } catch (error) {
      if (retry === undefined || attempt >= retry.maxAttempts || !isWorthAnother(error)) throw error
      await sleep(retryDelayMs(retry, attempt, 1), `pause ${attempt}`)
      turn = { ...first, key: keyed(first.key, `try ${attempt + 1}`).key, retries: { key: turn.key } }
    }
  }
}
