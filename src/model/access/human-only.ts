/**
 * Events that only people cause, and who may produce them.
 *
 * Owns the rule. Which events those are is read from the definition of a system (manifest/human/human-only.ts); the producer of an event is
 * stated where the event would enter (engine/core/events.ts).
 *
 * human-only-1  An event that the action of a declared human emits comes from a decision of a task of that human, and from nothing else.
 * human-only-2  An event of source human that no declared task emits comes from a named person who either sends it or decides a task.
 * human-only-3  No sender can use the type under which the system reports a decision: the decision could then not be recorded.
 */
import { type Refusal, refuse } from '#model/kernel/machine.ts'

/** Why only people may cause an event. */
export type HumanOnly =
  | {
      readonly kind: 'decision'
      /** The handlers whose tasks emit it. */
      readonly of: readonly string[]
    }
  | { readonly kind: 'person' }

/** The producer of an event. */
export type Producer =
  /** A function, an agent, a webhook, a schedule, a credential that is not a person's, or code that names no person. */
  | { readonly kind: 'program' }
  /** The system itself: events that report its own work. */
  | { readonly kind: 'system' }
  /** Sent by a person under their own name. */
  | { readonly kind: 'person' }
  /** An action of a task that a run of this handler has opened. */
  | { readonly kind: 'task'; readonly handler: string; readonly byPerson: boolean }

/** The events with which the system reports decisions. */
const TOLD_DECISIONS: ReadonlySet<string> = new Set([
  'human.decided',
  'approval_bundle.approved',
  'approval_bundle.rejected',
  'approval_bundle.revision_requested',
  'trihand.plan.approved',
])

/** True if an event of this type reports what people decided or said. `only`: the entry of the type's definition. */
export const reportsDecision = (type: string, only: HumanOnly | null): boolean =>
  only !== null || TOLD_DECISIONS.has(type)

export const PROGRAM: Producer = { kind: 'program' }
export const OWN: Producer = { kind: 'system' }
export const PERSON: Producer = { kind: 'person' }

const mayProduce = (only: HumanOnly, producer: Producer): boolean => {
  if (producer.kind === 'system') return true
  if (only.kind === 'decision') return producer.kind === 'task' && only.of.includes(producer.handler)
  return producer.kind === 'person' || (producer.kind === 'task' && producer.byPerson)
}

/** Null: this producer is allowed. */
export const forbidProducer = (type: string, only: HumanOnly | null, producer: Producer): Refusal | null => {
  if (only === null || mayProduce(only, producer)) return null
  const source =
    only.kind === 'decision'
      ? `only a decision of ${only.of.join(' or ')} may send ${type}`
      : `only a person may send ${type}, under their own name`
  return refuse('EVENT_HUMAN_ONLY', source)
}
