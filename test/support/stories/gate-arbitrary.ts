/**
 * Arbitrary lives of gates: any policies, changed now and then, and all events of a gate in any order.
 *
 * Owns a small world: few keys, short times, so that arrivals interact in every policy.
 */
import fc from 'fast-check'
import type { Arrival } from '#model/event/arrival.ts'
import type { FlowPolicies, RefusedEvent } from '#model/flow/gate-fact.ts'
import { entriesOf } from '#model/kernel/due-map.ts'
import type { RunStatus } from '#model/run/status.ts'
import { driveGate, type GateDrive } from './gate-drive.ts'
import { anArrival, runOf } from './gate-story.ts'

const ms = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max })

const anyPolicies: fc.Arbitrary<FlowPolicies> = fc.record({
  idempotency: fc.option(
    fc.record({
      release: fc.constantFrom('on_failure' as const, 'on_terminal' as const, 'ttl' as const),
      ttlMs: ms(40),
      onConflict: fc.constantFrom('return_existing' as const, 'reject' as const, 'replace' as const),
    }),
    { freq: 2 },
  ),
  whilePaused: fc.constantFrom('suppress' as const, 'hold' as const),
  rateLimit: fc.option(fc.record({ limit: ms(4), periodMs: ms(10) }), { freq: 1 }),
  debounce: fc.option(
    fc.record({
      periodMs: ms(10),
      mode: fc.constantFrom('trailing' as const, 'leading' as const, 'collect' as const),
      maxWaitMs: fc.option(ms(30)),
    }),
    { freq: 2 },
  ),
  batch: fc.option(fc.record({ maxSize: ms(4), maxWaitMs: ms(15), maxBytes: ms(60) }), { freq: 1 }),
  overlap: fc.constantFrom(
    'allow' as const,
    'skip' as const,
    'buffer_one' as const,
    'buffer_all' as const,
    'cancel_running' as const,
    'terminate_running' as const,
  ),
  throttle: fc.option(fc.record({ limit: ms(3), periodMs: ms(20), burst: ms(2) }), { freq: 1 }),
})

const key = fc.constantFrom('a', 'b', '__proto__')
const anyArrival: fc.Arbitrary<Omit<Arrival, 'sequence' | 'time'>> = fc.record({
  bytes: fc.nat(30),
  idempotencyKey: fc.option(key, { freq: 3 }),
  rateKey: key,
  windowKey: key,
  overlapKey: key,
  throttleKey: key,
  cost: ms(4),
  priority: fc.nat(3),
  alone: fc.boolean(),
})

const status = fc.constantFrom<RunStatus>('success', 'failed', 'cancelled')

type Step =
  | {
      readonly kind: 'arrive'
      readonly arrivals: readonly Omit<Arrival, 'sequence' | 'time'>[]
      readonly ageMs: number
    }
  | { readonly kind: 'call'; readonly arrival: Omit<Arrival, 'sequence' | 'time'>; readonly isBroken: boolean }
  | { readonly kind: 'refuse' | 'pass' | 'pause' | 'resume' | 'checkpoint' | 'restart' | 'change' }
  | { readonly kind: 'end'; readonly which: number; readonly status: RunStatus }

const one = <Kind extends Step['kind']>(kind: Kind) => fc.constant({ kind })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('arrive' as const),
      arrivals: fc.array(anyArrival, { minLength: 1, maxLength: 3 }),
      ageMs: fc.nat(5),
    }),
    weight: 8,
  },
  {
    arbitrary: fc.record({ kind: fc.constant('call' as const), arrival: anyArrival, isBroken: fc.boolean() }),
    weight: 3,
  },
  { arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(9), status }), weight: 5 },
  { arbitrary: one('pass'), weight: 2 },
  ...(['refuse', 'pause', 'checkpoint', 'restart', 'change'] as const).map((kind) => ({
    arbitrary: one(kind),
    weight: 1,
  })),
  { arbitrary: one('resume'), weight: 2 },
)

export interface GateLife {
  readonly policies: readonly [FlowPolicies, FlowPolicies]
  readonly steps: readonly (Step & { readonly gapMs: number })[]
}

export const anyGateLife: fc.Arbitrary<GateLife> = fc.record({
  policies: fc.tuple(anyPolicies, anyPolicies),
  steps: fc.array(
    fc.tuple(step, fc.oneof(fc.constant(0), fc.nat(12))).map(([given, gapMs]) => ({ ...given, gapMs })),
    { maxLength: 25, size: 'max' },
  ),
})

export interface LivedGate {
  readonly drive: GateDrive
  readonly now: number
  /** The last sequence that the gate received. */
  readonly told: number
  /** How many runs were started by name. */
  readonly calls: number
  readonly policies: FlowPolicies
}

/** Runs the steps of the life. */
export const live = ({ policies, steps }: GateLife): LivedGate => {
  let [inForce, other] = policies
  const drive = driveGate(() => inForce)
  let now = 1
  let told = 0
  let calls = 0
  const arrive = (given: Extract<Step, { kind: 'arrive' }>): void => {
    const arrivals = given.arrivals.map((arrival) => anArrival(++told, { ...arrival, time: now - given.ageMs }))
    drive.arrive(now, arrivals)
  }
  const call = ({ arrival, isBroken }: Extract<Step, { kind: 'call' }>): void => {
    const asked = { run: runOf(1_000_000 + ++calls), input: { kind: 'event' }, session: null, by: null } as const
    const problem = isBroken && calls % 5 === 0 ? 'key: no such field' : null
    const rules = { policies: inForce, runOf }
    drive.give({ type: 'call', now, ...rules, arrival: { ...arrival, time: now, call: asked }, problem })
  }
  const end = ({ which, status }: Extract<Step, { kind: 'end' }>): void => {
    const runs = entriesOf(drive.state().runs)
    const run = runs[which % Math.max(1, runs.length)]?.[0]
    drive.end(now, (run as ReturnType<typeof runOf> | undefined) ?? runOf(99), status)
  }
  const refused = (): readonly RefusedEvent[] => [{ sequence: ++told, reason: 'filter', detail: 'payload.big' }]
  for (const given of steps) {
    now += given.gapMs
    if (given.kind === 'arrive') arrive(given)
    else if (given.kind === 'call') call(given)
    else if (given.kind === 'end') end(given)
    else if (given.kind === 'refuse') drive.arrive(now, [], refused())
    else if (given.kind === 'pass') drive.passTo(now)
    else if (given.kind === 'restart') drive.restart()
    else if (given.kind === 'change') [inForce, other] = [other, inForce]
    else if (given.kind === 'checkpoint') drive.give({ type: 'checkpoint_gate', now })
    else drive.give({ type: given.kind === 'pause' ? 'pause_gate' : 'resume_gate', now, by: 'ana' })
  }
  return { drive, now, told, calls, policies: inForce }
}
