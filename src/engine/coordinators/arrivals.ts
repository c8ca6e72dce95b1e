/**
 * Prepares an event or a call for a gate: evaluates keys, cost and priority by the handler's rules.
 *
 * Owns the evaluation. If a key or a cost cannot be computed, the event is refused; a priority falls back to none.
 */
import { eventRoot } from '#engine/core/route.ts'
import { answerOf, keyOf, numberOf, priorityOf, type Roots, RuleFailed } from '#engine/core/rule-values.ts'
import { rootsOfInput } from '#engine/run/resource-claim.ts'
import type { FlowDefinition, FlowRules, TriggerFlow } from '#manifest/flow/flow.ts'
import type { Arrival, Call } from '#model/event/arrival.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { GateCommand, RefusedEvent } from '#model/flow/gate-fact.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'

type Keys = Omit<Arrival, 'sequence' | 'time' | 'bytes' | 'call' | 'trigger'>
export type CallCommand = Pick<Extract<GateCommand, { readonly type: 'call' }>, 'arrival' | 'problem'>

const NO_KEYS: Keys = {
  idempotencyKey: null,
  rateKey: '',
  windowKey: '',
  overlapKey: '',
  throttleKey: '',
  cost: 1,
  priority: 0,
  alone: false,
}

/** Throws RuleFailed if a rule cannot be evaluated. */
const keysOf = (rules: FlowRules, roots: Roots): Keys => ({
  idempotencyKey: rules.idempotencyKey === null ? null : keyOf(rules.idempotencyKey, roots, 'idempotency key'),
  rateKey: keyOf(rules.rateKey, roots, 'rate limit key'),
  windowKey: keyOf(rules.windowKey, roots, 'key of debounce, batch or fan-in'),
  overlapKey: keyOf(rules.overlapKey, roots, 'overlap key'),
  throttleKey: keyOf(rules.throttleKey, roots, 'throttle key'),
  cost: numberOf(rules.cost, roots, 'cost', 1),
  priority: priorityOf(rules.priority, roots),
  alone: rules.alone !== null && answerOf(rules.alone, roots, 'batch.if') === true,
})

const sizeOf = (value: Json): number => JSON.stringify(value).length

/** Options of a single trigger are counted separately: their keys never equal those of the handler or of another trigger. */
const apart = (keys: Keys, trigger: string, owns: TriggerFlow['owns']): Keys & Pick<Arrival, 'trigger'> => {
  const own = (option: TriggerFlow['owns'][number], key: string): string =>
    owns.includes(option) ? `${trigger}\n${key}` : key
  return {
    ...keys,
    trigger,
    idempotencyKey: keys.idempotencyKey === null ? null : own('idempotency', keys.idempotencyKey),
    rateKey: own('rateLimit', keys.rateKey),
    windowKey: own('debounce', own('batch', keys.windowKey)),
  }
}

/** `trigger`: the name of the trigger that accepted the event; it matters if the trigger has options of its own. */
export const arrivalOf = (event: StoredEvent, flow: FlowDefinition, trigger: string | null): Arrival | RefusedEvent => {
  const { sequence, time, data } = event
  const own = trigger === null ? undefined : flow.ofTriggers.get(trigger)
  try {
    const keys = keysOf((own ?? flow).rules, { event: eventRoot(event), payload: data })
    const named = own === undefined || trigger === null ? keys : apart(keys, trigger, own.owns)
    const member = flow.policies.fanIn === undefined ? {} : { member: event.type }
    return { sequence, time, bytes: sizeOf(data), ...named, ...member }
  } catch (error) {
    if (error instanceof RuleFailed) return { sequence, reason: 'error', detail: error.message }
    throw error
  }
}

/** Ignores the rules of windows (debounce, batch), because a call never waits for other calls. */
export const callCommandOf = (
  rules: FlowRules,
  { call, value, now }: { readonly call: Call; readonly value: Json; readonly now: Instant },
): CallCommand => {
  const about = { time: now, bytes: sizeOf(value), call }
  try {
    const keys = keysOf({ ...rules, windowKey: null, alone: null }, rootsOfInput(value))
    return { arrival: { ...about, ...keys }, problem: null }
  } catch (error) {
    if (error instanceof RuleFailed) return { arrival: { ...about, ...NO_KEYS }, problem: error.message }
    throw error
  }
}
