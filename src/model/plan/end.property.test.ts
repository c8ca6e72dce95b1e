/** What a "no" means for the steps of a plan, for any requirements among them, compared with a simple walk. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answeredIn, planEnd, refusedAt, type StepEnd, SUCCESS, skipIn, skippedFor, skipRecord } from './end.ts'
import type { PlanNode } from './plan.ts'

const { fateOf, isYes } = planEnd

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** A step requires only steps that are written before it, and reads some of them. */
const anyPlan: fc.Arbitrary<readonly PlanNode[]> = fc
  .tuple(...IDS.map((_, i) => fc.tuple(fc.subarray(IDS.slice(0, i)), fc.constantFrom('skip', 'continue'), fc.nat(3))))
  .map((all) =>
    all.map(([requires, onReject, reads], i) => ({
      ...{ id: IDS[i] ?? '', requires, onReject },
      reads: requires.slice(0, reads),
    })),
  )

/** How each step would end if it began. */
const anyEnds = fc.tuple(...IDS.map(() => fc.constantFrom('success', 'success', 'skipped', 'rejected')))

const endOf = (id: string, word: string): StepEnd => {
  if (word === 'rejected') return refusedAt(id, `no to ${id}`)
  return word === 'skipped' ? skippedFor('its condition is not met') : SUCCESS
}

const played = (plan: readonly PlanNode[], words: readonly string[]) => {
  const ends = new Map<string, StepEnd>()
  const begun = new Set<string>()
  for (const [i, node] of plan.entries()) {
    const fate = fateOf(node, ends)
    if (fate === null) begun.add(node.id)
    ends.set(node.id, fate ?? endOf(node.id, words[i] ?? 'success'))
  }
  return { ends, begun }
}

test('plan-2 no step runs after a "no" unless it says on_reject: continue, and every skipped step says whose "no" it was', () =>
  fc.assert(
    fc.property(anyPlan, anyEnds, (plan, words) => {
      const { ends, begun } = played(plan, words)
      for (const { id, requires, onReject } of plan) {
        const refused = requires.filter((other) => ends.get(other)?.because != null)
        if (refused.length > 0 && onReject === 'skip') expect(begun).not.toContain(id)
        const end = ends.get(id)
        if (begun.has(id) || end?.because == null) continue
        expect(end.status).toBe('skipped')
        expect(end.reason).toBe(`no to ${end.because}`)
        expect(ends.get(end.because)).toMatchObject({ status: 'rejected', because: end.because })
      }
    }),
    { numRuns: 1_000, seed: 5 },
  ))

test('plan-2 without any "no" and without a skipped step, every step runs', () =>
  fc.assert(
    fc.property(anyPlan, (plan) => {
      expect(played(plan, []).begun.size).toBe(plan.length)
    }),
    { numRuns: 200, seed: 5 },
  ))

test('plan-3 a skipped step stops only the steps that read its output', () => {
  const ends = new Map<string, StepEnd>([
    ['a', skippedFor('its condition is not met')],
    ['b', SUCCESS],
  ])
  const node = { id: 'x', requires: ['a', 'b'], reads: [] as readonly string[], onReject: 'skip' } as const
  expect(fateOf(node, ends)).toBeNull()
  expect(fateOf({ ...node, reads: ['b'] }, ends)).toBeNull()
  expect(fateOf({ ...node, reads: ['a'] }, ends)).toMatchObject({ status: 'skipped', because: null })
  expect(fateOf({ ...node, reads: ['a'], onReject: 'continue' }, ends)).toMatchObject({ status: 'skipped' })
})

test('plan-4 of all ends of a question, only an approval of something and an answer count as a yes', () => {
  const ends = [
    'approved',
    'rejected',
    'completed',
    'expired',
    'withdrawn',
    'revision_requested',
    'pending',
    'in_review',
    '',
  ]
  const yes = ends.flatMap((status) =>
    ['approve', 'edit', 'respond', 'reject', 'own', 'expired'].flatMap((decision) =>
      [[], ['m1']].flatMap((approved) =>
        [[], ['m2']].flatMap((rejected) =>
          isYes({ status, decision, approved, rejected })
            ? [`${status} ${decision} +${approved.length} -${rejected.length}`]
            : [],
        ),
      ),
    ),
  )
  const approved = ['approve', 'edit', 'respond', 'reject', 'own', 'expired'].flatMap((decision) =>
    ['+0 -0', '+1 -0', '+1 -1'].map((items) => `approved ${decision} ${items}`),
  )
  const answered = ['+0 -0', '+0 -1', '+1 -0', '+1 -1'].map((items) => `completed respond ${items}`)
  const marked = ['approve', 'edit', 'reject', 'own', 'expired'].flatMap((decision) =>
    ['+1 -0', '+1 -1'].map((items) => `completed ${decision} ${items}`),
  )
  expect(yes.toSorted()).toEqual([...approved, ...answered, ...marked].toSorted())
})

test('plan-4 an output that cannot be read is not a yes', () =>
  fc.assert(
    fc.property(fc.jsonValue(), (output) => {
      const text = JSON.stringify(output)
      if (!text.includes('approved') && !text.includes('completed'))
        expect(isYes(answeredIn(output as never))).toBe(false)
    }),
    { numRuns: 300, seed: 5 },
  ))

test('the record of a skipped step is read back, and the output of a step is not taken for one', () => {
  const end = { status: 'skipped', because: 'ok', reason: 'ana rejected "ok"' } as const
  expect(skipIn(skipRecord(end))).toEqual({ because: 'ok', reason: 'ana rejected "ok"' })
  for (const value of [null, 'skipped', { status: 'skipped', reason: 'x' }, [], { $skipped: true }])
    expect(skipIn(value)).toBeNull()
})
