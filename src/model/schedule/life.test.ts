/** The life cycle of a schedule: pauses, requests, changes, its end, an adaptive interval. */
import { describe, expect, test } from 'vitest'
import type { Instant } from '#model/kernel/ids.ts'
import {
  aSpec,
  backfill,
  buffered,
  created,
  declare,
  ended,
  endRun,
  finished,
  fired,
  HOUR,
  lastRun,
  MISSED,
  passTime,
  paused,
  pauseNow,
  planned,
  requested,
  resumed,
  resumeNow,
  runNow,
  skipped,
  wakeAt,
  world,
} from '#test/support/stories/schedule-story.ts'
import { specify } from '#testing/spec.ts'
import type { ScheduleCommand, ScheduleFact } from './fact.ts'
import { schedule } from './schedule.ts'
import type { ScheduleSpec } from './spec.ts'

const { given } = specify(schedule)

describe('a pause', () => {
  const now = 5 * HOUR + 1

  test('schedule-5: starts nothing and needs no wake', () => {
    given(created(), paused(1)).when(passTime(now)).thenNothing()
    expect(wakeAt(created(), paused(1))).toBe(null)
  })

  test('starts the slots that were due before it', () =>
    given(created())
      .when(pauseNow(HOUR + 1))
      .thenFacts(fired(HOUR, { at: HOUR + 1 }), paused(HOUR + 1)))

  test('is recorded as skipped slots when it ends', () =>
    given(created(), paused(1))
      .when(resumeNow(now))
      .thenFacts(resumed(now), skipped(now, 'paused', HOUR, 5 * HOUR)))

  test('counts as missed time under countPause', () =>
    given(created({ countPause: true }), paused(1))
      .when(resumeNow(now))
      .thenFacts(
        resumed(now),
        skipped(now, 'coalesced', HOUR, 4 * HOUR),
        fired(5 * HOUR, { at: now, missed: { from: HOUR, to: 4 * HOUR, count: 4 } }),
      ))

  test('schedule-5: holds back the waiting line, and its end releases it', () => {
    const history = [
      created({ overlap: 'buffer_all' }),
      fired(HOUR),
      buffered(2 * HOUR, planned(2 * HOUR)),
      paused(2 * HOUR + 1),
    ]
    const end = ended(2 * HOUR + 2, HOUR)
    given(...history)
      .when(endRun(2 * HOUR + 2, HOUR))
      .thenFacts(end)
    given(...history, end)
      .when(resumeNow(2 * HOUR + 3))
      .thenFacts(resumed(2 * HOUR + 3), fired(2 * HOUR, { at: 2 * HOUR + 3, last: lastRun(HOUR) }))
  })

  test('changes nothing if the schedule is paused already, and a resume without a pause changes nothing', () => {
    given(created(), paused(1)).when(pauseNow(2)).thenNothing()
    given(created()).when(resumeNow(2)).thenNothing()
  })

  test('starts automatically after the configured number of failures in a row', () => {
    const history = [created({ pauseOnFailures: 2 }), fired(HOUR), ended(HOUR + 1, HOUR, 'failed'), fired(2 * HOUR)]
    const at = 2 * HOUR + 1
    given(...history)
      .when(endRun(at, 2 * HOUR, 'expired'))
      .thenFacts(ended(at, 2 * HOUR, 'expired'), {
        type: 'schedule.paused',
        at,
        by: 'trihand',
        reason: 'failures',
      })
    given(...history)
      .when(endRun(at, 2 * HOUR, 'cancelled'))
      .thenFacts(ended(at, 2 * HOUR, 'cancelled'))
  })
})

describe('a request', () => {
  test('runs now, also in a pause', () =>
    given(created(), paused(1))
      .when(runNow(5, 'a1'))
      .thenFacts(requested(5, 'a1'), fired(5, { origin: 'now', request: 'a1' })))

  test('schedule-4: is done once, however often it is sent', () => {
    given(created(), requested(5, 'a1')).when(runNow(6, 'a1')).thenNothing()
    given(created(), requested(5, 'b1'))
      .when(backfill(6, 1, 2))
      .thenNothing()
  })

  test('to run now is refused under overlap skip while a run is active', () =>
    given(created({ overlap: 'skip' }), fired(HOUR))
      .when(runNow(HOUR + 1, 'a1'))
      .thenRefused('RUN_EXISTS'))

  test('[H8] to backfill runs the past slots, even those that had a run, and does not move the schedule', () => {
    const line = [1, 2, 3].map((k) => planned(k * HOUR, 'backfill', 'b1'))
    const now = 9 * HOUR + 1
    given(created({}, 9 * HOUR))
      .when(backfill(now, HOUR, 3 * HOUR))
      .thenFacts(
        requested(now, 'b1'),
        buffered(now, ...line),
        ...line.map(({ slot }) => fired(slot, { at: now, origin: 'backfill', request: 'b1' })),
      )
  })

  test('[H8] to backfill during a pause runs its slots, and a later pause holds them back (14.4.5)', () => {
    const [first, second] = [planned(HOUR, 'backfill', 'b1'), planned(2 * HOUR, 'backfill', 'b1')]
    const born = created({ overlap: 'skip' }, 9 * HOUR)
    const [at, later] = [9 * HOUR + 2, 9 * HOUR + 3]
    const started = fired(HOUR, { at, origin: 'backfill', request: 'b1' })
    given(born, paused(9 * HOUR + 1))
      .when(backfill(at, HOUR, 2 * HOUR))
      .thenFacts(requested(at, 'b1'), buffered(at, first, second), started)
    const end: ScheduleFact = { type: 'schedule.run_ended', at: later, run: first.run, status: 'success' }
    const command: ScheduleCommand = { ...endRun(later, HOUR), run: first.run } as ScheduleCommand
    const history = [requested(at, 'b1'), buffered(at, first, second), started]
    given(born, paused(9 * HOUR + 1), ...history)
      .when(command)
      .thenFacts(end, fired(2 * HOUR, { at: later, origin: 'backfill', request: 'b1' }))
    given(born, ...history, paused(later))
      .when(command)
      .thenFacts(end)
    given(born, paused(9 * HOUR + 1), ...history, resumed(later), paused(later))
      .when(command)
      .thenFacts(end)
  })

  test('[H8] to backfill during a pause keeps the spacing between runs (14.4.5)', () => {
    const spaced = created({ missed: { ...MISSED, spacingMs: 500 } }, 9 * HOUR)
    const at = 9 * HOUR + 2
    const line = [planned(HOUR, 'backfill', 'b1'), planned(2 * HOUR, 'backfill', 'b1')]
    const started = fired(HOUR, { at, origin: 'backfill', request: 'b1' })
    const history = [spaced, paused(9 * HOUR + 1), requested(at, 'b1'), buffered(at, ...line), started]
    expect(wakeAt(...history)).toBe(at + 500)
    given(...history)
      .when(passTime(at + 500))
      .thenFacts(fired(2 * HOUR, { at: at + 500, origin: 'backfill', request: 'b1' }))
  })

  test('[H7] to run now during a pause does not wait for slots that the pause holds back (14.4.5)', () => {
    for (const overlap of ['skip', 'buffer_one', 'buffer_all', 'cancel_running'] as const) {
      const held = buffered(HOUR, planned(HOUR, 'missed'))
      given(created({ overlap }), held, paused(HOUR + 1))
        .when(runNow(HOUR + 2, 'a1'))
        .thenFacts(requested(HOUR + 2, 'a1'), fired(HOUR + 2, { origin: 'now', request: 'a1' }))
    }
  })

  test('[H7] to run now next to a backfill during a pause waits its turn, or is refused under overlap skip (14.4.5)', () => {
    const at = 9 * HOUR + 2
    const line = [planned(HOUR, 'backfill', 'b1'), planned(2 * HOUR, 'backfill', 'b1')]
    const history = [
      paused(9 * HOUR + 1),
      requested(at, 'b1'),
      buffered(at, ...line),
      fired(HOUR, { at, origin: 'backfill', request: 'b1' }),
    ]
    given(created({ overlap: 'skip' }, 9 * HOUR), ...history)
      .when(runNow(at + 1, 'a1'))
      .thenRefused('RUN_EXISTS')
    given(created({ overlap: 'buffer_all' }, 9 * HOUR), ...history)
      .when(runNow(at + 1, 'a1'))
      .thenFacts(requested(at + 1, 'a1'), buffered(at + 1, planned(at + 1, 'now', 'a1')))
    given(created({ overlap: 'allow' }, 9 * HOUR), ...history)
      .when(runNow(at + 1, 'a1'))
      .thenFacts(requested(at + 1, 'a1'), fired(at + 1, { origin: 'now', request: 'a1' }))
  })

  test('[H9] to backfill does not count as the previous run of the next slot, nor as a failure of the schedule', () =>
    given(created({ pauseOnFailures: 1 }, 9 * HOUR), fired(HOUR, { at: 9 * HOUR + 1, origin: 'backfill' }))
      .when(endRun(9 * HOUR + 2, HOUR, 'failed'))
      .thenFacts(ended(9 * HOUR + 2, HOUR, 'failed')))

  test('to backfill the future, or backwards, is refused', () => {
    given(created())
      .when(backfill(5, 1, 6))
      .thenRefused('INPUT_INVALID')
    given(created())
      .when(backfill(5, 3, 2))
      .thenRefused('INPUT_INVALID')
  })

  test('to backfill more slots than may wait is refused', () =>
    given(created({}, 2_000 * HOUR))
      .when(backfill(2_000 * HOUR, 0, 1_001 * HOUR))
      .thenRefused('RUN_BACKLOG_FULL'))

  test('to run now is refused once a thousand runs wait', () => {
    const many = buffered(1, ...Array.from({ length: 1_000 }, (_, k) => planned(k, 'now', `${k}`)))
    given(created(), many).when(runNow(5, 'a1')).thenRefused('RUN_BACKLOG_FULL')
  })
})

describe('a change', () => {
  const halfPast: Partial<ScheduleSpec> = { timing: { kind: 'every', everyMs: HOUR, phaseMs: HOUR / 2 } }

  test('schedule-3: settles the slots before it under the old expression', () =>
    given(created())
      .when(declare(2 * HOUR + 1, halfPast))
      .thenFacts(
        skipped(2 * HOUR + 1, 'coalesced', HOUR),
        fired(2 * HOUR, { at: 2 * HOUR + 1, missed: { from: HOUR, to: HOUR, count: 1 } }),
        { type: 'schedule.changed', at: 2 * HOUR + 1, spec: aSpec(halfPast) },
      ))

  test('schedule-3: fires a slot whose instant has passed while its jitter has not', () => {
    const spec = aSpec({ jitterMs: 100, ...halfPast })
    given(created({ jitterMs: 100 }))
      .when(declare(HOUR, spec))
      .thenFacts(fired(HOUR), { type: 'schedule.changed', at: HOUR, spec })
  })

  test('schedule-3: during a pause records the slots before it as paused', () =>
    given(created(), paused(1))
      .when(declare(2 * HOUR, halfPast))
      .thenFacts(skipped(2 * HOUR, 'paused', HOUR, 2 * HOUR), {
        type: 'schedule.changed',
        at: 2 * HOUR,
        spec: aSpec(halfPast),
      }))

  test('schedule-3: does not fill past slots of the new expression', () => {
    const changed: ScheduleFact = { type: 'schedule.changed', at: 2 * HOUR, spec: aSpec(halfPast) }
    expect(wakeAt(created(), changed)).toBe(2.5 * HOUR)
  })

  test('to the same spec changes nothing', () => given(created()).when(declare(5)).thenNothing())
})

describe('the end', () => {
  test('comes when the last run that max_runs allows has ended', () => {
    const history = [created({ maxRuns: 1 }), fired(HOUR)]
    given(...history)
      .when(passTime(5 * HOUR))
      .thenNothing()
    given(...history)
      .when(endRun(HOUR + 1, HOUR))
      .thenFacts(ended(HOUR + 1, HOUR), finished(HOUR + 1, 'max_runs'))
    expect(wakeAt(...history)).toBe(null)
  })

  test('comes at once for an instant that had passed at the declaration', () =>
    given()
      .when(declare(5, { timing: { kind: 'at', at: 4 } }))
      .thenFacts(created({ timing: { kind: 'at', at: 4 } }, 5), skipped(5, 'past', 4), finished(5)))

  test('holds until the schedule is declared differently', () => {
    const history = [created({ maxRuns: 1 }), finished(9, 'max_runs')]
    given(...history)
      .when(declare(10, { maxRuns: 1 }))
      .thenNothing()
    given(...history)
      .when(declare(10, { maxRuns: 2 }))
      .thenFacts(created({ maxRuns: 2 }, 10))
  })

  test('of a removed schedule is undone by a new declaration', () => {
    given(created()).when({ type: 'remove_schedule', now: 9, world }).thenFacts(finished(9, 'removed'))
    given(created(), finished(9, 'removed')).when(declare(10)).thenFacts(created({}, 10))
  })

  test('waits for the end of a pause', () => {
    const history = [created({ maxRuns: 1 }), fired(HOUR), paused(HOUR + 1)]
    const end = ended(HOUR + 2, HOUR)
    given(...history)
      .when(endRun(HOUR + 2, HOUR))
      .thenFacts(end)
    given(...history, end)
      .when(resumeNow(HOUR + 3))
      .thenFacts(resumed(HOUR + 3), finished(HOUR + 3, 'max_runs'))
  })

  test('schedule-2: undone while the clock is set back, repeats no slot', () =>
    expect(wakeAt(created(), fired(5 * HOUR), finished(5 * HOUR, 'removed'), created({}, 3 * HOUR))).toBe(6 * HOUR))

  test('refuses requests', () => {
    given(created(), finished(9)).when(runNow(10, 'a1')).thenRefused('SCHEDULE_ENDED')
    given(created(), finished(9)).when(pauseNow(10)).thenRefused('SCHEDULE_ENDED')
    given(created(), finished(9)).when(passTime(10)).thenNothing()
  })

  test('of a schedule that does not exist is not found', () => given().when(passTime(1)).thenRefused('NOT_FOUND'))
})

describe('an adaptive schedule', () => {
  const adaptive = created({ adaptive: { minMs: HOUR / 2, maxMs: 2 * HOUR } })
  const adapted = (at: Instant, intervalMs: number): ScheduleFact => ({ type: 'schedule.adapted', at, intervalMs })
  const end = (now: Instant, slot: Instant, yielded: boolean | null) => ({ ...endRun(now, slot), yielded })

  test('halves its interval when a run yields, and doubles it when it does not', () => {
    given(adaptive, fired(HOUR))
      .when(end(HOUR + 1, HOUR, true))
      .thenFacts(ended(HOUR + 1, HOUR), adapted(HOUR + 1, HOUR / 2))
    given(adaptive, fired(HOUR))
      .when(end(HOUR + 1, HOUR, false))
      .thenFacts(ended(HOUR + 1, HOUR), adapted(HOUR + 1, 2 * HOUR))
  })

  test('keeps its interval within its bounds', () =>
    given(adaptive, fired(HOUR), adapted(HOUR, HOUR / 2))
      .when(end(HOUR + 1, HOUR, true))
      .thenFacts(ended(HOUR + 1, HOUR)))

  test('keeps its interval when it is not known whether the run yielded', () =>
    given(adaptive, fired(HOUR))
      .when(end(HOUR + 1, HOUR, null))
      .thenFacts(ended(HOUR + 1, HOUR)))

  test('counts the interval from the start of the last run, and runs late rather than never', () => {
    const late = fired(HOUR, { at: 9 * HOUR })
    given(adaptive)
      .when(passTime(9 * HOUR))
      .thenFacts(late)
    expect(wakeAt(adaptive, late)).toBe(10 * HOUR)
  })

  test('refuses a backfill: it has no past slots', () =>
    given(adaptive)
      .when(backfill(5, 1, 2))
      .thenRefused('INPUT_INVALID'))

  test('has no slot after its end instant', () => {
    expect(wakeAt(created({ adaptive: { minMs: 1, maxMs: HOUR }, end: HOUR - 1 }))).toBe(null)
  })

  test('begins at its start instant', () => {
    expect(wakeAt(created({ adaptive: { minMs: 1, maxMs: HOUR }, start: 9 * HOUR }))).toBe(9 * HOUR)
  })
})
