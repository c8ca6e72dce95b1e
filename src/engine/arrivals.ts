/**
 * An event as a gate takes it: keys, cost and priority worked out by the handler's rules.
 *
 * Owns the evaluation. A key or a cost that cannot be worked out refuses the event; a priority falls back to none.
 */
import type { FlowRules } from '../manifest/flow.ts'
import type { Arrival } from '../model/arrival.ts'
import type { StoredEvent } from '../model/event.ts'
import type { RefusedEvent } from '../model/gate-fact.ts'
import { eventRoot } from './route.ts'
import { answerOf, keyOf, numberOf, priorityOf, RuleFailed } from './rule-values.ts'

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
