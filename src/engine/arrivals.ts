/**
 * An event as a gate takes it: keys, cost and priority worked out by the handler's rules.
 *
 * Owns the evaluation. A key or a cost that cannot be worked out refuses the event; a priority falls back to none.
 */
import type { FlowRules } from '../manifest/flow.ts'
import type { Arrival } from '../model/arrival.ts'
import type { StoredEvent } from '../model/event.ts'
import type { RefusedEvent } from '../model/gate-fact.ts'
import type { Json } from '../model/json.ts'
import type { Rule } from '../model/rule.ts'
import { eventRoot } from './route.ts'

class RuleFailed extends Error {}

type Roots = Parameters<Rule>[0]

const answerOf = (rule: Rule, roots: Roots, what: string): Json => {
  const answer = rule(roots)
  if (answer.kind === 'error') throw new RuleFailed(`${what}: ${answer.detail}`)
  return answer.value
}

/** Null is a failure, never a bucket that many share. */
const keyOf = (rule: Rule | null, roots: Roots, what: string): string => {
  if (rule === null) return ''
  const value = answerOf(rule, roots, what)
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new RuleFailed(`${what}: gives ${JSON.stringify(value)}, not a text, a number or a boolean`)
}

const numberOf = (rule: Rule | null, roots: Roots, what: string, otherwise: number): number => {
  if (rule === null) return otherwise
  const value = answerOf(rule, roots, what)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new RuleFailed(`${what}: gives ${JSON.stringify(value)}, not a number`)
}

const priorityOf = (rule: Rule | null, roots: Roots): number => {
  try {
    return numberOf(rule, roots, 'priority', 0)
  } catch {
    return 0
  }
}

export const arrivalOf = (event: StoredEvent, rules: FlowRules): Arrival | RefusedEvent => {
  const roots = { event: eventRoot(event), payload: event.data }
  const { sequence, time } = event
  try {
    return {
      sequence,
      time,
      bytes: JSON.stringify(event.data).length,
      idempotencyKey: rules.idempotencyKey === null ? null : keyOf(rules.idempotencyKey, roots, 'idempotency key'),
      rateKey: keyOf(rules.rateKey, roots, 'rate limit key'),
      windowKey: keyOf(rules.windowKey, roots, 'debounce or batch key'),
      overlapKey: keyOf(rules.overlapKey, roots, 'overlap key'),
      throttleKey: keyOf(rules.throttleKey, roots, 'throttle key'),
      cost: numberOf(rules.cost, roots, 'cost', 1),
      priority: priorityOf(rules.priority, roots),
      alone: rules.alone !== null && answerOf(rules.alone, roots, 'batch.if') === true,
    }
  } catch (error) {
    if (error instanceof RuleFailed) return { sequence, reason: 'error', detail: error.message }
    throw error
  }
}
