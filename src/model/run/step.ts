/**
 * A step, the smallest durable unit of a run: its address, its open states, and how it settles.
 *
 * Owns the shapes, and when an open step next needs a wake. Never decides for the whole run (run.ts).
 */
import type { OpenWait, Received } from '#model/event/wait.ts'
import type { Failure } from '#model/kernel/errors.ts'
import { type ChildId, type Instant, isPlainText, type RunId, type TaskId, type WorkerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'

/** `idempotent`: at least once, with the same key. `once`: at most once without a person's decision. `transactional`: committed with its result. */
export type Effect = 'idempotent' | 'once' | 'transactional'

/** The performer of an intended attempt. */
export interface Performer {
  /** Identifies this attempt: a late answer belongs to it and to no other. */
  readonly id: string
  readonly worker: WorkerId
  /** The epoch of the lease under which it began. */
  readonly epoch: number
  /** No person is asked about it before this instant: its intent plus the lease and the timeout of the step. */
  readonly askAt: Instant
}

/** Helps a person to find out whether the effect happened. */
export interface Evidence {
  readonly input: Json
  /** The target of the effect, as its author names it. */
  readonly target: string | null
}

/** The answer of an attempt that came too late to count. */
export interface LateResult {
  readonly at: Instant
  readonly result: Payload | null
  readonly error: Failure | null
}

interface Begun {
  readonly attempt: number
  readonly effectKey: string
  /** Absent in ledgers that were written before it was recorded. */
  readonly performer?: Performer
  readonly evidence?: Evidence
  readonly late?: LateResult
}

export interface IntendedStep extends Begun {
  readonly kind: 'intended'
}

export interface UncertainStep extends Begun {
  readonly kind: 'uncertain'
  readonly reason: string
  /** The attempt has ended, or its process is gone: it can have no further effect. */
  readonly isOver: boolean
  /** The task that asks a person about it; null: no person was asked. */
  readonly task: TaskId | null
  /** Steps of effect `once` whose results the code did not ask for: this step may be one of them under a new name. */
  readonly instead?: readonly string[]
}

/** A call of another handler. */
export interface ChildCall {
  readonly handler: string
  /** The step that began this child, which is now retried. Absent: the call begins the child. */
  readonly again?: string
  /** The end of its parent does not end it. */
  readonly detached?: true
  /** Neither the call nor its retry passes a gate (`gate: none`). */
  readonly ungated?: true
}

export interface RunCall extends ChildCall {
  readonly child: RunId
}

/** A step that has begun and not settled. A plain attempt in progress is not among them: it records no fact until it ends. */
export type OpenStep =
  | IntendedStep
  | UncertainStep
  /** `wakeAt` is null once the delay has passed: the next attempt may begin. */
  | {
      readonly kind: 'retrying'
      readonly attempt: number
      readonly wakeAt: Instant | null
      readonly error: Failure
      /** What the attempt before has left for the next one. */
      readonly carry?: Json
    }
  | { readonly kind: 'sleeping'; readonly wakeAt: Instant }
  | { readonly kind: 'waiting'; readonly wait: OpenWait }
  | (ChildCall & { readonly kind: 'calling'; readonly child: ChildId })

export type SettledStep =
  /** `once`: its effect was performed at most once, and must not be performed again under another name. */
  | { readonly kind: 'done'; readonly result: Payload; readonly once?: true }
  /** `uncertain`: a person aborted it without knowing whether it happened. A retried run asks again. */
  | {
      readonly kind: 'failed'
      readonly error: Failure
      readonly uncertain?: UncertainStep
      /** The child run that failed: a retry continues it. */
      readonly call?: RunCall
    }
  | {
      readonly kind: 'received'
      readonly events: readonly Received[]
      readonly timedOut: boolean
      readonly missing: readonly string[]
    }

export const isSettled = (step: OpenStep | SettledStep): step is SettledStep =>
  step.kind === 'done' || step.kind === 'failed' || step.kind === 'received'

/** The instant from which a person may be asked; null: at once (an intent of an older version, which names no performer). */
export const askableAt = ({ late, performer }: Pick<IntendedStep, 'late' | 'performer'>): Instant | null => {
  if (late !== undefined) return late.at
  return performer?.askAt ?? null
}

/** The instant at which time alone changes this step; null if only an answer from outside does. */
export const stepWakeAt = (step: OpenStep): Instant | null => {
  switch (step.kind) {
    case 'retrying':
    case 'sleeping':
      return step.wakeAt
    case 'waiting':
      return step.wait.spec.timeoutAt
    case 'intended':
      return askableAt(step)
    case 'uncertain':
    case 'calling':
      return null
  }
}

const MAX_NAME_LENGTH = 128
const MAX_KEY_LENGTH = 255

/** A name has no opening bracket: `mail[7]` is the address of step `mail` with loop key `7`, and of nothing else. */
export const isStepName = (name: string): boolean => isPlainText(name, MAX_NAME_LENGTH) && !name.includes('[')
export const isLoopKey = (key: string): boolean => isPlainText(key, MAX_KEY_LENGTH)

/** Name plus loop key, never a position: the code around a step may change and it is still the same step. */
export const stepAddress = (name: string, key: string | null): string => (key === null ? name : `${name}[${key}]`)
