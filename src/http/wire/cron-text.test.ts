/** The timing of schedules in English. */
import { expect, test } from 'vitest'
import type { Timing } from '#model/schedule/spec.ts'
import { englishOf } from './cron-text.ts'

test.each<[Timing, string | null]>([
  [{ kind: 'cron', expression: '0 8 * * 1-5' }, 'At 08:00, Monday through Friday'],
  [{ kind: 'cron', expression: '*/15 * * * *' }, 'Every 15 minutes'],
  [{ kind: 'cron', expression: 'not cron' }, null],
  [{ kind: 'every', everyMs: 60_000, phaseMs: 0 }, 'Every minute'],
  [{ kind: 'every', everyMs: 5_400_000, phaseMs: 0 }, 'Every 90 minutes'],
  [{ kind: 'every', everyMs: 250, phaseMs: 0 }, 'Every 250 milliseconds'],
  [{ kind: 'at', at: 0 }, null],
])('%o is described as %s', async (timing, english) => expect(await englishOf(timing)).toBe(english))
