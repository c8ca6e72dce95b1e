/** Placement, compared with its plain reading: every rule checked by itself, over workers and handlers of a small world. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { policyCases } from '#test/support/stories/policy-cases.ts'
import { DEFAULT_PIN } from './pin.ts'
import { ANYWHERE, misfit, type Placement, shareOf, suitability, takersOf } from './placement.ts'
import type { WorkerPlace } from './worker-info.ts'

const CASES = policyCases(37)
const names = fc.constantFrom('a', 'b')
const values = fc.constantFrom('x', 'y')
const maybe = <T>(inner: fc.Arbitrary<T>) => fc.option(inner, { nil: null })

const aWorker: fc.Arbitrary<WorkerPlace> = fc.record({
  pool: maybe(names),
  labels: fc.dictionary(names, values, { maxKeys: 2 }),
  modules: maybe(fc.subarray(['m', 'n'])),
})

const aPlacement: fc.Arbitrary<Placement> = fc.record({
  pool: maybe(names),
  module: maybe(fc.constantFrom('m', 'n')),
  require: fc.dictionary(names, fc.subarray(['x', 'y'], { minLength: 1 }), { maxKeys: 2 }),
  prefer: fc.array(fc.record({ label: names, value: values, weight: fc.integer({ min: 1, max: 9 }) }), {
    maxLength: 3,
  }),
  sticky: fc.boolean(),
  pin: fc.constant(DEFAULT_PIN),
})

/** The oracle: each question by itself, without shortcuts. */
const fits = (worker: WorkerPlace, placement: Placement): boolean => {
  const inPool = placement.pool === null || worker.pool === placement.pool
  const inModule = placement.module === null || worker.modules === null || worker.modules.includes(placement.module)
  const labelled = Object.keys(placement.require).every((name) =>
    (placement.require[name] ?? []).some((value) => worker.labels[name] === value),
  )
  return inPool && inModule && labelled
}

describe('placement', () => {
  test('placement-1: a worker fits exactly when pool, module and every required label do', () => {
    fc.assert(
      fc.property(aWorker, aPlacement, (worker, placement) => {
        expect(misfit(worker, placement) === null).toBe(fits(worker, placement))
      }),
      CASES,
    )
  })

  test("[N7] placement-2, placement-3: the best suited workers claim a handler's runs at once, and sticky runs return to their last worker", () => {
    fc.assert(
      fc.property(
        fc.array(aWorker, { minLength: 1, maxLength: 4 }),
        fc.array(aPlacement, { minLength: 1, maxLength: 3 }),
        (workers, placements) => {
          const handlers = new Map(placements.map((placement, i) => [`h${i}`, placement]))
          const shares = workers.map((worker, i) =>
            shareOf(
              worker,
              workers.filter((_, other) => other !== i),
              handlers,
            ),
          )
          for (const [name, placement] of handlers) {
            const able = workers.flatMap((worker, i) => (fits(worker, placement) ? [i] : []))
            const best = Math.max(...able.map((i) => suitability(workers[i] as WorkerPlace, placement)))
            shares.forEach(({ atOnce, later, returning }, i) => {
              const isAble = able.includes(i)
              const isBest = isAble && suitability(workers[i] as WorkerPlace, placement) === best
              const comesBack = isAble && placement.sticky && able.length > 1
              expect(returning.includes(name)).toBe(comesBack)
              expect(atOnce === null || atOnce.includes(name)).toBe(isBest && !comesBack)
              expect(later.includes(name)).toBe(isAble && !isBest)
            })
          }
        },
      ),
      CASES,
    )
  })

  test('a worker that is alone leaves no run to another worker', () => {
    fc.assert(
      fc.property(aWorker, aPlacement, (worker, placement) => {
        expect(shareOf(worker, [], new Map([['h', placement]]))).toMatchObject({ later: [], returning: [] })
      }),
      CASES,
    )
  })

  test('[N4] placement-4: in each pool the oldest workers up to its limit claim runs, and a draining worker makes room for another', () => {
    const living = fc.uniqueArray(
      fc.record({
        id: fc.integer({ min: 0, max: 30 }).map(String),
        info: fc
          .record({ place: aWorker, startedAt: fc.nat(5), drains: fc.boolean() })
          .map(({ place, ...rest }) => ({ ...place, ...rest, name: 'w', slots: 1 })),
      }),
      { selector: ({ id }) => id, maxLength: 8 },
    )
    const bounds = fc.record({ a: maybe(fc.integer({ min: 1, max: 3 })), b: fc.constant(null) })
    fc.assert(
      fc.property(living, bounds, (workers, max) => {
        const maxOf = (pool: string): number | null => max[pool as 'a' | 'b']
        const takers = takersOf(workers, maxOf).map(({ id }) => id)
        for (const { id, info } of workers) {
          const ahead = workers.filter(
            (other) =>
              !other.info.drains &&
              other.info.pool === info.pool &&
              (other.info.startedAt < info.startedAt || (other.info.startedAt === info.startedAt && other.id < id)),
          )
          const isBeyond = info.pool !== null && ahead.length >= (maxOf(info.pool) ?? Infinity)
          expect(takers.includes(id)).toBe(!info.drains && !isBeyond)
        }
      }),
      CASES,
    )
  })

  test('a handler without requirements runs anywhere, and the share is then open to every name', () => {
    const worker = { pool: 'mail', labels: {}, modules: [] }
    expect(misfit(worker, ANYWHERE)).toBeNull()
    expect(shareOf(worker, [worker], new Map([['h', ANYWHERE]]))).toEqual({
      atOnce: null,
      later: [],
      returning: [],
    })
  })

  test('a property that every object inherits is not a label', () => {
    const worker = { pool: null, labels: {}, modules: null }
    const placement = { ...ANYWHERE, require: { constructor: ['x'] } }
    expect(misfit(worker, placement)).toBe('constructor=x')
    expect(misfit({ ...worker, labels: { constructor: 'x' } }, placement)).toBeNull()
  })

  test('a misfit names what the worker lacks', () => {
    const worker = { pool: 'web', labels: { region: 'us' }, modules: ['shop'] }
    expect(misfit(worker, { ...ANYWHERE, pool: 'mail' })).toBe('pool mail')
    expect(misfit(worker, { ...ANYWHERE, module: 'mail' })).toBe('module mail')
    expect(misfit(worker, { ...ANYWHERE, require: { region: ['eu', 'uk'] } })).toBe('region=eu|uk')
  })
})
