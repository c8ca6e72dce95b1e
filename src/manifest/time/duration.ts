/**
 * Durations as people write them: `500ms 30s 5m 24h 3d 2w 1h30m`, or ISO 8601 `PT5M`.
 *
 * Owns the spelling. A bare number means milliseconds, in code only.
 */
import { TrihandError } from '#model/kernel/errors.ts'

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}
const MAX_MS = 3650 * 86_400_000
const PART = /(\d+(?:\.\d+)?)(ms|[smhdw])/g
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/
const ISO = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

const isoMs = (text: string): number | null => {
  const found = ISO.exec(text)
  if (found === null || text === 'P' || text.endsWith('T')) return null
  const units = ['w', 'd', 'h', 'm', 's']
  return units.reduce((sum, unit, i) => sum + Number(found[i + 1] ?? 0) * (UNIT_MS[unit] ?? 0), 0)
}

const shortMs = (text: string): number | null => {
  if (!WHOLE.test(text)) return null
  let sum = 0
  for (const [, count, unit] of text.matchAll(PART)) sum += Number(count) * (UNIT_MS[unit ?? ''] ?? 0)
  return sum
}

export const durationMs = (duration: string | number): number => {
  const ms = typeof duration === 'number' ? duration : (shortMs(duration) ?? isoMs(duration) ?? Number.NaN)
  if (!Number.isFinite(ms) || ms < 0 || ms > MAX_MS) {
    throw new TrihandError(
      'MANIFEST_INVALID',
      `"${duration}" is not a duration; write one like 30s, 5m, 1h30m or 3d, at most 3650d`,
    )
  }
  return Math.round(ms)
}
