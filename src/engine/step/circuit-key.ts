/** Chooses the circuit breaker for a run's calls: the function's own, or one per key if the breaker has a key rule. */
import { eventRoot } from '#engine/core/route.ts'
import { keyOf, RuleFailed } from '#engine/core/rule-values.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import type { Circuit } from '#manifest/flow/circuit.ts'

const MAX_KEY = 128

/** Returns the breaker for this run's calls. If the key cannot be computed it is the function's own: no call goes without a breaker. */
export const circuitFor = (circuit: Circuit, { record, inputs }: ActiveRun): Circuit => {
  if (circuit.keyRule === null) return circuit
  const event = record.event === null ? null : eventRoot(record.event)
  try {
    const key = keyOf(circuit.keyRule, { event, payload: inputs.input }, 'circuit key')
    return key === '' ? circuit : { ...circuit, key: key.slice(0, MAX_KEY) }
  } catch (error) {
    if (error instanceof RuleFailed) return circuit
    throw error
  }
}
