/**
 * Events that end a run: as an author writes them, and as they are kept.
 *
 * Owns the two shapes. Whether an event is meant is a wait's question (wait.ts); what a cancel does is the run's (run.ts).
 */
/** The steps whose waits listen for such events, one for each rule. */
export const CANCEL_STEP = 'trihand.cancel_on'

export const isCancelStep = (step: string): boolean => step.startsWith(`${CANCEL_STEP}[`)

export interface CancelSource {
  readonly event: string
  /** A path that must hold the same value in the event's data and in what started the run: `payload.id`. */
  readonly match?: string
  /** A rule over `event`, `payload` and `trigger`. */
  readonly if?: string
  /** Only so long after the run's beginning. */
  readonly timeout?: string | number
  readonly mode?: CancelMode
}

/** Steps at work finish first, or are told to stop. */
export type CancelMode = 'between_steps' | 'abort'

export interface CancelRule {
  readonly event: string
  readonly match: string | null
  readonly condition: string | null
  readonly timeoutMs: number | null
  readonly mode: CancelMode
}
