/**
 * Events that cancel a run: the shape that an author writes, and the stored shape.
 *
 * Owns the two shapes. Whether an event matches is decided in wait.ts, what a cancel does in model/run/run.ts.
 */
/** The name of the steps whose waits listen for such events, one for each rule. */
export const CANCEL_STEP = 'trihand.cancel_on'

export const isCancelStep = (step: string): boolean => step.startsWith(`${CANCEL_STEP}[`)

export interface CancelSource {
  readonly event: string
  /** A path that must hold the same value in the event's data and in what started the run: `payload.id`. */
  readonly match?: string
  /** A rule over `event`, `payload` and `trigger`. */
  readonly if?: string
  /** Counts only this long after the run began. */
  readonly timeout?: string | number
  readonly mode?: CancelMode
}

/** `between_steps`: running steps finish first. `abort`: they are asked to stop. */
export type CancelMode = 'between_steps' | 'abort'

export interface CancelRule {
  readonly event: string
  readonly match: string | null
  readonly condition: string | null
  readonly timeoutMs: number | null
  readonly mode: CancelMode
}
