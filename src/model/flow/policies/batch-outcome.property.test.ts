/** Outcomes of a batch compared with a plain table, and the attempts of failed events compared with a simple count. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { driveGate } from '#test/support/stories/gate-drive.ts'
import { anArrival, policiesWith, runOf } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import { batchOutcome } from './batch-outcome.ts'

const CASES = policyCases(19)
const anyId = fc.constantFrom('a', 'b', 'c', 'd', '__proto__')
const anyItem = fc.oneof(
  fc.record({ id: anyId, status: fc.constantFrom('success', 'failed', 'skipped', 'odd') }),
  fc.constantFrom<Json>(null, 'a', { id: 'a' }, []),
)

test(
  '[J3] an event succeeded exactly if it has an entry and all its entries are success or skipped',
  () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyId, { minLength: 1 }), fc.array(anyItem), (ids, items) => {
        const words = (id: string): unknown[] =>
          items.flatMap((item) =>
            item !== null && typeof item === 'object' && 'id' in item && item.id === id
              ? ['status' in item ? item.status : undefined]
              : [],
          )
        const isWell = (id: string): boolean =>
          words(id).length > 0 && words(id).every((word) => word === 'success' || word === 'skipped')
        const failed = ids.filter((id) => !isWell(id))
        const status = failed.length === 0 ? 'success' : failed.length === ids.length ? 'failed' : 'partial'
        expect(batchOutcome(ids, { items } as Json, null)).toEqual({ status, failed })
        expect(batchOutcome(ids, { items } as Json, 'shared')).toEqual({ status: 'success', failed: [] })
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test('[J3] without a list the output applies to all events, unless each must be named', () => {
  expect(batchOutcome(['a', 'b'], null, null)).toEqual({ status: 'success', failed: [] })
  expect(batchOutcome(['a', 'b'], { done: true }, 'each')).toEqual({ status: 'failed', failed: ['a', 'b'] })
})

const RETRY = { maxAttempts: 3, baseMs: 10, factor: 2, maxMs: 100 }

/** Each event fails this many times before it succeeds. */
const anyTroubles = fc.array(fc.nat(4), { minLength: 1, maxLength: 12 })

test(
  '[J5] gate-5: only failed events are retried, as often as they fail and the retry allows, across restarts',
  () => {
    fc.assert(
      fc.property(anyTroubles, fc.nat(3), fc.double({ min: 0, max: 1, noNaN: true }), (troubles, restarts, roll) => {
        const policies = policiesWith({ batch: { maxSize: 4, maxWaitMs: 5, maxBytes: 1_000, retry: RETRY } })
        const drive = driveGate(policies)
        const tries = new Map<number, number>()
        let now = 1
        let next = 1_000
        const arrivals = troubles.map((_, i) => anArrival(i + 1))
        drive.arrive(now, arrivals)
        const perform = (run: RunId, events: readonly number[]): void => {
          for (const sequence of events) tries.set(sequence, (tries.get(sequence) ?? 0) + 1)
          const failed = events.filter((sequence) => (tries.get(sequence) ?? 0) <= (troubles[sequence - 1] ?? 0))
          const again = { arrivals: failed.map((sequence) => anArrival(sequence)), next: runOf(next++), roll }
          const end = { run, status: failed.length === 0 ? 'success' : 'partial', failed: again } as const
          drive.give({ type: 'end_runs', now, policies, runOf, ended: [end] })
        }
        let seen = 0
        for (let rounds = 0; rounds < 40; rounds++) {
          now += 25
          drive.passTo(now)
          if (rounds % 4 === restarts) drive.restart()
          const fresh = drive.history.slice(seen).filter((fact) => fact.type === 'gate.started')
          seen = drive.history.length
          for (const { run, events } of fresh) perform(run, events)
        }
        for (const [i, trouble] of troubles.entries())
          expect(tries.get(i + 1)).toBe(Math.min(trouble + 1, RETRY.maxAttempts))
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)
