/**
 * Arbitrary lives of a schedule: a spec, and commands at instants that mostly increase.
 *
 * Owns a small world: a day of slots, few requests, short policies, so that random commands interact.
 */
import fc from 'fast-check'
import type { OverlapPolicy } from '#model/flow/policies/overlap.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { ScheduleCommand, ScheduleFact, ScheduleState } from '#model/schedule/fact.ts'
import { schedule } from '#model/schedule/schedule.ts'
import type { ScheduleSpec } from '#model/schedule/spec.ts'
import { aSpec, HOUR, MISSED, world } from './schedule-story.ts'

const option = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value, { freq: 3 })

const timing: fc.Arbitrary<ScheduleSpec['timing']> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('every'),
      everyMs: fc.constantFrom(HOUR, 2 * HOUR),
      phaseMs: fc.constantFrom(0, 7),
    }),
    weight: 9,
  },
  {
    arbitrary: fc.record({ kind: fc.constant('at'), at: fc.integer({ min: 0, max: 30 }).map((k) => k * HOUR) }),
    weight: 1,
  },
)

const OVERLAPS: readonly OverlapPolicy[] = [
  'allow',
  'skip',
  'buffer_one',
  'buffer_all',
  'cancel_running',
  'terminate_running',
]

export const anySpec: fc.Arbitrary<ScheduleSpec> = fc
  .record({
    timing,
    jitterMs: fc.constantFrom(0, 0, 50),
    end: option(fc.integer({ min: 0, max: 40 }).map((k) => k * HOUR)),
    maxRuns: option(fc.integer({ min: 1, max: 6 })),
    overlap: fc.constantFrom(...OVERLAPS),
    missed: fc.record({
      policy: fc.constantFrom('run_once', 'skip', 'run_all'),
      windowMs: fc.constantFrom(MISSED.windowMs, 3 * HOUR),
      max: fc.integer({ min: 1, max: 4 }),
      spacingMs: fc.constantFrom(0, 90_000),
    }),
    graceMs: fc.constantFrom(0, 60_000, HOUR),
    pauseOnFailures: option(fc.integer({ min: 1, max: 3 })),
    countPause: fc.boolean(),
    adaptive: fc.option(fc.constant({ minMs: HOUR / 4, maxMs: 4 * HOUR }), { freq: 6 }),
  })
  .map((parts) => aSpec(parts.timing.kind === 'at' ? { ...parts, adaptive: null } : parts))

/** The next command; a run that ends is chosen among the active ones. */
export interface Happening {
  readonly waitMs: number
  readonly what:
    | { readonly kind: 'pass' | 'pause' | 'resume' | 'checkpoint' | 'remove' }
    | { readonly kind: 'end'; readonly which: number; readonly status: RunStatus; readonly yielded: boolean | null }
    | { readonly kind: 'run_now' | 'backfill'; readonly id: string; readonly hours: number }
    | { readonly kind: 'declare'; readonly spec: ScheduleSpec }
}

const STATUSES: readonly RunStatus[] = ['success', 'failed', 'cancelled', 'partial']
const kind = (...kinds: readonly ('pass' | 'pause' | 'resume' | 'checkpoint' | 'remove')[]) =>
  fc.record({ kind: fc.constantFrom(...kinds) })

const what: fc.Arbitrary<Happening['what']> = fc.oneof(
  { arbitrary: kind('pass'), weight: 12 },
  {
    arbitrary: fc.record({
      kind: fc.constant('end'),
      which: fc.nat(3),
      status: fc.constantFrom(...STATUSES),
      yielded: fc.option(fc.boolean()),
    }),
    weight: 8,
  },
  { arbitrary: kind('pause', 'resume', 'resume', 'checkpoint'), weight: 4 },
  {
    arbitrary: fc.record({
      kind: fc.constantFrom('run_now', 'backfill'),
      id: fc.constantFrom('a1', 'b2', 'c3'),
      hours: fc.nat(4),
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ kind: fc.constant('declare'), spec: anySpec }), weight: 1 },
)
const ending: fc.Arbitrary<Happening['what']> = kind('remove')

/** Mostly forward, sometimes far, sometimes backward: the clock was set. */
const waitMs = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 2 * HOUR }), weight: 12 },
  { arbitrary: fc.constant(HOUR), weight: 6 },
  { arbitrary: fc.integer({ min: 2, max: 30 }).map((k) => k * HOUR), weight: 2 },
  { arbitrary: fc.integer({ min: -3 * HOUR, max: 0 }), weight: 1 },
)

export const anyHappenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.record({ waitMs, what: fc.oneof({ arbitrary: what, weight: 60 }, { arbitrary: ending, weight: 1 }) }),
  { maxLength: 25, size: 'max' },
)

const runAt = (state: ScheduleState, which: number): RunId | null =>
  state.kind === 'live' ? (state.running[which % Math.max(1, state.running.length)]?.run ?? null) : null

const commandOf = (state: ScheduleState, now: Instant, { what: it }: Happening): ScheduleCommand | null => {
  const base = { now, world }
  switch (it.kind) {
    case 'pass':
      return { type: 'pass_time', ...base }
    case 'pause':
      return { type: 'pause_schedule', ...base, by: 'ana' }
    case 'resume':
      return { type: 'resume_schedule', ...base, by: 'ana' }
    case 'checkpoint':
      return { type: 'checkpoint_schedule', ...base }
    case 'remove':
      return { type: 'remove_schedule', ...base }
    case 'declare':
      return { type: 'declare_schedule', ...base, spec: it.spec }
    case 'run_now':
      return { type: 'run_now', ...base, id: it.id, by: 'ana' }
    case 'backfill':
      return { type: 'backfill', ...base, id: it.id, by: 'ana', from: now - it.hours * HOUR, to: now }
    case 'end': {
      const run = runAt(state, it.which)
      return run === null ? null : { type: 'end_run', ...base, run, status: it.status, yielded: it.yielded }
    }
  }
}

export interface Turn {
  readonly now: Instant
  readonly before: ScheduleState
  readonly command: ScheduleCommand
  readonly facts: readonly ScheduleFact[]
}

/** A life as the machine itself records it. `reload` may rebuild the state between two turns, like a restart. */
export const live = (
  spec: ScheduleSpec,
  happenings: readonly Happening[],
  reload: (state: ScheduleState) => ScheduleState = (state) => state,
): readonly Turn[] => {
  const turns: Turn[] = []
  let [state, now] = [schedule.initial, 0]
  const take = (command: ScheduleCommand): void => {
    const decision = schedule.decide(state, command)
    if (decision.kind === 'refused') return
    turns.push({ now, before: state, command, facts: decision.facts })
    state = reload(decision.facts.reduce(schedule.evolve, state))
  }
  take({ type: 'declare_schedule', now, world, spec })
  for (const happening of happenings) {
    now = Math.max(0, now + happening.waitMs)
    const command = commandOf(state, now, happening)
    if (command !== null) take(command)
  }
  return turns
}

export const anyTurns: fc.Arbitrary<readonly Turn[]> = fc
  .tuple(anySpec, anyHappenings)
  .map(([spec, happenings]) => live(spec, happenings))
