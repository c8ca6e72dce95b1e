/** Data made from schemas and seeds, and data found for conditions. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonSchema } from '#manifest/schema/ajv-schema.ts'
import { longPayload, payloadSchema } from '#manifest/yaml/parse/payload.ts'
import { sampleOf, seeded } from './sample.ts'
import { solve, valueIn } from './solve.ts'

const PAYLOAD = {
  lead_id: 'uuid!',
  order_id: 'string!',
  score: { type: 'number', min: 3, max: 4 },
  count: { type: 'integer', min: 2, max: 3 },
  kind: { type: 'string', enum: ['a', 'b'] },
  at: 'timestamp!',
  tags: { type: 'array', min: 2, items: 'string' },
  deep: { type: 'object', properties: { ok: 'boolean!', name: { type: 'string', min: 30, max: 40 } } },
  any: null,
}
const SCHEMA = payloadSchema(longPayload(PAYLOAD), false, [], () => undefined)

describe('a sample', () => {
  test('fits its schema, whatever the seed', () =>
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const value = sampleOf(SCHEMA, seeded(seed))
        expect(jsonSchema(SCHEMA)['~standard'].validate(value)).toEqual({ value })
      }),
      { numRuns: 200 },
    ))

  test('is the same for the same seed, and uses one id for each name', () => {
    expect(sampleOf(SCHEMA, seeded(3))).toEqual(sampleOf(SCHEMA, seeded(3)))
    const ids = [1, 2].map((seed) => sampleOf(SCHEMA, seeded(seed)) as { lead_id: string; order_id: string })
    expect(ids[0]?.lead_id).toBe(ids[1]?.lead_id)
    expect(ids[0]?.order_id).toBe('order_id-1')
  })

  test('keeps known values where they fit', () => {
    const known = { order_id: 'mine', score: 'not a number' }
    expect(sampleOf(SCHEMA, seeded(1), known)).toMatchObject({ order_id: 'mine', score: expect.any(Number) })
  })
})

describe('a condition', () => {
  const roots = { payload: { n: 1, kind: 'x', list: ['a'] }, output: {} }

  test.each([
    'payload.n == 42',
    'payload.n > 100 && payload.kind == "gold"',
    'payload.kind != "x" || payload.n < -5',
    'payload.kind.startsWith("pre")',
    'payload.kind in ["a", "b"] && payload.n >= 7',
    'output.ok && !output.late',
    "agent.confidence < 0.6 && agent.output.category == 'escalate'",
    'event.data.total <= 3',
    'has(payload.extra)',
  ])('%s is solved', (text) => {
    const solved = solve(text, roots, seeded(1), ['payload', 'output'])
    expect(solved).not.toBeNull()
    if (solved !== null) expect(valueIn(text, solved)).toBe(true)
  })

  test.each(['payload.n > 3 && payload.n < 2', 'false', 'size(payload.list) == 7'])('%s has no solution', (text) =>
    expect(solve(text, roots, seeded(1), ['payload', 'output'])).toBeNull(),
  )

  test('changes only the free roots', () => expect(solve('payload.n == 42', roots, seeded(1), ['output'])).toBeNull())
})
