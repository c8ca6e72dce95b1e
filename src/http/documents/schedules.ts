/** Schedules as the wire spells them, described. */
import { closed, described, instant, orNull, record, text, whole, words } from '../schema.ts'

export const scheduleComponents = {
  Schedule: record({
    name: text,
    target: record({ kind: text, name: text }),
    timing: described('in the words it was written in', text),
    english: described('when it fires; null: it cannot be said better', orNull(text)),
    tz: text,
    status: words(['live', 'paused', 'ended']),
    next_at: orNull(instant),
    fired: whole,
    running: whole,
    waiting: whole,
    last: orNull(record({ run_id: text, slot: instant, status: text })),
    paused_by: orNull(text),
  }),
}

export const RUN_NOW = closed({}, { id: described('of this wish: the same one twice is one', text) })
export const BACKFILL = closed({ from: instant, to: instant }, { id: text })
