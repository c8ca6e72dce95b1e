/**
 * Describes in English when a schedule fires.
 *
 * Owns the wording. The library that describes cron is large and loaded on first use.
 */
import type { Timing } from '#model/schedule/spec.ts'

const UNITS: readonly (readonly [string, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]

const every = (ms: number): string => {
  const [name, length] = UNITS.find(([, size]) => ms % size === 0) ?? ['millisecond', 1]
  return ms === length ? `Every ${name}` : `Every ${ms / length} ${name}s`
}

/** Null: there is no better description than the timing as it was written. */
export const englishOf = async (timing: Timing): Promise<string | null> => {
  if (timing.kind === 'at' || timing.kind === 'in') return null
  if (timing.kind === 'every') return every(timing.everyMs)
  const { default: cronstrue } = await import('cronstrue')
  try {
    return cronstrue.toString(timing.expression, { use24HourTimeFormat: true })
  } catch {
    // Our cron syntax has a few features that the library does not know.
    return null
  }
}
