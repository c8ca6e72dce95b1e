/** The order of plans, compared with a simple sort; and the text format in which people write them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { againFor, circleIn, type PlanNode } from './plan.ts'
import { readPlanText, slugOf } from './text.ts'

const IDS = ['a', 'b', 'c', 'd', 'e', 'f']
const some = fc.subarray(IDS)
const anyNodes: fc.Arbitrary<readonly PlanNode[]> = fc
  .tuple(...IDS.map(() => some))
  .map((all) => all.map((requires, i) => ({ id: IDS[i] ?? '', requires, reads: [], onReject: 'skip' as const })))

/** Removes the steps that wait for no step that is left, again and again. */
const isSortable = (nodes: readonly PlanNode[]): boolean => {
  let left = nodes
  for (;;) {
    const ids = new Set(left.map(({ id }) => id))
    const next = left.filter(({ requires }) => requires.some((id) => ids.has(id)))
    if (next.length === left.length) return left.length === 0
    left = next
  }
}

test('plan-1 a circle is found exactly if the steps cannot be put in an order, and it is a real circle', () =>
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

/** Any plan that can be put in an order: a step requires only steps that are written before it. */
const anyOrdered: fc.Arbitrary<readonly PlanNode[]> = anyNodes.map((nodes) =>
  nodes.map((node) => ({ ...node, requires: node.requires.filter((id) => id < node.id) })),
)

const reaches = (nodes: readonly PlanNode[], from: string, to: string): boolean =>
  from === to || (nodes.find(({ id }) => id === from)?.requires ?? []).some((id) => reaches(nodes, id, to))

test('plan-1 a request for changes repeats the step that makes them and the steps between, in order', () =>
  fc.assert(
    fc.property(anyOrdered, fc.constantFrom(...IDS), fc.constantFrom(...IDS), (nodes, from, to) => {
      const again = againFor(nodes, from, to).map(({ id }) => id)
      const between = IDS.filter((id) => id !== to && reaches(nodes, to, id) && reaches(nodes, id, from))
      expect(again.toSorted()).toEqual(between)
      for (const [i, id] of again.entries())
        for (const later of again.slice(i)) expect(nodes.find((node) => node.id === id)?.requires).not.toContain(later)
    }),
    { numRuns: 300, seed: 5 },
  ))

const anyWritten = fc.record({ id: fc.constantFrom(...IDS, '1', '12'), requires: some, said: fc.boolean() })

test('any plan that is written as text is read back', () =>
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

test('a line that is not a step is reported, and the words of a step are the name of a handler', () => {
  expect(readPlanText('a. Go\n\nthen go home')).toEqual({ kind: 'unread', line: 3, text: 'then go home' })
  expect(slugOf({ name: 'Compose Email message: "Hello World!"' })).toBe('compose-email-message')
})
