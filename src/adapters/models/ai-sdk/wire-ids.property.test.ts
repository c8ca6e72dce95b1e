/** For any ids of a conversation, each call has a unique id on the wire, and each result has the id of its call. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wireIds } from './wire-ids.ts'

const anyId = fc.oneof(fc.string({ maxLength: 80 }), fc.constantFrom('1.0', '1_0', '1_0_2', '', 'call'))

test('ids on the wire are letters, digits, _ and -, at most 64, and unique', () => {
  fc.assert(
    fc.property(fc.array(anyId, { maxLength: 30 }), (given) => {
      const ids = wireIds()
      const pairs = given.map((id) => [ids.ofCall(id), ids.ofResult(id)] as const)
      for (const [call, result] of pairs) {
        expect(call).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
        expect(result).toBe(call)
      }
      expect(new Set(pairs.map(([call]) => call)).size).toBe(given.length)
    }),
  )
})

test('an id that every provider takes stays as it is', () => {
  const ids = wireIds()
  expect([ids.ofCall('toolu_01'), ids.ofCall('toolu_02'), ids.ofResult('toolu_01')]).toEqual([
    'toolu_01',
    'toolu_02',
    'toolu_01',
  ])
})
