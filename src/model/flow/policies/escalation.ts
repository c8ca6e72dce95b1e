/**
 * Whether an agent's result goes to a person instead: declared rules over the result, the first that holds.
 *
 * Owns the uncertain outcome. Fail closed: a confidence that is none, a rule that fails or that answers with anything but true or false
 * escalates. Never evaluates a rule: its verdict is an argument.
 */
import type { EscalationRule } from '#model/agent/agent.ts'
import type { RuleAnswer } from '#model/kernel/rule.ts'

export interface Escalation {
  /** The position of the rule that said so. */
  readonly rule: number
  /** `human`, or the name of a handler. */
  readonly to: string
  readonly reason: string
}

const CONFIDENCE = /\bconfidence\b/

/** A share from 0 to 1; null: it cannot be told. `scale` is what 1 is called: 100 for percent, never guessed. */
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
  // Before the answer: a rule that guards itself with has() must not turn a confidence of 42 into none.
  if (confidence === null && CONFIDENCE.test(condition)) return 'the confidence is not a number from 0 to 1'
  if (answer.kind === 'error') return answer.detail
  return typeof answer.value === 'boolean' ? null : 'it answers with neither true nor false'
}

/** Null: the result stands. `answers` are the verdicts of the rules, in their order; a missing one is an uncertain outcome. */
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
