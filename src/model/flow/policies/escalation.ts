/**
 * Decides whether an agent's result goes to a person instead: by declared rules over the result, the first that holds.
 *
 * Owns the uncertain outcome. Fails closed: an invalid confidence, and a rule that fails or whose answer is neither true nor false, escalate.
 * Never evaluates a rule: its verdict is an argument.
 */
import type { EscalationRule } from '#model/agent/agent.ts'
import type { RuleAnswer } from '#model/kernel/rule.ts'

export interface Escalation {
  /** The position of the rule that holds. */
  readonly rule: number
  /** `human`, or the name of a handler. */
  readonly to: string
  readonly reason: string
}

const CONFIDENCE = /\bconfidence\b/

/** Returns a share from 0 to 1; null: the value is not a share. `scale` is the value that means 1: 100 for percent, never guessed. */
export const confidenceOf = (value: unknown, scale: number): number | null => {
  if (typeof value !== 'number' || !Number.isFinite(scale)) return null
  // Each comparison is false for NaN, as it would be in a rule.
  return scale > 0 && value >= 0 && value <= scale ? value / scale : null
}

const reasonToEscalate = (
  { condition }: EscalationRule,
  answer: RuleAnswer,
  confidence: number | null,
): string | null => {
  // Checked before the answer: a rule that guards itself with has() must not hide that a confidence of 42 is invalid.
  if (confidence === null && CONFIDENCE.test(condition)) return 'the confidence is not a number from 0 to 1'
  if (answer.kind === 'error') return answer.detail
  return typeof answer.value === 'boolean' ? null : 'the answer is neither true nor false'
}

/** Null: the result is accepted. `answers` are the verdicts of the rules, in their order; a missing one is an uncertain outcome. */
export const escalationOf = (
  rules: readonly EscalationRule[],
  answers: readonly RuleAnswer[],
  confidence: number | null,
): Escalation | null => {
  for (const [position, rule] of rules.entries()) {
    const answer = answers[position] ?? { kind: 'error', detail: 'it was not asked' }
    const matched = reasonToEscalate(rule, answer, confidence)
    const to = rule.escalateTo
    if (matched !== null)
      return { rule: position, to, reason: `rule could not be evaluated: ${rule.condition}: ${matched}` }
    if (answer.kind === 'value' && answer.value === true) return { rule: position, to, reason: rule.reason }
  }
  return null
}
