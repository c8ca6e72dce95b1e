/** Which breaker a run's calls go through: the function's own, or one for each key that its rule gives. */
import { eventRoot } from '#engine/core/route.ts'
import { keyOf, RuleFailed } from '#engine/core/rule-values.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import type { Circuit } from '#manifest/flow/circuit.ts'

const MAX_KEY = 128

/** The breaker of what this run calls. A key that cannot be worked out is the function's own: nothing is let by without one. */
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
