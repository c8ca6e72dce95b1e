/** The rules of a schedule, one by one. */
import { describe, expect, test } from 'vitest'
import {
  aSpec,
  backfill,
  buffered,
  calendarOf,
  cancelWanted,
  created,
  declare,
  ended,
  endRun,
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
  world,
} from '../../test/support/schedule-story.ts'
import { specify } from '../testing/spec.ts'
import type { Instant } from './ids.ts'
import { fold } from './machine.ts'
import type { OverlapPolicy } from './policies/overlap.ts'
import { schedule } from './schedule.ts'
import { scheduleWakeAt } from './schedule-due.ts'
import type { ScheduleFact } from './schedule-fact.ts'
import type { ScheduleSpec } from './schedule-spec.ts'

const { given } = specify(schedule)
const MINUTE = 60_000
const wakeAt = (...history: readonly ScheduleFact[]): Instant | null =>
  scheduleWakeAt(fold(schedule, history), calendarOf)
const finished = (at: Instant, reason: 'finished' | 'max_runs' | 'removed' = 'finished'): ScheduleFact => ({
  type: 'schedule.ended',
  at,
  reason,
})

describe('a slot', () => {
  test('schedule-2: is not fired before its instant', () =>
    given(created())
      .when(passTime(HOUR - 1))
      .thenNothing())

  test('is fired at its instant', () => given(created()).when(passTime(HOUR)).thenFacts(fired(HOUR)))

  test('schedule-1: is not fired twice', () =>
    given(created(), fired(HOUR))
      .when(passTime(HOUR + 1))
      .thenNothing())

  test('schedule-2: is not repeated when the clock is set back', () =>
    given(created(), fired(HOUR))
      .when(passTime(HOUR - 1))
      .thenNothing())

  test('schedule-3: of the time before the schedule existed is not filled', () =>
    given(created({}, 10 * HOUR))
      .when(passTime(10 * HOUR + 1))
      .thenNothing())

  test('[H10] waits for its jitter, and so does the wake', () => {
    const jittered = created({ jitterMs: 100 })
    given(jittered).when(passTime(HOUR)).thenNothing()
    given(jittered)
      .when(passTime(HOUR + 1))
      .thenFacts(fired(HOUR, { at: HOUR + 1 }))
    expect(wakeAt(jittered)).toBe(HOUR + 1)
  })

  test('[H9] hands the end of the run before it on', () =>
    given(created(), fired(HOUR), ended(HOUR + 5, HOUR, 'failed'))
      .when(passTime(2 * HOUR))
      .thenFacts(fired(2 * HOUR, { last: lastRun(HOUR, 'failed') })))
})

describe('[H8] slots that were missed', () => {
  const until = 5 * HOUR + 2 * MINUTE
  const missed = (over: Partial<ScheduleSpec['missed']>): ScheduleFact => created({ missed: { ...MISSED, ...over } })

  test('run once by default, for the newest, which is told of the others', () =>
    given(created())
      .when(passTime(until))
      .thenFacts(
        skipped(until, 'coalesced', HOUR, 4 * HOUR),
        fired(5 * HOUR, { at: until, missed: { from: HOUR, to: 4 * HOUR, count: 4 } }),
      ))

  test('of a 5-minute schedule after 24 h of downtime: one run and 287 recorded misses', () => {
    const everyFive = created({ timing: { kind: 'every', everyMs: 5 * MINUTE, phaseMs: 0 } })
    const range = { from: 5 * MINUTE, to: 24 * HOUR - 5 * MINUTE, count: 287 }
    given(everyFive)
      .when(passTime(24 * HOUR))
      .thenFacts(
        { type: 'schedule.skipped', at: 24 * HOUR, reason: 'coalesced', ...range },
        fired(24 * HOUR, { missed: range }),
      )
  })

  test('are skipped if the policy says so, the late newest too', () =>
    given(missed({ policy: 'skip' }))
      .when(passTime(until))
      .thenFacts(skipped(until, 'policy', HOUR, 5 * HOUR)))

  test('are skipped if the policy says so, but a slot within its grace is not missed', () =>
    given(missed({ policy: 'skip' }))
      .when(passTime(5 * HOUR + MINUTE))
      .thenFacts(skipped(5 * HOUR + MINUTE, 'policy', HOUR, 4 * HOUR), fired(5 * HOUR, { at: 5 * HOUR + MINUTE })))

  test('run each, oldest first, if the policy says so, up to its maximum', () => {
    const three = [3, 4, 5].map((k) => planned(k * HOUR, 'missed'))
    given(missed({ policy: 'run_all', max: 3 }))
      .when(passTime(until))
      .thenFacts(
        skipped(until, 'max', HOUR, 2 * HOUR),
        buffered(until, ...three),
        ...three.map(({ slot }) => fired(slot, { at: until, origin: 'missed' })),
      )
  })

  test('run with a distance between them if the policy says so', () => {
    const spaced = missed({ policy: 'run_all', spacingMs: 7 })
    const first = buffered(3 * HOUR, ...[1, 2, 3].map((k) => planned(k * HOUR, 'missed')))
    const started = fired(HOUR, { at: 3 * HOUR, origin: 'missed' })
    given(spaced)
      .when(passTime(3 * HOUR))
      .thenFacts(first, started)
    expect(wakeAt(spaced, first, started)).toBe(3 * HOUR + 7)
    given(spaced, first, started)
      .when(passTime(3 * HOUR + 7))
      .thenFacts(fired(2 * HOUR, { at: 3 * HOUR + 7, origin: 'missed' }))
  })

  test('run in turn where runs may not overlap, each after the end of the one before', () => {
    const inTurn = created({ overlap: 'skip', missed: { ...MISSED, policy: 'run_all' } })
    const line = buffered(2 * HOUR, planned(HOUR, 'missed'), planned(2 * HOUR, 'missed'))
    const started = fired(HOUR, { at: 2 * HOUR, origin: 'missed' })
    given(inTurn)
      .when(passTime(2 * HOUR))
      .thenFacts(line, started)
    given(inTurn, line, started)
      .when(endRun(2 * HOUR + 9, HOUR))
      .thenFacts(
        ended(2 * HOUR + 9, HOUR),
        fired(2 * HOUR, { at: 2 * HOUR + 9, origin: 'missed', last: lastRun(HOUR) }),
      )
  })

  test('are too old outside the window', () =>
    given(missed({ windowMs: 2 * HOUR }))
      .when(passTime(until))
      .thenFacts(
        skipped(until, 'window', HOUR, 3 * HOUR),
        skipped(until, 'coalesced', 4 * HOUR),
        fired(5 * HOUR, { at: until, missed: { from: 4 * HOUR, to: 4 * HOUR, count: 1 } }),
      ))

  test('of a moment that passes once run however late', () => {
    const once = created({ timing: { kind: 'at', at: HOUR } })
    given(once)
      .when(passTime(1_000 * HOUR))
      .thenFacts(fired(HOUR, { at: 1_000 * HOUR }))
    given(once, fired(HOUR))
      .when(endRun(2 * HOUR, HOUR))
      .thenFacts(ended(2 * HOUR, HOUR), finished(2 * HOUR))
  })

  test('are told to one run only', () =>
    given(
      created(),
      skipped(2 * HOUR, 'coalesced', HOUR),
      fired(2 * HOUR, { missed: { from: HOUR, to: HOUR, count: 1 } }),
    )
      .when(passTime(3 * HOUR))
      .thenFacts(fired(3 * HOUR)))

  test('run each, but no more than max_runs leaves', () =>
    given(created({ maxRuns: 2, missed: { ...MISSED, policy: 'run_all' } }))
      .when(passTime(until))
      .thenFacts(
        buffered(until, planned(HOUR, 'missed'), planned(2 * HOUR, 'missed')),
        fired(HOUR, { at: until, origin: 'missed' }),
        fired(2 * HOUR, { at: until, origin: 'missed' }),
      ))

  test('too many for one decision, of which the newest run each: those are the newest of all', () => {
    const timing = { kind: 'every', everyMs: 1_000, phaseMs: 0 } as const
    const missed = { ...MISSED, policy: 'run_all', windowMs: 1_000 * HOUR, max: 10 } as const
    const history = [created({ timing, missed, graceMs: 0 })]
    const now = 100_004_500
    for (let turns = 0; turns < 2; turns++) {
      const decision = schedule.decide(fold(schedule, history), passTime(now))
      if (decision.kind === 'facts') history.push(...decision.facts)
    }
    const ran = history.flatMap((fact) => (fact.type === 'schedule.fired' ? [fact.slot] : []))
    expect(ran).toEqual(Array.from({ length: 10 }, (_, k) => 99_995_000 + k * 1_000))
  })

  test('too many for one decision are settled in several, and one run stands for them all', () => {
    const everySecond = created({
      timing: { kind: 'every', everyMs: 1_000, phaseMs: 0 },
      missed: { ...MISSED, windowMs: 1_000 * HOUR },
    })
    const now = 250_000_000
    const history = [everySecond]
    for (let turns = 0; turns < 4; turns++) {
      const decision = schedule.decide(fold(schedule, history), passTime(now))
      if (decision.kind === 'facts') history.push(...decision.facts)
    }
    expect(history.filter(({ type }) => type === 'schedule.fired')).toEqual([
      fired(now, { missed: { from: 1_000, to: now - 1_000, count: 249_999 } }),
    ])
  })
})

describe('[H7] a slot that comes while a run is at work', () => {
  const busy = (overlap: OverlapPolicy): readonly ScheduleFact[] => [created({ overlap }), fired(HOUR)]
  const now = 2 * HOUR

  test('runs beside it under allow', () =>
    given(...busy('allow'))
      .when(passTime(now))
      .thenFacts(fired(now)))

  test('is skipped under skip', () =>
    given(...busy('skip'))
      .when(passTime(now))
      .thenFacts(skipped(now, 'overlap', now)))

  test('waits under buffer_one, until a newer one takes its place', () => {
    const waiting = buffered(now, planned(now))
    given(...busy('buffer_one'))
      .when(passTime(now))
      .thenFacts(waiting)
    given(...busy('buffer_one'), waiting)
      .when(passTime(3 * HOUR))
      .thenFacts(skipped(3 * HOUR, 'overlap', now), buffered(3 * HOUR, planned(3 * HOUR)))
    given(...busy('buffer_one'), waiting)
      .when(endRun(now + 1, HOUR))
      .thenFacts(ended(now + 1, HOUR), fired(now, { at: now + 1, last: lastRun(HOUR) }))
  })

  test('waits behind the others under buffer_all', () =>
    given(...busy('buffer_all'), buffered(now, planned(now)))
      .when(passTime(3 * HOUR))
      .thenFacts(buffered(3 * HOUR, planned(3 * HOUR))))

  test('is skipped under buffer_all once a thousand wait', () => {
    const many = buffered(now, ...Array.from({ length: 1_000 }, (_, k) => planned(now - k)))
    given(...busy('buffer_all'), many)
      .when(passTime(3 * HOUR))
      .thenFacts(skipped(3 * HOUR, 'max', 3 * HOUR))
  })

  test('cancels it under cancel_running, once, and waits for its end', () => {
    const [cancelled, waiting] = [cancelWanted(now, HOUR, 'cancel'), buffered(now, planned(now))]
    given(...busy('cancel_running'))
      .when(passTime(now))
      .thenFacts(cancelled, waiting)
    given(...busy('cancel_running'), cancelled, waiting)
      .when(passTime(3 * HOUR))
      .thenFacts(skipped(3 * HOUR, 'overlap', now), buffered(3 * HOUR, planned(3 * HOUR)))
  })

  test('ends it and does not wait under terminate_running', () =>
    given(...busy('terminate_running'))
      .when(passTime(now))
      .thenFacts(cancelWanted(now, HOUR, 'terminate'), fired(now)))
})

describe('a pause', () => {
  const now = 5 * HOUR + 1

  test('schedule-5: starts nothing and needs no wake', () => {
    given(created(), paused(1)).when(passTime(now)).thenNothing()
    expect(wakeAt(created(), paused(1))).toBe(null)
  })

  test('leaves what came before it as it was', () =>
    given(created())
      .when(pauseNow(HOUR + 1))
      .thenFacts(fired(HOUR, { at: HOUR + 1 }), paused(HOUR + 1)))

  test('is recorded as skipped slots when it ends', () =>
    given(created(), paused(1))
      .when(resumeNow(now))
      .thenFacts(resumed(now), skipped(now, 'paused', HOUR, 5 * HOUR)))

  test('is missed time if it counts', () =>
    given(created({ countPause: true }), paused(1))
      .when(resumeNow(now))
      .thenFacts(
        resumed(now),
        skipped(now, 'coalesced', HOUR, 4 * HOUR),
        fired(5 * HOUR, { at: now, missed: { from: HOUR, to: 4 * HOUR, count: 4 } }),
      ))

  test('schedule-5: holds the line back, and lets it go', () => {
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

  test('is nothing new if there is one, and nothing ends if there is none', () => {
    given(created(), paused(1)).when(pauseNow(2)).thenNothing()
    given(created()).when(resumeNow(2)).thenNothing()
  })

  test('comes by itself after so many failures in a row', () => {
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

  test('to run now is refused while a run is at work that may not be overlapped', () =>
    given(created({ overlap: 'skip' }), fired(HOUR))
      .when(runNow(HOUR + 1, 'a1'))
      .thenRefused('RUN_EXISTS'))

  test('[H8] to fill the past runs its slots, whoever ran before, and leaves the schedule where it is', () => {
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

  test('[H9] to fill the past is no previous run of the next slot, and no failure of the schedule', () =>
    given(created({ pauseOnFailures: 1 }, 9 * HOUR), fired(HOUR, { at: 9 * HOUR + 1, origin: 'backfill' }))
      .when(endRun(9 * HOUR + 2, HOUR, 'failed'))
      .thenFacts(ended(9 * HOUR + 2, HOUR, 'failed')))

  test('to fill the future, or backwards, is refused', () => {
    given(created())
      .when(backfill(5, 1, 6))
      .thenRefused('INPUT_INVALID')
    given(created())
      .when(backfill(5, 3, 2))
      .thenRefused('INPUT_INVALID')
  })

  test('to fill more than may wait is refused', () =>
    given(created({}, 2_000 * HOUR))
      .when(backfill(2_000 * HOUR, 0, 1_001 * HOUR))
      .thenRefused('RUN_BACKLOG_FULL'))

  test('to run now is refused once a thousand wait', () => {
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

  test('schedule-3: in a pause leaves the slots before it in the pause', () =>
    given(created(), paused(1))
      .when(declare(2 * HOUR, halfPast))
      .thenFacts(skipped(2 * HOUR, 'paused', HOUR, 2 * HOUR), {
        type: 'schedule.changed',
        at: 2 * HOUR,
        spec: aSpec(halfPast),
      }))

  test('schedule-3: fills no past of the new expression', () => {
    const changed: ScheduleFact = { type: 'schedule.changed', at: 2 * HOUR, spec: aSpec(halfPast) }
    expect(wakeAt(created(), changed)).toBe(2.5 * HOUR)
  })

  test('to the same is none', () => given(created()).when(declare(5)).thenNothing())
})

describe('the end', () => {
  test('comes after the last run that max_runs allows, once it has ended', () => {
    const history = [created({ maxRuns: 1 }), fired(HOUR)]
    given(...history)
      .when(passTime(5 * HOUR))
      .thenNothing()
    given(...history)
      .when(endRun(HOUR + 1, HOUR))
      .thenFacts(ended(HOUR + 1, HOUR), finished(HOUR + 1, 'max_runs'))
    expect(wakeAt(...history)).toBe(null)
  })

  test('comes at once for a moment that had passed at the declaration', () =>
    given()
      .when(declare(5, { timing: { kind: 'at', at: 4 } }))
      .thenFacts(created({ timing: { kind: 'at', at: 4 } }, 5), skipped(5, 'past', 4), finished(5)))

  test('holds until the schedule is declared otherwise', () => {
    const history = [created({ maxRuns: 1 }), finished(9, 'max_runs')]
    given(...history)
      .when(declare(10, { maxRuns: 1 }))
      .thenNothing()
    given(...history)
      .when(declare(10, { maxRuns: 2 }))
      .thenFacts(created({ maxRuns: 2 }, 10))
  })

  test('of a removed schedule is undone by a declaration', () => {
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

  test('schedule-2: undone while the clock is set back repeats no slot', () =>
    expect(wakeAt(created(), fired(5 * HOUR), finished(5 * HOUR, 'removed'), created({}, 3 * HOUR))).toBe(6 * HOUR))

  test('refuses requests', () => {
    given(created(), finished(9)).when(runNow(10, 'a1')).thenRefused('SCHEDULE_ENDED')
    given(created(), finished(9)).when(pauseNow(10)).thenRefused('SCHEDULE_ENDED')
    given(created(), finished(9)).when(passTime(10)).thenNothing()
  })

  test('of nothing is not found', () => given().when(passTime(1)).thenRefused('NOT_FOUND'))
})

describe('an adaptive schedule', () => {
  const adaptive = created({ adaptive: { minMs: HOUR / 2, maxMs: 2 * HOUR } })
  const adapted = (at: Instant, intervalMs: number): ScheduleFact => ({ type: 'schedule.adapted', at, intervalMs })
  const end = (now: Instant, slot: Instant, yielded: boolean | null) => ({ ...endRun(now, slot), yielded })

  test('halves its interval when a run yields, and doubles it when not', () => {
    given(adaptive, fired(HOUR))
      .when(end(HOUR + 1, HOUR, true))
      .thenFacts(ended(HOUR + 1, HOUR), adapted(HOUR + 1, HOUR / 2))
    given(adaptive, fired(HOUR))
      .when(end(HOUR + 1, HOUR, false))
      .thenFacts(ended(HOUR + 1, HOUR), adapted(HOUR + 1, 2 * HOUR))
  })

  test('keeps within its bounds', () =>
    given(adaptive, fired(HOUR), adapted(HOUR, HOUR / 2))
      .when(end(HOUR + 1, HOUR, true))
      .thenFacts(ended(HOUR + 1, HOUR)))

  test('keeps its interval where nobody says whether the run yielded', () =>
    given(adaptive, fired(HOUR))
      .when(end(HOUR + 1, HOUR, null))
      .thenFacts(ended(HOUR + 1, HOUR)))

  test('counts the interval from the start of the last run, and runs late rather than not', () => {
    const late = fired(HOUR, { at: 9 * HOUR })
    given(adaptive)
      .when(passTime(9 * HOUR))
      .thenFacts(late)
    expect(wakeAt(adaptive, late)).toBe(10 * HOUR)
  })

  test('has no past to fill', () =>
    given(adaptive)
      .when(backfill(5, 1, 2))
      .thenRefused('INPUT_INVALID'))

  test('has no slot after its end', () => {
    expect(wakeAt(created({ adaptive: { minMs: 1, maxMs: HOUR }, end: HOUR - 1 }))).toBe(null)
  })

  test('begins at its start', () => {
    expect(wakeAt(created({ adaptive: { minMs: 1, maxMs: HOUR }, start: 9 * HOUR }))).toBe(9 * HOUR)
  })
})
