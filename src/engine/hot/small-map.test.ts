/** A SmallMap behaves like a Map, also with many values. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SmallMap } from './small-map.ts'

test('after any additions and removals it answers like a Map of the same values', () => {
  const changes = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 40 })), { maxLength: 200 })
  fc.assert(
    fc.property(changes, (list) => {
      const few = new SmallMap<{ readonly name: string }>()
      const map = new Map<string, { readonly name: string }>()
      for (const [adds, n] of list) {
        const name = `s${n}`
        const known = map.get(name)
        if (adds && known === undefined) {
          const value = { name }
          few.add(value)
          map.set(name, value)
        } else if (!adds && known !== undefined) {
          few.delete(known)
          map.delete(name)
        }
        expect(few.get(name)).toBe(map.get(name))
        expect(few.isEmpty).toBe(map.size === 0)
        expect(few.some((value) => value.name === 's7')).toBe(map.has('s7'))
      }
      few.clear()
      expect([few.isEmpty, few.get('s1')]).toEqual([true, undefined])
    }),
  )
})
