/** Facts are written to the ledger's format and read back. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunFact } from '#model/run/fact.ts'
import { anyFact } from '#test/support/stories/run-arbitrary.ts'
import { FACT_TYPES, fact } from '#test/support/stories/run-story.ts'
import { anyTurns } from '#test/support/stories/schedule-arbitrary.ts'
import { anySessionFact } from '#test/support/stories/session-arbitrary.ts'
import { readGateFact, readRunFact, readScheduleFact, readSessionFact, writeFact } from './fact-codec.ts'
import type { Json } from './json.ts'
import { inline } from './payload.ts'

/** JSON in the ledger has no -0: a round trip turns it into 0. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json)
const OPTIONS = { numRuns: 1_000, seed: 3 }

test('type and time are written in fields of their own, the rest as exact JSON text', () =>
  expect(writeFact(fact('step.completed', { result: inline('a\u0000\ud800') }))).toStrictEqual({
    type: 'step.completed',
    recordedAt: 10,
    body: '{"step":"mail","attempt":1,"result":{"value":"a\\u0000\\ud800"}}',
  }))

test.each(FACT_TYPES)('%s reads back as it was', (type) =>
  expect(readRunFact(writeFact(fact(type)))).toStrictEqual(fact(type)),
)

test('any fact of a run reads back as it was, whatever value it holds', () => {
  const holding = json.map((value): RunFact => fact('step.completed', { result: inline(value) }))
  fc.assert(
    fc.property(fc.oneof(anyFact, holding), (written) => {
      expect(readRunFact(writeFact(written))).toEqual(written)
    }),
    OPTIONS,
  )
})

test('any fact of a session reads back as it was', () => {
  fc.assert(
    fc.property(anySessionFact, (written) => {
      expect(readSessionFact(writeFact(written))).toEqual(written)
    }),
    OPTIONS,
  )
})

test('any fact of a schedule reads back as it was', () => {
  fc.assert(
    fc.property(anyTurns, (turns) => {
      for (const written of turns.flatMap(({ facts }) => facts))
        expect(readScheduleFact(writeFact(written))).toEqual(written)
    }),
    { numRuns: 200, seed: 3 },
  )
})

test.each(['step.skipped', '', 'toString', '__proto__'])(
  'the type %j of a newer version is refused, never folded',
  (type) => {
    expect(() => readRunFact({ type, recordedAt: 1, body: '{}' })).toThrow('FACT_UNKNOWN')
    expect(() => readSessionFact({ type, recordedAt: 1, body: '{}' })).toThrow('FACT_UNKNOWN')
    expect(() => readScheduleFact({ type, recordedAt: 1, body: '{}' })).toThrow('FACT_UNKNOWN')
  },
)

test('a run does not accept facts of a session, nor a session those of a run', () => {
  expect(() => readRunFact({ type: 'session.ended', recordedAt: 1, body: '{}' })).toThrow('FACT_UNKNOWN')
  expect(() => readSessionFact({ type: 'run.failed', recordedAt: 1, body: '{}' })).toThrow('FACT_UNKNOWN')
})

test('a body cannot override the type and the time that were sealed with it', () =>
  expect(readRunFact({ type: 'timer.fired', recordedAt: 7, body: '{"type":"run.failed","at":9,"step":"a"}' })).toEqual({
    type: 'timer.fired',
    at: 7,
    step: 'a',
  }))

test('a fact of a gate reads back as it was, and no other reader accepts it', () => {
  const written = writeFact({ type: 'gate.counted', at: 7, key: '__proto__', countsUntil: 9 })
  expect(readGateFact(written)).toStrictEqual({ type: 'gate.counted', at: 7, key: '__proto__', countsUntil: 9 })
  expect(() => readRunFact(written)).toThrow('FACT_UNKNOWN')
})
