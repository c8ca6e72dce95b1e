/** A map whose old versions stay readable, compared with plain copies of a Map. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PersistentMap } from './persistent-map.ts'

type Versioned = PersistentMap<string, number>
const empty = (): Versioned => PersistentMap.empty<string, number>()

describe('one version after another', () => {
  test('the empty map has no entries', () => {
    expect([empty().size, empty().has('a'), empty().get('a'), empty().entries()]).toEqual([0, false, undefined, []])
  })

  test('an entry can be added, replaced and removed', () => {
    const one = empty().with('a', 1)
    const two = one.with('a', 2).with('b', 3)
    expect(two.entries()).toEqual([
      ['a', 2],
      ['b', 3],
    ])
    expect(two.without('a').entries()).toEqual([['b', 3]])
  })

  test('removing a missing key returns the same version', () => {
    const one = empty().with('a', 1)
    expect(one.without('b')).toBe(one)
  })

  test('some is true if one entry matches, and false for an empty map', () => {
    const two = empty().with('a', 1).with('b', 2)
    expect([two.some((value) => value > 1), two.some((value) => value > 2), empty().some(() => true)]).toEqual([
      true,
      false,
      false,
    ])
  })

  test('entries are a snapshot', () => {
    const one = empty().with('a', 1)
    const entries = one.entries()
    one.with('b', 2)
    expect(entries).toEqual([['a', 1]])
  })

  test('an old version at the end of a long chain is read without recursion', () => {
    const first = empty().with('first', 0)
    let last = first
    for (let i = 0; i < 200_000; i++) last = last.with(`k${i % 1_000}`, i)
    expect([first.size, first.get('first'), first.has('k0')]).toEqual([1, 0, false])
    expect([last.size, last.get('k999'), first.size]).toEqual([1_001, 199_999, 1])
  })
})

describe('any tree of versions', () => {
  type Change = {
    readonly kind: 'with' | 'without'
    readonly from: number
    readonly key: string
    readonly value: number
  }
  const KEYS = ['a', 'b', 'c', 'd']
  const change: fc.Arbitrary<Change> = fc.record({
    kind: fc.constantFrom('with' as const, 'without' as const),
    from: fc.nat(),
    key: fc.constantFrom(...KEYS),
    value: fc.nat(3),
  })
  const anyTree = fc.tuple(fc.array(change, { maxLength: 40, size: 'max' }), fc.array(fc.nat(), { maxLength: 40 }))

  const copyWith = (before: ReadonlyMap<string, number>, { kind, key, value }: Change): ReadonlyMap<string, number> => {
    const after = new Map(before)
    if (kind === 'with') after.set(key, value)
    else after.delete(key)
    return after
  }

  const readVersion = (version: Versioned): unknown => [
    version.size,
    version.entries().toSorted(),
    KEYS.map((key) => [version.get(key), version.has(key)]),
    version.some((value) => value === 3),
  ]
  const readCopy = (copy: ReadonlyMap<string, number>): unknown => [
    copy.size,
    [...copy].toSorted(),
    KEYS.map((key) => [copy.get(key), copy.has(key)]),
    [...copy.values()].includes(3),
  ]

  test('every version reads like its plain copy, in any order of changes and reads', () => {
    fc.assert(
      fc.property(anyTree, ([changes, readings]) => {
        const versions = [empty()]
        const copies: ReadonlyMap<string, number>[] = [new Map()]
        for (const made of changes) {
          const from = made.from % versions.length
          const version = versions[from] as Versioned
          versions.push(made.kind === 'with' ? version.with(made.key, made.value) : version.without(made.key))
          copies.push(copyWith(copies[from] as ReadonlyMap<string, number>, made))
        }
        const order = [...readings.map((reading) => reading % versions.length), ...versions.keys()]
        const found = order.map((place) => readVersion(versions[place] as Versioned))
        // Compared as text, because comparing thousands of small lists one by one is slow.
        expect(JSON.stringify(found)).toBe(
          JSON.stringify(order.map((place) => readCopy(copies[place] as ReadonlyMap<string, number>))),
        )
      }),
      { numRuns: 1_000, seed: 17 },
    )
  })
})
