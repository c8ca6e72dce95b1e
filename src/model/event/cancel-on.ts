/**
 * Events that cancel a run: the shape that an author writes, and the stored shape.
 *
 * Owns the two shapes. Whether an event matches is decided in wait.ts, what a cancel does in model/run/run.ts.
 */
/** The name of the steps whose waits listen for such events, one for each rule. */
export const CANCEL_STEP = 'trihand.cancel_on'

export const isCancelStep = (step: string): boolean => step.startsWith(`${CANCEL_STEP}[`)

/** An event that cancels a run: `{ event: 'order.cancelled', match: 'payload.id' }`. */
export interface CancelSource {
  /** Its type. */
  readonly event: string
  /** A path that must hold the same value in the event's data and in what started the run: `payload.id`. Default: any event of the type. */
  readonly match?: string
  /** CEL over `event`, `payload` and `trigger`. Default: none. */
  readonly if?: string
  /** It counts only this long after the run began, a duration. Default: always. */
  readonly timeout?: string | number
  /** `between_steps`: running steps finish first. `abort`: they are asked to stop. Default: `between_steps`. */
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
