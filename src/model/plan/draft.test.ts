/** The life cycle of a plan's draft: revised, approved by its hash, discarded. */
import { expect, test } from 'vitest'
import { planId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { specify } from '#testing/spec.ts'
import {
  approvalOf,
  orderOf,
  type PlanDraft,
  type PlanFact,
  type PlanRevision,
  planDraft,
  planStatus,
} from './draft.ts'

const { given } = specify(planDraft)
const ID = planId('0'.repeat(32))
const ana = { id: 'ana', kind: 'user' } as const

const content = (hash: string, problems: PlanRevision['problems'] = []): PlanRevision => ({
  ...{ hash, problems, goal: '', text: 'a. Go', isText: true, lines: [], goalBy: 'person', steps: [], hands: {} },
})
const proposed: PlanFact = { type: 'plan.proposed', at: 1, by: 'bo', id: ID, content: content('one') }
const revised: PlanFact = { type: 'plan.revised', at: 2, by: 'bo', content: content('two') }
const approved: PlanFact = { type: 'plan.approved', at: 3, by: 'ana', hash: 'one' }
const discarded: PlanFact = { type: 'plan.discarded', at: 4, by: 'bo' }
const approve = (hash: string, by: { id: string; kind: 'user' | 'agent' } = ana, shown = hash) =>
  ({ type: 'approve_plan', now: 3, by, hash, shown }) as const
const draft = (...history: readonly PlanFact[]): PlanDraft => fold(planDraft, history) as PlanDraft

test('[N3] plan-draft-1: an approval names a revision, and does not hold for the next one', () => {
  given(proposed).when(approve('one')).thenFacts(approved)
  given(proposed, approved).when(approve('one')).thenNothing()
  given(proposed, revised).when(approve('one')).thenRefused('PLAN_STALE')
  expect(planStatus(draft(proposed, approved))).toBe('approved')
  expect(approvalOf(draft(proposed, approved, revised))).toBeNull()
})

test('plan-draft-2: an agent never approves a plan, and a plan with errors is never approved', () => {
  given(proposed)
    .when(approve('one', { id: 'bot', kind: 'agent' }))
    .thenRefused('AGENT_CANNOT_DECIDE')
  const problems = [{ code: 'PLAN_CYCLE', line: 1, step: 'a', message: 'a → a is a circle' } as const]
  given({ ...proposed, content: content('one', problems) } as PlanFact)
    .when(approve('one'))
    .thenRefused('PLAN_CYCLE')
})

test('plan-draft-3: a revision based on an older version is refused', () => {
  const revise = (version: number) =>
    ({ type: 'revise_plan', now: 2, by: 'bo', version, content: content('two') }) as const
  given(proposed).when(revise(1)).thenFacts(revised)
  given(proposed, approved).when(revise(1)).thenRefused('PRECONDITION_FAILED')
})

test('a discarded plan is neither approved nor run, and a revision brings it back', () => {
  given(proposed).when({ type: 'discard_plan', now: 4, by: 'bo' }).thenFacts(discarded)
  given(proposed, discarded).when({ type: 'discard_plan', now: 5, by: 'bo' }).thenNothing()
  given(proposed, discarded).when(approve('one')).thenRefused('PLAN_STALE')
  expect(planStatus(draft(proposed, discarded))).toBe('discarded')
  expect(planStatus(draft(proposed, discarded, revised))).toBe('draft')
})

test('the same proposal again changes nothing, another one under its id is refused; a plan that was not proposed is not found', () => {
  const propose = (hash: string) =>
    ({ type: 'propose_plan', now: 9, id: ID, by: 'bo', content: content(hash) }) as const
  given(proposed).when(propose('one')).thenNothing()
  given(proposed).when(propose('two')).thenRefused('PLAN_STALE')
  given().when(approve('one')).thenRefused('NOT_FOUND')
})

test('a run is ordered only for an approved plan whose handlers have not changed', () => {
  expect(orderOf(draft(proposed), 'one', {})).toMatchObject({ code: 'PLAN_NOT_APPROVED' })
  expect(orderOf(draft(proposed, approved), 'other', {})).toMatchObject({ code: 'PLAN_STALE' })
  expect(orderOf(draft(proposed, approved, discarded), 'one', {})).toMatchObject({ code: 'PLAN_STALE' })
  expect(orderOf(draft(proposed, approved), 'one', { n: 1 })).toMatchObject({ plan: ID, hash: 'one', input: { n: 1 } })
})

test('plan-draft-4: a plan that the system would show differently now is neither approved nor run (13.1.3)', () => {
  given(proposed)
    .when(approve('one', ana, 'otherwise'))
    .thenRefused('PLAN_STALE')
  expect(orderOf(draft(proposed, approved), 'otherwise')).toMatchObject({ code: 'PLAN_STALE' })
})

test('plan-draft-5: a plan that was shown with its input runs only with that input (13.1.3)', () => {
  const shown = { ...proposed, content: { ...content('one'), worksOn: { to: 'bo', n: 1 } } } as PlanFact
  const plan = draft(shown, approved)
  for (const input of [{}, { to: 'mallory', n: 1 }, null])
    expect(orderOf(plan, 'one', input)).toMatchObject(
      input === null ? { input: { to: 'bo', n: 1 } } : { code: 'INPUT_INVALID' },
    )
  for (const input of [undefined, { n: 1, to: 'bo' }])
    expect(orderOf(plan, 'one', input)).toMatchObject({ worksOn: { to: 'bo', n: 1 }, input: { to: 'bo', n: 1 } })
})
