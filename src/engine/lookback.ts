/**
 * After which event a wait begins to count: since the run began, from now on, or within a length of time.
 *
 * Owns that choice. Never looks events up (offer.ts).
 */
import type { Instant } from '../model/ids.ts'
import type { WaitRequest } from '../ports/step-gate.ts'

/** `runBase` is the last event before the run; `past` are those since then, or all for a length of time, oldest first. */
export const lookbackBase = (
  { lookback }: Pick<WaitRequest, 'lookback'>,
  past: readonly { readonly sequence: number; readonly time: Instant }[],
  runBase: number,
  now: Instant,
): number => {
  const last = past.at(-1)?.sequence ?? runBase
  switch (lookback.kind) {
    case 'run':
      return runBase
    case 'none':
      return last
    case 'within': {
      const since = now - lookback.ms
      const first = past.find((event) => event.time >= since)
      return first === undefined ? last : first.sequence - 1
    }
  }
}
