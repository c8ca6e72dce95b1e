/** The order of plans, against a plain sort; and the lines that people write them in. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { circleIn, fateOf, type PlanNode, type StepEnd } from './plan.ts'
import { readPlanText, slugOf } from './plan-text.ts'

const IDS = ['a', 'b', 'c', 'd', 'e', 'f']
const some = fc.subarray(IDS)
const anyNodes: fc.Arbitrary<readonly PlanNode[]> = fc
  .tuple(...IDS.map(() => some))
  .map((all) => all.map((requires, i) => ({ id: IDS[i] ?? '', requires, reads: [] })))

/** Takes away whatever waits for nothing that is left, again and again. */
const isSortable = (nodes: readonly PlanNode[]): boolean => {
  let left = nodes
  for (;;) {
    const ids = new Set(left.map(({ id }) => id))
    const next = left.filter(({ requires }) => requires.some((id) => ids.has(id)))
    if (next.length === left.length) return left.length === 0
    left = next
  }
}

test('plan-1 there is a circle exactly if the steps cannot be put in an order, and it is one', () =>
  fc.assert(
    fc.property(anyNodes, (nodes) => {
      const circle = circleIn(nodes)
      expect(circle === null).toBe(isSortable(nodes))
      const requires = new Map(nodes.map((node) => [node.id, node.requires]))
      for (const [i, id] of (circle ?? []).slice(0, -1).entries()) expect(requires.get(id)).toContain(circle?.[i + 1])
      expect(circle?.at(0)).toBe(circle?.at(-1))
    }),
    { numRuns: 500, seed: 5 },
  ))

const ENDS: readonly StepEnd[] = ['success', 'skipped', 'rejected', 'withheld']
const anyEnds = fc.tuple(...IDS.map(() => fc.constantFrom(...ENDS))).map((ends) => {
  return new Map(ends.map((end, i) => [IDS[i] ?? '', end]))
})

test('plan-2 whatever stands behind a refusal is withheld, and nothing else is', () =>
  fc.assert(
    fc.property(some, anyEnds, (requires, ends) => {
      const isRefused = requires.some((id) => ends.get(id) === 'rejected' || ends.get(id) === 'withheld')
      expect(fateOf({ id: 'x', requires, reads: [] }, ends) === 'withheld').toBe(isRefused)
    }),
    { numRuns: 300, seed: 5 },
  ))

test('plan-3 a step that was left out stops only those that read it', () => {
  const ends = new Map<string, StepEnd>([
    ['a', 'skipped'],
    ['b', 'success'],
  ])
  expect(fateOf({ id: 'x', requires: ['a', 'b'], reads: [] }, ends)).toBeNull()
  expect(fateOf({ id: 'x', requires: ['a', 'b'], reads: ['b'] }, ends)).toBeNull()
  expect(fateOf({ id: 'x', requires: ['a', 'b'], reads: ['a'] }, ends)).toBe('skipped')
})

const anyWritten = fc.record({ id: fc.constantFrom(...IDS, '1', '12'), requires: some, said: fc.boolean() })

test('[N1] any plan that is written down is read back', () =>
  fc.assert(
    fc.property(fc.array(anyWritten), (steps) => {
      const lines = steps.map(({ id, requires, said }) => {
        const behind =
          requires.length === 0 ? '' : ` (requires steps ${requires.join(', ').replace(/, (\w)$/, ' and $1')})`
        return `  ${id}. Send mails${said ? ': "Hello World!"' : ''}${behind}`
      })
      expect(readPlanText(lines.join('\n\n'))).toEqual({
        kind: 'steps',
        steps: steps.map(({ id, requires, said }) => ({
          ...{ id, requires },
          name: `Send mails${said ? ': "Hello World!"' : ''}`,
          text: said ? 'Hello World!' : null,
        })),
      })
    }),
    { numRuns: 300, seed: 5 },
  ))

test('a line that is no step is named, and the words of one are the name of a handler', () => {
  expect(readPlanText('a. Go\n\nthen go home')).toEqual({ kind: 'unread', line: 3, text: 'then go home' })
  expect(slugOf({ name: 'Compose Email message: "Hello World!"' })).toBe('compose-email-message')
})
