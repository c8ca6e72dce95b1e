/**
 * How a step of a plan ends, and what that means for the steps that require it.
 *
 * Owns which answers of people are a yes, and which steps are skipped after a "no". Pure: executors/workflow/plan/plan.ts performs.
 *
 * plan-2  A "no" skips every step that requires it, directly or through other steps, unless that step says `on_reject: continue`.
 * plan-3  A step that was skipped for another reason stops only the steps that read its output.
 * plan-4  Only an approval or an answer is a yes. Every other end of a question (rejected, expired, withdrawn, an action that approves nothing,
 *         an approval that rejects every item) is a no.
 */
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { PlanNode } from './plan.ts'

/** `skipped`: not done, because of its condition, its failure or a "no". `rejected`: people were asked and did not say yes. */
type StepStatus = 'success' | 'skipped' | 'rejected'

export interface StepEnd {
  readonly status: StepStatus
  /** The step whose "no" is the cause; null: no "no" is. */
  readonly because: string | null
  /** In words, for people; null: there is nothing to explain. */
  readonly reason: string | null
}

export const SUCCESS: StepEnd = { status: 'success', because: null, reason: null }

export const skippedFor = (reason: string): StepEnd => ({ status: 'skipped', because: null, reason })

export const refusedAt = (step: string, reason: string): StepEnd => ({ status: 'rejected', because: step, reason })

/** The part of people's answer that says yes or no. */
export interface Answered {
  readonly status: string
  readonly decision: string
  readonly approved: readonly string[]
  readonly rejected: readonly string[]
}

/** plan-4 */
const isYes = ({ status, decision, approved, rejected }: Answered): boolean => {
  if (status === 'approved') return approved.length > 0 || rejected.length === 0
  return status === 'completed' && (decision === 'respond' || approved.length > 0)
}

const textsIn = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

/** Reads the answer from the output of a declared human. An output that cannot be read has approved nothing. */
export const answeredIn = (output: Json): Answered => {
  const { status = '', decision = '', approved, rejected } = isJsonRecord(output) ? output : {}
  return {
    ...{ status: String(status), decision: String(decision) },
    ...{ approved: textsIn(approved), rejected: textsIn(rejected) },
  }
}

interface Refused {
  readonly name: string
  readonly decision: string
  readonly by: string | null
  readonly feedback: string | null
}

/** Says in words why a question did not end with a yes. */
export const refusalText = ({ name, decision, by, feedback }: Refused): string => {
  const said = feedback === null || feedback === '' ? '' : `: ${feedback}`
  if (by === null) return `"${name}" ended without a decision (${decision})${said}`
  return decision === 'reject' ? `${by} rejected "${name}"${said}` : `${by} answered "${name}" with ${decision}${said}`
}

const isWell = (end: StepEnd | undefined): boolean => end?.status === 'success' && end.because === null

/** Returns how a step ends because of its requirements' ends; null: it may begin. */
const fateOf = (node: PlanNode, ends: ReadonlyMap<string, StepEnd>): StepEnd | null => {
  if (node.requires.every((id) => isWell(ends.get(id)))) return null
  const before = node.requires.map((id) => [id, ends.get(id) ?? skippedFor('it was not reached')] as const)
  const refused = before.find(([, { because }]) => because !== null)
  // plan-2
  if (refused !== undefined && node.onReject === 'skip') return behind(refused)
  // plan-3
  const unread = before.find(([id, { status }]) => status === 'skipped' && node.reads.includes(id))
  return unread === undefined ? null : behind(unread)
}

const behind = ([id, { status, because, reason }]: readonly [string, StepEnd]): StepEnd => ({
  status: 'skipped',
  because,
  reason: status === 'skipped' && because === null ? `it reads the output of ${id}, which was skipped` : reason,
})

/** The two rules about people in a plan, as an object: tests replace them to show that a change would be noticed. */
export const planEnd = { isYes, fateOf }

const RECORD = '$skipped'

/** The record in the ledger of a step that was not done, so that a timeline can say why. */
export const skipRecord = ({ because, reason }: StepEnd): Json => ({ [RECORD]: { because, reason } })

/** Reads the record back; null: the value is the output of a step. */
export const skipIn = (value: Json): { readonly because: string | null; readonly reason: string | null } | null => {
  const record = isJsonRecord(value) ? value[RECORD] : undefined
  if (record === undefined || !isJsonRecord(record)) return null
  const { because, reason } = record
  return {
    because: typeof because === 'string' ? because : null,
    reason: typeof reason === 'string' ? reason : null,
  }
}
