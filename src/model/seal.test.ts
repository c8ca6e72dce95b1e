/** The text that is hashed: one per fact and place. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runId } from './ids.ts'
import { GENESIS, sealText, type Unsealed } from './seal.ts'

const aFact: Unsealed = {
  stream: runId('0'.repeat(32)),
  seq: 3,
  type: 'timer.fired',
  recordedAt: 7,
  body: '{"step":"a"}',
}

test('the text is every part in a line of its own', () =>
  expect(sealText('before', aFact)).toBe(`before\nrun_${'0'.repeat(32)}\n3\ntimer.fired\n7\n{"step":"a"}`))

test('the first fact is sealed to nothing', () => expect(sealText(GENESIS, aFact).startsWith('\nrun_')).toBe(true))

test('[V3] whatever is changed changes the text', () => {
  const hash = fc.base64String({ maxLength: 4 })
  const sealed = fc.record({
    stream: fc.constantFrom(runId('0'.repeat(32)), runId('1'.repeat(32))),
    seq: fc.nat(12),
    type: fc.constantFrom('timer.fired', 'timer.set'),
    recordedAt: fc.nat(12),
    body: fc.string({ unit: fc.constantFrom('{', '}', '1', '\\', '\n'), maxLength: 4 }),
  })
  fc.assert(
    fc.property(hash, sealed, hash, sealed, (hashA, a, hashB, b) => {
      const isSame = hashA === hashB && JSON.stringify(a) === JSON.stringify(b)
      return (sealText(hashA, a) === sealText(hashB, b)) === isSame
    }),
    { numRuns: 1_000, seed: 9 },
  )
})
