/** Properties of every schedule under any commands; and the outcome of late slots, compared with a simple reference. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Instant } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import { anyHappenings, anySpec, anyTurns, live, type Turn } from '#test/support/stories/schedule-arbitrary.ts'
import { aSpec, calendarOf, HOUR, world } from '#test/support/stories/schedule-story.ts'
import { runsLeft, scheduleWakeAt } from './due.ts'
import type { ScheduleCommand, ScheduleFact, ScheduleState } from './fact.ts'
import { isOwnSlot } from './fold.ts'
import { schedule } from './schedule.ts'
import type { ScheduleSpec } from './spec.ts'

/** The machine may be busy with other tests. */
const CASES = policyCases(13, 1_000)
const reload = (state: ScheduleState): ScheduleState => JSON.parse(JSON.stringify(state)) as ScheduleState
const factsOf = (turns: readonly Turn[]): readonly ScheduleFact[] => turns.flatMap(({ facts }) => facts)

/** Returns every fact with the state before it. */
const seen = (turns: readonly Turn[]): readonly { readonly fact: ScheduleFact; readonly before: ScheduleState }[] => {
  let state = schedule.initial
  return factsOf(turns).map((fact) => {
    const before = state
    state = schedule.evolve(state, fact)
    return { fact, before }
  })
}

/** Returns the slots that a fact settles, by the calendar in force. */
const settledBy = (fact: ScheduleFact, before: ScheduleState): readonly Instant[] => {
  if (fact.type === 'schedule.fired') return isOwnSlot(fact) ? [fact.slot] : []
  if (fact.type !== 'schedule.skipped' || fact.reason === 'past' || before.kind !== 'live') return []
  const slots = before.pulse === null ? [...calendarOf(before.spec).slots(fact.from - 1, fact.to)] : [fact.from]
  // A slot that another one displaced in the line belongs to an older calendar if there was a change in between.
  return before.line.some(({ slot, origin }) => origin === 'slot' && slot === fact.from) ? [fact.from] : slots
}

const waitingIn = (state: ScheduleState): readonly Instant[] =>
  state.kind === 'live' ? state.line.filter(isOwnSlot).map(({ slot }) => slot) : []

/** Returns the slots that the cursor passed between two states. */
const passedSlots = (before: ScheduleState, after: ScheduleState, isChange: boolean): readonly Instant[] => {
  if (before.kind !== 'live' || after.kind !== 'live') return []
  // A change moves the cursor to its own instant: the past slots before it must all have been settled, if there were any left.
  if (isChange && (before.pulse !== null || runsLeft(before) <= 0)) return []
  if (before.pulse === null) return [...calendarOf(before.spec).slots(before.cursor, after.cursor)]
  return after.cursor > before.cursor ? [after.cursor] : []
}

const inOrder = (slots: readonly Instant[]): readonly Instant[] => slots.toSorted((a, b) => a - b)

test('schedule-1: every slot up to the cursor is settled once, or waits in the line', { timeout: PATIENCE_MS }, () => {
  fc.assert(
    fc.property(anyTurns, (turns) => {
      const settled: Instant[] = []
      const due: Instant[] = []
      const dropped: Instant[] = []
      const history = seen(turns)
      for (const [i, { fact, before }] of history.entries()) {
        const slots = settledBy(fact, before)
        settled.push(...slots)
        if (fact.type === 'schedule.skipped' && fact.reason !== 'past') expect(fact.count).toBe(slots.length)
        if (fact.type === 'schedule.ended') dropped.push(...waitingIn(before))
        const after = history[i + 1]?.before ?? fold(schedule, factsOf(turns))
        due.push(...passedSlots(before, after, fact.type === 'schedule.changed'))
      }
      const waiting = waitingIn(fold(schedule, factsOf(turns)))
      expect(inOrder([...settled, ...waiting, ...dropped])).toEqual(inOrder(due))
    }),
    CASES,
  )
})

test('schedule-2: no slot is fired before its instant, and none twice, whatever the clock does', {
  timeout: PATIENCE_MS,
}, () => {
  fc.assert(
    fc.property(anyTurns, (turns) => {
      const facts = factsOf(turns)
      const fired = facts.filter((fact) => fact.type === 'schedule.fired')
      const noticed = new Map<string, Instant>()
      for (const fact of facts) {
        const runs = fact.type === 'schedule.buffered' ? fact.runs : fact.type === 'schedule.fired' ? [fact] : []
        for (const { run, slot } of runs) {
          if (!noticed.has(run)) noticed.set(run, fact.at)
          expect(noticed.get(run)).toBeGreaterThanOrEqual(slot)
        }
      }
      expect(new Set(fired.map(({ run }) => run)).size).toBe(fired.length)
    }),
    CASES,
  )
})

test('[H7] runs do not overlap where the policy forbids it', { timeout: PATIENCE_MS }, () => {
  fc.assert(
    fc.property(anyTurns, (turns) => {
      for (const { fact, before } of seen(turns)) {
        if (fact.type !== 'schedule.fired' || before.kind !== 'live') continue
        const { overlap } = before.spec
        if (overlap === 'allow') continue
        const unstopped = before.running.filter(({ stopping }) => overlap !== 'terminate_running' || !stopping)
        expect(unstopped).toEqual([])
      }
    }),
    CASES,
  )
})

test('schedule-5: a paused schedule starts only runs that a person asked for during the pause', {
  timeout: PATIENCE_MS,
}, () => {
  fc.assert(
    fc.property(anyTurns, (turns) => {
      const waitedBefore = new Set<string>()
      for (const { fact, before } of seen(turns)) {
        if (fact.type === 'schedule.paused' && before.kind === 'live')
          for (const { run } of before.line) waitedBefore.add(run)
        if (fact.type === 'schedule.resumed') waitedBefore.clear()
        if (fact.type !== 'schedule.fired' || before.kind !== 'live' || before.paused === null) continue
        expect(isOwnSlot(fact)).toBe(false)
        expect(waitedBefore.has(fact.run)).toBe(false)
      }
    }),
    CASES,
  )
})

test('schedule-5: a run that a person asks for during a pause does not wait for its end', {
  timeout: PATIENCE_MS,
}, () => {
  fc.assert(
    fc.property(anyTurns, (turns) => {
      for (const { before, facts, now } of turns) {
        const told = facts.reduce(schedule.evolve, before)
        const passed = schedule.decide(told, { type: 'pass_time', now, world })
        const after = passed.kind === 'refused' ? told : passed.facts.reduce(schedule.evolve, told)
        if (after.kind !== 'live' || after.paused === null) continue
        const asked = after.line.filter(({ askedInPause }) => askedInPause === true)
        const isHeld = after.running.length > 0 && after.spec.overlap !== 'allow'
        const isPacing = after.paceAt !== null && after.paceAt > now
        expect(asked.length === 0 || isHeld || isPacing).toBe(true)
      }
    }),
    CASES,
  )
})

test('a restart between any two commands changes nothing, from a checkpoint or from the beginning', {
  timeout: PATIENCE_MS,
}, () => {
  fc.assert(
    fc.property(anySpec, anyHappenings, (spec, happenings) => {
      const turns = live(spec, happenings)
      expect(factsOf(live(spec, happenings, reload))).toEqual(factsOf(turns))
      const history = factsOf(turns)
      const last = history.findLastIndex(({ type }) => type === 'schedule.checkpointed')
      expect(fold(schedule, history.slice(Math.max(0, last)))).toEqual(fold(schedule, history))
    }),
    CASES,
  )
})

test('a repeated command yields nothing or a refusal, except for a checkpoint', { timeout: PATIENCE_MS }, () => {
  fc.assert(
    fc.property(anyTurns, (turns) => {
      for (const { before, command, facts } of turns) {
        if (command.type === 'checkpoint_schedule') continue
        const again = schedule.decide(facts.reduce(schedule.evolve, before), command)
        expect(again.kind === 'refused' ? [] : again.facts).toEqual([])
      }
    }),
    CASES,
  )
})

test('a wake is never early and never forgotten: nothing is due before it, and something is due at it', {
  timeout: PATIENCE_MS,
}, () => {
  fc.assert(
    fc.property(anyTurns, (turns) => {
      const pass = (state: ScheduleState, now: Instant): readonly ScheduleFact[] => {
        const decision = schedule.decide(state, { type: 'pass_time', now, world })
        return decision.kind === 'refused' ? [] : decision.facts
      }
      for (const { before, now, facts } of turns) {
        const passed = facts.reduce(schedule.evolve, before)
        const state = pass(passed, now).reduce(schedule.evolve, passed)
        const wake = scheduleWakeAt(state, calendarOf)
        if (wake === null) expect(pass(state, now + 1_000 * HOUR)).toEqual([])
        else {
          expect(wake).toBeGreaterThan(now)
          expect(pass(state, wake - 1)).toEqual([])
          expect(pass(state, wake)).not.toEqual([])
        }
      }
    }),
    CASES,
  )
})

test('any facts in any order fold without throwing, and any state answers any command', {
  timeout: PATIENCE_MS,
}, () => {
  const facts = anyTurns.chain((turns) => fc.shuffledSubarray([...factsOf(turns)]))
  const commands = anyTurns.map((turns) => turns.map(({ command }) => command))
  fc.assert(
    fc.property(facts, commands, (history, asked) => {
      const state = fold(schedule, history)
      for (const command of asked) expect(['facts', 'refused']).toContain(schedule.decide(state, command).kind)
    }),
    CASES,
  )
})

/** The outcome of one late slot by the rules; `newer` are the due slots after it. */
const fateOf = ({ missed, graceMs }: ScheduleSpec, slot: Instant, newer: readonly Instant[], now: Instant): string => {
  const newest = newer.at(-1) ?? slot
  const isFresh = now <= newest + graceMs
  if (newer.length === 0 && isFresh) return 'run'
  if (now - slot > missed.windowMs) return 'window'
  if (missed.policy === 'skip') return 'policy'
  if (missed.policy === 'run_once') return newer.length === 0 ? 'run' : 'coalesced'
  return newer.length - (isFresh ? 1 : 0) < missed.max ? 'run' : 'max'
}

type Moment = { readonly kind: 'pass' | 'pause' | 'resume' | 'restart'; readonly waitMs: number }

const fatesByReference = (spec: ScheduleSpec, moments: readonly Moment[]): ReadonlyMap<Instant, string> => {
  const fates = new Map<Instant, string>()
  let [now, cursor, isPaused] = [0, 0, false]
  const settle = (fate: (slot: Instant, newer: readonly Instant[]) => string): void => {
    const due = [...calendarOf(spec).slots(cursor, now)]
    for (const [i, slot] of due.entries()) fates.set(slot, fate(slot, due.slice(i + 1)))
    cursor = due.at(-1) ?? cursor
  }
  for (const { kind, waitMs } of moments) {
    now += waitMs
    const passes = isPaused ? kind === 'resume' : kind === 'pass' || kind === 'pause'
    if (!passes) continue
    const inPause = isPaused && !spec.countPause
    settle((slot, newer) => (inPause ? 'paused' : fateOf(spec, slot, newer, now)))
    isPaused = kind === 'pause'
  }
  return fates
}

const commandAt = (kind: Moment['kind'], now: Instant): ScheduleCommand => {
  if (kind === 'pause') return { type: 'pause_schedule', now, world, by: 'ana' }
  if (kind === 'resume') return { type: 'resume_schedule', now, world, by: 'ana' }
  return { type: kind === 'pass' ? 'pass_time' : 'checkpoint_schedule', now, world }
}

const fatesByMachine = (spec: ScheduleSpec, moments: readonly Moment[]): ReadonlyMap<Instant, string> => {
  const fates = new Map<Instant, string>()
  let now = 0
  let state: ScheduleState = fold(schedule, [{ type: 'schedule.created', at: 0, spec }])
  for (const { kind, waitMs } of moments) {
    now += waitMs
    const decision = schedule.decide(state, commandAt(kind, now))
    if (decision.kind === 'refused') throw new Error(decision.detail)
    for (const fact of decision.facts) {
      for (const slot of settledBy(fact, state)) fates.set(slot, fact.type === 'schedule.skipped' ? fact.reason : 'run')
      state = schedule.evolve(state, fact)
    }
    // As a worker would load it: the checkpoint, read back from text.
    if (kind === 'restart') state = fold(schedule, JSON.parse(JSON.stringify(decision.facts)) as ScheduleFact[])
  }
  return fates
}

test('[H8] each slot has the outcome that the reference gives it, with restarts in between', {
  timeout: PATIENCE_MS,
}, () => {
  const spec = fc
    .record({
      missed: fc.record({
        policy: fc.constantFrom('run_once', 'skip', 'run_all'),
        windowMs: fc.constantFrom(2 * HOUR, 5 * HOUR, 100 * HOUR),
        max: fc.integer({ min: 1, max: 5 }),
        spacingMs: fc.constant(0),
      }),
      graceMs: fc.constantFrom(0, HOUR / 4, 3 * HOUR),
      countPause: fc.boolean(),
    })
    .map((parts) => aSpec(parts))
  const moment: fc.Arbitrary<Moment> = fc.record({
    kind: fc.constantFrom('pass', 'pass', 'pass', 'pause', 'resume', 'resume', 'restart'),
    waitMs: fc.oneof(fc.integer({ min: 0, max: HOUR }), fc.integer({ min: 0, max: 12 * HOUR }), fc.constant(HOUR)),
  })
  fc.assert(
    fc.property(spec, fc.array(moment, { minLength: 1, maxLength: 12, size: 'max' }), (given, moments) => {
      expect(fatesByMachine(given, moments)).toEqual(fatesByReference(given, moments))
    }),
    policyCases(17),
  )
})
