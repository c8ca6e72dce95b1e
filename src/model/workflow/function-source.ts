/**
 * A function as an author writes it: its triggers, its schemas, what a failure does, who may start and cancel it.
 *
 * Owns only the options. manifest/define/define.ts makes the normal form, with defaults and refusals. Schemas have no type here, because the
 * model knows no package; `fn` adds it (executors/workflow/function.ts).
 */
import type { CancelSource } from '#model/event/cancel-on.ts'
import type { EventTrigger, WatchTrigger } from '#model/event/watch.ts'
import type { ConstraintsSource } from '#model/flow/policies/constraints.ts'
import type { FlowSource, TriggerFlowSource } from '#model/flow/policies/flow-source.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { QueueReading } from '#model/flow/queue-source.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { Effect } from '#model/run/step.ts'
import type { CircuitSource, PlacementSource } from '#model/worker/source.ts'
import type { WorkflowSource } from './source.ts'

type Duration = string | number

/**
 * What starts a function: `{ event: 'order.paid', filter: 'payload.total > 100' }`, or something to watch. Idempotency, rate limit, debounce and
 * batch may be set on a trigger; they override those of the function.
 */
export type TriggerSource = (EventTrigger | WatchTrigger) & TriggerFlowSource

/** What a function declares besides its code: `{ trigger: 'order.paid', effect: 'once', timeout: '30s' }`. */
export interface FunctionDeclaration extends PlacementSource, WorkflowSource, FlowSource {
  /** What starts it: an event type, or a trigger with its options. Default: nothing but a call by name. */
  readonly trigger?: string | TriggerSource
  /** Several triggers, each as in `trigger`. Default: none. */
  readonly triggers?: readonly (string | TriggerSource)[]
  /** Event types that its code waits for. Lifecycle events are sent only to functions that name them here. Default: none. */
  readonly waits?: readonly string[]
  /** The schema of its input, any with `~standard`: input that does not fit is refused. Default: any JSON. */
  readonly input?: unknown
  /** The schema of its result, any with `~standard`: a run whose result does not fit fails. Default: any JSON. */
  readonly output?: unknown
  /**
   * What a repeat would do. `idempotent`: its code may contain steps and is entered again. `once` and `transactional`: the whole function is one
   * step. Default: `idempotent`.
   */
  readonly effect?: Effect
  /** How often a failed attempt is repeated, and after how long. Default: 4 attempts, from 1 s on twice as long each, at most 5 min. */
  readonly retry?: Partial<RetryPolicy>
  /** How long one attempt of a step may take, a duration. Default: `300s`. */
  readonly timeout?: Duration
  /** How long after it was asked for a run must have begun (`start`) and ended (`finish`), else it expires; durations. Default: no limit. */
  readonly deadline?: { readonly start?: Duration; readonly finish?: Duration }
  /** How often it may occur in the chain of causes that led to it, besides the first time. Default: 0, so that it never starts itself. */
  readonly allowReentry?: number
  /** True: only its triggers start it, never a call by name. Default: true if an event that only people may send starts it. */
  readonly internal?: boolean
  /** Events that cancel its runs: `[{ event: 'order.cancelled', match: 'payload.id' }]`. Default: none. */
  readonly cancelOn?: readonly CancelSource[]
  /** A circuit breaker for its steps. Default: none. */
  readonly circuit?: CircuitSource
  /** Limits for the executors of its tasks, whatever a step asks for; the stricter value applies. Default: those of the step. */
  readonly constraints?: ConstraintsSource
  /** The queue whose messages it processes. Default: none. */
  readonly source?: QueueReading
}

/** A handler with its declaration, as `fn`, `agent` and `human` give it to a system. */
export interface FunctionSource {
  /** Its name: a letter, then at most 63 of `a-z 0-9 _ -`. Unique among functions, agents and humans. */
  readonly name: string
  /** What it declares. */
  readonly options: FunctionDeclaration
  /** Its code, a file of its module that holds it, or null if its declaration is all it does. */
  readonly code: unknown
  /** Who does the work. Default: `workflow`. */
  readonly modality?: Modality
}
