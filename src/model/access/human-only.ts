/**
 * Events that only people cause, and who may produce them.
 *
 * Owns the rule. Which events those are is read from the definition of a system (manifest/human/human-only.ts); who produces one is said by
 * the place where it would enter (engine/core/events.ts).
 *
 * human-only-1  An event that the action of a declared human emits comes from a decision of a task of that human, and from nothing else.
 * human-only-2  An event of source human that no declared task emits comes from a person who is named: one who sends it, or decides a task.
 * human-only-3  No sender takes the name under which the system tells a decision: the decision could then not be written.
 */
import { type Refusal, refuse } from '#model/kernel/machine.ts'

/** Why an event is people's alone. */
export type HumanOnly =
  | {
      readonly kind: 'decision'
      /** The handlers whose tasks emit it. */
      readonly of: readonly string[]
    }
  | { readonly kind: 'person' }

/** Who would produce an event. */
export type Producer =
  /** A function, an agent, a webhook, a schedule, a credential that is no person's, or code that names no person. */
  | { readonly kind: 'program' }
  /** The system itself: events that it tells of its own work. */
  | { readonly kind: 'system' }
  /** Sent by a person under their own name. */
  | { readonly kind: 'person' }
  /** An action of a task that a run of this handler has opened. */
  | { readonly kind: 'task'; readonly handler: string; readonly byPerson: boolean }

/** What the system tells of decisions. */
const TOLD_DECISIONS: ReadonlySet<string> = new Set([
  'human.decided',
  'approval_bundle.approved',
  'approval_bundle.rejected',
  'approval_bundle.revision_requested',
  'trihand.plan.approved',
])

/** Whether an event of this type stands for what people decided or said. `only`: as its definition has it. */
export const tellsDecision = (type: string, only: HumanOnly | null): boolean =>
  only !== null || TOLD_DECISIONS.has(type)

export const PROGRAM: Producer = { kind: 'program' }
export const OWN: Producer = { kind: 'system' }
export const PERSON: Producer = { kind: 'person' }

const mayProduce = (only: HumanOnly, producer: Producer): boolean => {
  if (producer.kind === 'system') return true
  if (only.kind === 'decision') return producer.kind === 'task' && only.of.includes(producer.handler)
  return producer.kind === 'person' || (producer.kind === 'task' && producer.byPerson)
}

/** Null: this producer may. */
export const forbidProducer = (type: string, only: HumanOnly | null, producer: Producer): Refusal | null => {
  if (only === null || mayProduce(only, producer)) return null
  const source =
    only.kind === 'decision'
      ? `a decision of ${only.of.join(' or ')} sends ${type}, and nothing else may`
      : `a person sends ${type} under their own name, and no program may`
  return refuse('EVENT_HUMAN_ONLY', source)
}
