/** Instants as text: RFC 3339 in UTC with milliseconds. Owns the spelling; never reads the clock. */
import type { Instant } from './ids.ts'

// biome-ignore lint/style/noRestrictedGlobals: spells an instant that was given, and asks no clock
export const isoTime = (instant: Instant): string => new Date(instant).toISOString()
