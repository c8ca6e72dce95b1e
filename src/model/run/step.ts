/**
 * The smallest durable unit of a run: its address, what it can be while open, and how it settles.
 *
 * Owns the shapes and the question when an open step next needs a wake. Never decides for the whole run (run.ts).
 */
import type { OpenWait, Received } from '#model/event/wait.ts'
import type { Failure } from '#model/kernel/errors.ts'
import { type ChildId, type Instant, isPlainText, type RunId, type TaskId, type WorkerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'

/** `idempotent`: at least once, same key. `once`: at most once by itself. `transactional`: its effect is written with its result. */
export type Effect = 'idempotent' | 'once' | 'transactional'

/** Who performs an intended attempt. */
export interface Performer {
  /** Of this attempt alone: an answer that comes late belongs to it and to no other. */
  readonly id: string
  readonly worker: WorkerId
  /** Of the lease under which it began. */
  readonly epoch: number
  /** Before this instant no person is asked about it: the lease and the timeout of the step after its intent. */
  readonly askAt: Instant
}

/** What helps a person to find out whether it happened. */
export interface Evidence {
  readonly input: Json
  /** What it acts on, as its author names it. */
  readonly target: string | null
}

/** What an attempt answered when its answer could no longer count. */
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
  /** The attempt has ended, or its process is gone: nothing of it acts any more. */
  readonly isOver: boolean
  /** Asks a person about it; null: no person was asked. */
  readonly task: TaskId | null
  /** Steps of effect `once` whose results the code did not ask for: this one may be one of them under a new name. */
  readonly instead?: readonly string[]
}

/** A call of another handler. */
export interface ChildCall {
  readonly handler: string
  /** The step that began this child: it is retried and not begun. Absent: the call began it. */
  readonly again?: string
  /** The end of its parent does not end it. */
  readonly detached?: true
  /** It passes no gate (`gate: none`), nor does its retry. */
  readonly ungated?: true
}

export interface RunCall extends ChildCall {
  readonly child: RunId
}

/** A step that has begun and not settled. A plain attempt in progress is not here: it leaves no fact until it ends. */
export type OpenStep =
  | IntendedStep
  | UncertainStep
  /** `wakeAt` is null once the delay has passed: the next attempt may begin. */
  | {
      readonly kind: 'retrying'
      readonly attempt: number
      readonly wakeAt: Instant | null
      readonly error: Failure
      /** What the attempt before leaves to the next one. */
      readonly carry?: Json
    }
  | { readonly kind: 'sleeping'; readonly wakeAt: Instant }
  | { readonly kind: 'waiting'; readonly wait: OpenWait }
  | (ChildCall & { readonly kind: 'calling'; readonly child: ChildId })

export type SettledStep =
  /** `once`: its effect was performed at most once, and must not be performed again under another name. */
  | { readonly kind: 'done'; readonly result: Payload; readonly once?: true }
  /** `doubt`: a person gave it up without knowing whether it happened. A run that is tried again asks once more. */
  | {
      readonly kind: 'failed'
      readonly error: Failure
      readonly uncertain?: UncertainStep
      /** The run that was called and failed: a retry goes on with it. */
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

/** When time alone allows the question; null: at once (an intent of an older version, which names no performer). */
export const askableAt = ({ late, performer }: Pick<IntendedStep, 'late' | 'performer'>): Instant | null => {
  if (late !== undefined) return late.at
  return performer?.askAt ?? null
}

/** When time alone moves this step on; null if only an answer from outside does. */
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

/** No opening bracket: `mail[7]` is the address of step `mail` with loop key `7`, and of nothing else. */
export const isStepName = (name: string): boolean => isPlainText(name, MAX_NAME_LENGTH) && !name.includes('[')
export const isLoopKey = (key: string): boolean => isPlainText(key, MAX_KEY_LENGTH)

/** Name plus loop key. Never a position: code may change around a step and it is still the same step. */
export const stepAddress = (name: string, key: string | null): string => (key === null ? name : `${name}[${key}]`)
