/**
 * A play is a function of the simulated system with everything that is needed to judge its runs: how it is started, which events
 * it waits for, and what its output must be whatever happened on the way.
 *
 * Owns the shape and the one way in which plays affect the world. Each play exists in two editions of its code: the second has
 * other steps in another order and the same result.
 */
import type { FunctionContext } from '#executors/workflow/function.ts'
import type { RunOptions } from '#executors/workflow/step-api.ts'
import type { ScheduleOptions } from '#manifest/time/schedule.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Effect } from '#model/run/step.ts'
import type { FunctionSource } from '#model/workflow/function-source.ts'
import type { Edition, World } from './world.ts'

/** What the code of plays can reach. The system is defined once; the world changes with each schedule. */
export interface Scene {
  world: World
  /** The edition of this code: each edition of the system has a scene of its own. */
  readonly edition?: Edition
}

/** The instant at which every schedule of the simulator begins. */
export const START = 1_700_000_000_000

export interface Errand {
  readonly id: number
  /** A number by which the play varies. */
  readonly kind: number
}

export interface Cue {
  readonly type: string
  readonly data: { readonly [key: string]: Json }
}

/** A run that has ended, with what its check may need. */
export interface Ending {
  readonly run: RunId
  readonly errand: Errand
  readonly status: RunStatus
  readonly output: Json | null
  readonly facts: readonly RunFact[]
  readonly eventBySequence: (sequence: number) => StoredEvent | undefined
}

/** What a gate promises about its runs, stated again independently of the policies under test. */
export interface GateRule {
  readonly kind: 'gate'
  /** One key for every policy of the gate. */
  readonly keyOf: (errand: Errand) => string
  /** No two runs live at the same time: of one key, or at all. */
  readonly apart?: 'key' | 'all'
  readonly rate?: { readonly limit: number; readonly periodMs: number }
  /** The least time between the starts of two runs of one key. */
  readonly spacingMs?: number
  /** The least time between the last event of a run and its start. */
  readonly quietMs?: number
  readonly batch?: { readonly maxSize: number; readonly maxWaitMs: number }
  /** A key has one successful run, and none beside one that lives. */
  readonly once?: boolean
  /** Each event of a batch has a key of its own. */
  readonly itemKeys?: boolean
}

/** What a schedule promises, stated again in the same way. */
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
  /** The run belongs to a session. */
  readonly inSession?: boolean
  /** The output that a successful run must have. */
  readonly output: (ending: Ending) => Json
  /** Its runs are started by a coordinator. */
  readonly coordinator?: GateRule | ScheduleRule
  readonly schedules?: readonly ScheduleOptions[]
  /** How often a person looks for a failed run of it, and retries it. */
  readonly retries?: number
  /** Ends that are correct although they are not a success, besides a cancel. */
  readonly mayEnd?: (ending: Ending) => boolean
}

export interface PerformOptions extends RunOptions {
  readonly delayMs?: number
  /** How many attempts fail before one succeeds. */
  readonly failures?: number
}

export type Context = FunctionContext<Errand>

/** One step that acts on the world and returns the value. */
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

/** In the order of this edition: the second runs the same steps in reverse, and one more. */
export const inOrder = async (
  edition: Edition,
  steps: readonly (() => Promise<unknown>)[],
  extra: () => Promise<unknown>,
): Promise<void> => {
  if (edition === 2) await extra()
  for (const step of edition === 1 ? steps : [...steps].reverse()) await step()
}
