/** The rules of a schedule, one by one. */
import { describe, expect, test } from 'vitest'
import type { OverlapPolicy } from '#model/flow/policies/overlap.ts'
import { fold } from '#model/kernel/machine.ts'
import {
  buffered,
  cancelWanted,
  created,
  ended,
  endRun,
  finished,
  fired,
  HOUR,
  lastRun,
  MISSED,
  passTime,
  planned,
  skipped,
  wakeAt,
} from '#test/support/stories/schedule-story.ts'
import { specify } from '#testing/spec.ts'
import type { ScheduleFact } from './fact.ts'
import { schedule } from './schedule.ts'
import type { ScheduleSpec } from './spec.ts'

const { given } = specify(schedule)
const MINUTE = 60_000

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

  test('schedule-3: from before the schedule existed is not filled', () =>
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

  test('[H9] passes on how the previous run ended', () =>
    given(created(), fired(HOUR), ended(HOUR + 5, HOUR, 'failed'))
      .when(passTime(2 * HOUR))
      .thenFacts(fired(2 * HOUR, { last: lastRun(HOUR, 'failed') })))
})

describe('[H8] slots that were missed', () => {
  const until = 5 * HOUR + 2 * MINUTE
  const missed = (over: Partial<ScheduleSpec['missed']>): ScheduleFact => created({ missed: { ...MISSED, ...over } })

  test('run once by default, for the newest, whose run receives the range of the others', () =>
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

  test('are skipped under the policy skip, including the newest if it is late', () =>
    given(missed({ policy: 'skip' }))
      .when(passTime(until))
      .thenFacts(skipped(until, 'policy', HOUR, 5 * HOUR)))

  test('are skipped under the policy skip, but a slot within its grace is not missed', () =>
    given(missed({ policy: 'skip' }))
      .when(passTime(5 * HOUR + MINUTE))
      .thenFacts(skipped(5 * HOUR + MINUTE, 'policy', HOUR, 4 * HOUR), fired(5 * HOUR, { at: 5 * HOUR + MINUTE })))

  test('run each, oldest first, under run_all, up to its maximum', () => {
    const three = [3, 4, 5].map((k) => planned(k * HOUR, 'missed'))
    given(missed({ policy: 'run_all', max: 3 }))
      .when(passTime(until))
      .thenFacts(
        skipped(until, 'max', HOUR, 2 * HOUR),
        buffered(until, ...three),
        ...three.map(({ slot }) => fired(slot, { at: until, origin: 'missed' })),
      )
  })

  test('run with the configured spacing between them', () => {
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

  test('run one after the other where runs may not overlap', () => {
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

  test('are skipped if they are older than the window', () =>
    given(missed({ windowMs: 2 * HOUR }))
      .when(passTime(until))
      .thenFacts(
        skipped(until, 'window', HOUR, 3 * HOUR),
        skipped(until, 'coalesced', 4 * HOUR),
        fired(5 * HOUR, { at: until, missed: { from: 4 * HOUR, to: 4 * HOUR, count: 1 } }),
      ))

  test('of a schedule with a single instant run however late', () => {
    const once = created({ timing: { kind: 'at', at: HOUR } })
    given(once)
      .when(passTime(1_000 * HOUR))
      .thenFacts(fired(HOUR, { at: 1_000 * HOUR }))
    given(once, fired(HOUR))
      .when(endRun(2 * HOUR, HOUR))
      .thenFacts(ended(2 * HOUR, HOUR), finished(2 * HOUR))
  })

  test('are reported to one run only', () =>
    given(
      created(),
      skipped(2 * HOUR, 'coalesced', HOUR),
      fired(2 * HOUR, { missed: { from: HOUR, to: HOUR, count: 1 } }),
    )
      .when(passTime(3 * HOUR))
      .thenFacts(fired(3 * HOUR)))

  test('run each, but no more than max_runs allows', () =>
    given(created({ maxRuns: 2, missed: { ...MISSED, policy: 'run_all' } }))
      .when(passTime(until))
      .thenFacts(
        buffered(until, planned(HOUR, 'missed'), planned(2 * HOUR, 'missed')),
        fired(HOUR, { at: until, origin: 'missed' }),
        fired(2 * HOUR, { at: until, origin: 'missed' }),
      ))

  test('too many for one decision: under run_all those that run are the newest of all', () => {
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

  test('too many for one decision: they are settled in several, and one run covers them all', () => {
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

describe('[H7] a slot that comes while a run is active', () => {
  const busy = (overlap: OverlapPolicy): readonly ScheduleFact[] => [created({ overlap }), fired(HOUR)]
  const now = 2 * HOUR

  test('runs next to it under allow', () =>
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

  test('waits after the others under buffer_all', () =>
    given(...busy('buffer_all'), buffered(now, planned(now)))
      .when(passTime(3 * HOUR))
      .thenFacts(buffered(3 * HOUR, planned(3 * HOUR))))

  test('is skipped under buffer_all once a thousand runs wait', () => {
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

  test('terminates it and does not wait under terminate_running', () =>
    given(...busy('terminate_running'))
      .when(passTime(now))
      .thenFacts(cancelWanted(now, HOUR, 'terminate'), fired(now)))
})
