/** Properties of every gate, whatever its policies and commands. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countOf, entriesOf } from '#model/kernel/due-map.ts'
import { readGateFact, writeFact } from '#model/kernel/fact-codec.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { anyGateLife, live } from '#test/support/stories/gate-arbitrary.ts'
import { anArrival, policiesWith, runOf } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import { gate } from './gate.ts'
import type { GateFact, OpenGate } from './gate-fact.ts'
import { gateWakeAt, resumeGateFrom } from './gate-read.ts'

const CASES = policyCases(71, 1_000)

const startedIn = (facts: readonly GateFact[]): readonly number[] =>
  facts.flatMap((fact) => (fact.type === 'gate.started' ? fact.events : []))

const suppressedIn = (facts: readonly GateFact[]): readonly number[] =>
  facts.flatMap((fact) => (fact.type === 'trigger.suppressed' ? [fact.sequence] : []))

const waitingIn = ({ held, windows, lines }: OpenGate): readonly number[] => [
  ...held.map(({ arrival }) => arrival.sequence),
  ...[
    ...entriesOf(windows).map(([, { candidate }]) => candidate),
    ...entriesOf(lines).flatMap(([, { waiting }]) => waiting),
  ].flatMap(({ events }) => events.map(({ sequence }) => sequence)),
]

test(
  'gate-1: each event that was delivered is started, suppressed or waiting, exactly once',
  () => {
    fc.assert(
      fc.property(anyGateLife, (life) => {
        const { drive, told, calls } = live(life)
        const found = [...startedIn(drive.history), ...suppressedIn(drive.history), ...waitingIn(drive.state())]
        const events = Array.from({ length: told }, (_, i) => i + 1)
        const asked = Array.from({ length: calls }, (_, i) => i - calls)
        expect(found.toSorted((a, b) => a - b)).toEqual([...asked, ...events])
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test(
  'no two runs have the same id',
  () => {
    fc.assert(
      fc.property(anyGateLife, (life) => {
        const runs = live(life).drive.history.flatMap((fact) => (fact.type === 'gate.started' ? [fact.run] : []))
        expect(new Set(runs).size).toBe(runs.length)
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test(
  'a call starts a run of its own under its own id, or is refused under that id; it joins no other',
  () => {
    fc.assert(
      fc.property(anyGateLife, (life) => {
        const { drive } = live(life)
        for (const fact of drive.history) {
          if (fact.type === 'trigger.suppressed') expect(fact.sequence < 0).toBe(fact.call !== undefined)
          if (fact.type !== 'gate.started') continue
          expect(fact.events.some((sequence) => sequence < 0)).toBe(fact.call !== undefined)
          if (fact.call !== undefined) expect([fact.run, fact.events.length]).toEqual([fact.call.run, 1])
        }
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test(
  'gate-2: an event that is delivered a second time does nothing',
  () => {
    fc.assert(
      fc.property(anyGateLife, (life) => {
        const { drive, now, policies } = live(life)
        const again = drive.history.flatMap((fact) => (fact.type === 'gate.held' ? [fact.arrival] : []))
        const { cursor } = drive.state()
        expect(drive.give({ type: 'arrive', now, policies, runOf, arrivals: again, refused: [], cursor })).toEqual([])
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test(
  'gate-3: nothing starts between a pause and the resume',
  () => {
    fc.assert(
      fc.property(anyGateLife, (life) => {
        let isPaused = false
        for (const { type } of live(life).drive.history) {
          if (type === 'gate.paused' || type === 'gate.resumed') isPaused = type === 'gate.paused'
          if (isPaused && type === 'gate.started') expect.fail('started while paused')
        }
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test(
  'gate-4: the facts as written fold to the same state, from the beginning or from any checkpoint',
  () => {
    fc.assert(
      fc.property(anyGateLife, fc.nat(100), (life, cut) => {
        const { drive } = live(life)
        const read = drive.history.map((fact) => readGateFact(writeFact(fact)))
        expect(fold(gate, read)).toEqual(drive.state())
        const tail = read.slice(cut)
        const reaches = tail.some(({ type }) => type === 'gate.checkpointed' || type === 'gate.opened')
        expect(resumeGateFrom(tail)).toEqual(reaches ? drive.state() : null)
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test(
  'once all runs have ended and time has passed, nothing waits and no key is held forever',
  () => {
    fc.assert(
      fc.property(anyGateLife, (life) => {
        const { drive, now } = live(life)
        drive.give({ type: 'resume_gate', now, by: 'ana' })
        let later = now + 100
        drive.passTo(later)
        while (countOf(drive.state().runs) > 0) {
          for (const [run] of entriesOf(drive.state().runs)) drive.end(++later, run as RunId, 'success')
          later += 100
          drive.passTo(later)
        }
        const state = drive.state()
        expect([waitingIn(state), countOf(state.lines), gateWakeAt(state)]).toEqual([[], 0, null])
        expect(entriesOf(state.claims).filter(([, { expiresAt }]) => expiresAt === null)).toEqual([])
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test(
  'any facts in any order fold without throwing, and any state answers a command',
  () => {
    const shuffled = fc
      .tuple(anyGateLife, anyGateLife)
      .map((lives) => lives.flatMap((life) => live(life).drive.history))
      .chain((facts) => fc.shuffledSubarray(facts))
    fc.assert(
      fc.property(shuffled, anyGateLife, (facts, { policies }) => {
        const state = fold(gate, facts)
        expect(['facts', 'refused']).toContain(
          gate.decide(state, { type: 'pass_time', now: 1_000, policies: policies[0], runOf }).kind,
        )
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test(
  'after a long silence the next arrival leaves in memory only itself and what is still alive',
  () => {
    const policies = policiesWith({
      idempotency: { release: 'ttl', ttlMs: 10, onConflict: 'reject' },
      rateLimit: { limit: 1, periodMs: 10 },
      debounce: { periodMs: 10, mode: 'leading', maxWaitMs: null },
      throttle: { limit: 1, periodMs: 10, burst: 1 },
    })
    const keys = { idempotencyKey: 'new', rateKey: 'new', windowKey: 'new', throttleKey: 'new' }
    fc.assert(
      fc.property(anyGateLife, (life) => {
        const { drive, told } = live(life)
        const now = 100_000
        drive.give({ type: 'resume_gate', now, by: 'ana' })
        drive.passTo(now)
        const arrivals = [anArrival(told + 1, keys)]
        drive.give({ type: 'arrive', now: now * 2, policies, runOf, arrivals, refused: [], cursor: told + 1 })
        const { rates, throttles, bursts, claims } = drive.state()
        const kept = [entriesOf(rates), entriesOf(throttles), entriesOf(bursts)].map((list) => list.map(([key]) => key))
        expect(kept).toEqual([['new'], ['new'], ['new']])
        expect(entriesOf(claims).filter(([key, { expiresAt }]) => key !== 'new' && expiresAt !== null)).toEqual([])
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)
