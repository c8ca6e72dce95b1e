/**
 * A play is a function of the simulated system with everything that is needed to judge its runs: how it is started, which events
 * it waits for, and what its output must be whatever happened on the way.
 *
 * Owns the shape and the one way in which plays touch the world. Each play exists in two editions of its code: the second has
 * other steps in another order and the same result.
 */
import type { FunctionContext, FunctionSource } from '#executors/workflow/function.ts'
import type { RunOptions } from '#executors/workflow/step-api.ts'
import type { ScheduleOptions } from '#manifest/time/schedule.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Effect } from '#model/run/step.ts'
import type { Edition, World } from './world.ts'

/** What the code of plays can reach. The system is defined once; the world changes with each schedule. */
export interface Scene {
  world: World
  /** Whose code this is: each edition of the system has a scene of its own. */
  readonly edition?: Edition
}

/** When every schedule of the simulator begins. */
export const START = 1_700_000_000_000

export interface Errand {
  readonly id: number
  /** A number for the play to make a difference of. */
  readonly kind: number
}

export interface Cue {
  readonly type: string
  readonly data: { readonly [key: string]: Json }
}

/** A run that has ended, with what its judge may want to see. */
export interface Ending {
  readonly run: RunId
  readonly errand: Errand
  readonly status: RunStatus
  readonly output: Json | null
  readonly facts: readonly RunFact[]
  readonly eventBySequence: (sequence: number) => StoredEvent | undefined
}

/** What a gate promises about its runs, said once more and apart from the policies that are judged. */
export interface GateRule {
  readonly kind: 'gate'
  /** One key for every policy of the gate. */
  readonly keyOf: (errand: Errand) => string
  /** No two runs live at the same time: of one key, or at all. */
  readonly apart?: 'key' | 'all'
  readonly rate?: { readonly limit: number; readonly periodMs: number }
  /** Between the starts of two runs of one key. */
  readonly spacingMs?: number
  /** Between the last event of a run and its start. */
  readonly quietMs?: number
  readonly batch?: { readonly maxSize: number; readonly maxWaitMs: number }
  /** A key has one run that succeeds, and none beside one that lives. */
  readonly once?: boolean
  /** Each event of a batch has a key of its own. */
  readonly itemKeys?: boolean
}

/** What a schedule promises, likewise. */
export interface ScheduleRule {
  readonly kind: 'schedule'
  readonly everyMs: number
  /** The last instant that may be a slot. */
  readonly endAt: number
  readonly apart: boolean
  /** Its slots send events of this type instead of starting runs of the play. */
  readonly emits?: string
  /** People ask it for slots of the past. */
  readonly backfills?: boolean
}

export interface Play {
  readonly name: string
  readonly functions: (scene: Scene, edition: Edition) => readonly FunctionSource[]
  /** Events that its runs wait for. */
  readonly cues: (errand: Errand) => readonly Cue[]
  /** The run lives in a session. */
  readonly inSession?: boolean
  /** What a run that succeeded must have given. */
  readonly output: (ending: Ending) => Json
  /** Its runs are started by a coordinator. */
  readonly coordinator?: GateRule | ScheduleRule
  readonly schedules?: readonly ScheduleOptions[]
  /** So often somebody looks for a run of it that has failed, and retries it. */
  readonly retries?: number
  /** Ends that are right although they are no success, apart from a cancel. */
  readonly mayEnd?: (ending: Ending) => boolean
}

export interface PerformOptions extends RunOptions {
  readonly delayMs?: number
  /** So many attempts fail before one succeeds. */
  readonly failures?: number
}

export type Context = FunctionContext<Errand>

/** One step that acts on the world and gives the value. */
export const perform = <T extends Json>(
  scene: Scene,
  context: Context,
  name: string,
  value: T,
  options: PerformOptions = {},
): Promise<T> => {
  const { delayMs = 0, failures = 0, effect = 'idempotent', key } = options
  const step = key === undefined ? name : `${name}[${key}]`
  const body = async ({ effectKey, attempt }: { readonly effectKey: string; readonly attempt: number }): Promise<T> => {
    act(scene, context.run.id, { step, effect, effectKey, attempt })
    if (delayMs > 0) await scene.world.delay(delayMs)
    if (attempt <= failures) throw new Error(`attempt ${attempt} fails`)
    return value
  }
  return context.step.run(name, body, options) as Promise<T>
}

export const act = (
  scene: Scene,
  run: RunId,
  what: { readonly step: string; readonly effect: Effect; readonly effectKey: string; readonly attempt: number },
): (() => void) => scene.world.act({ run, edition: scene.edition ?? 1, ...what })

/** In the order of this edition: the second runs the same steps the other way round, and one more. */
export const inOrder = async (
  edition: Edition,
  steps: readonly (() => Promise<unknown>)[],
  extra: () => Promise<unknown>,
): Promise<void> => {
  if (edition === 2) await extra()
  for (const step of edition === 1 ? steps : [...steps].reverse()) await step()
}
