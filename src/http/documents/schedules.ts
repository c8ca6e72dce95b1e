/** Schemas of schedules on the wire. */
import {
  closed,
  described,
  instant,
  list,
  number,
  orNull,
  record,
  ref,
  text,
  whole,
  words,
} from '#http/openapi/schema.ts'

const duration = described('a duration, as 24h', text)

export const scheduleComponents = {
  Schedule: record({
    name: text,
    target: record({ kind: text, name: text }),
    timing: described('in the words it was written in', text),
    english: described('when it fires; null: it cannot be said better', orNull(text)),
    tz: text,
    status: words(['live', 'paused', 'ended']),
    next_at: orNull(instant),
    next: described('the slots to come, at most five', list(instant)),
    clock_change: described(
      'when the clocks of its zone are next put forward, or back (less than 0); null: not within a year',
      orNull(record({ at: instant, minutes: number })),
    ),
    policies: ref('SchedulePolicies'),
    fired: whole,
    running: whole,
    waiting: whole,
    last: orNull(record({ run_id: text, slot: instant, status: text })),
    paused_by: orNull(text),
    paused_reason: orNull(text),
  }),
  SchedulePolicies: record({
    overlap: described('what happens if the run before has not ended', text),
    missed: words(['run_once', 'skip', 'run_all']),
    missed_window: described('how far back a missed slot is worth a run', duration),
    missed_max: whole,
    jitter: duration,
    starts: orNull(instant),
    ends: orNull(instant),
    exclusions: described('how many are cut out of its calendar', whole),
    max_runs: orNull(whole),
    pause_on_failures: orNull(whole),
    adaptive: orNull(record({ min: duration, max: duration })),
  }),
  ScheduleSlot: record({
    slot: instant,
    until: described('the last of a range that was skipped', instant),
    count: whole,
    outcome: described('the status of its run, waiting, or skipped', text),
    run_id: orNull(text),
    origin: orNull(words(['slot', 'missed', 'backfill', 'now'])),
    reason: described('why it was skipped', orNull(text)),
  }),
  BackfillCount: record({ count: whole, first: orNull(instant), last: orNull(instant) }),
}

export const PAUSE = closed({}, { reason: described('why, for whoever finds it paused', text) })
export const RUN_NOW = closed({}, { id: described('of this wish: the same one twice is one', text) })
export const BACKFILL = closed({ from: instant, to: instant }, { id: text })
