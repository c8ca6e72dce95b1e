/** What people are shown of a plan, the hash over it, and what runs after they have approved it. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { contentHash, defineContent } from '#manifest/plan/reading.ts'
import type { PlanId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import {
  orderOf,
  type PlanContent,
  type PlanDraft,
  type PlanFact,
  type PlanRevision,
  planDraft,
} from '#model/plan/draft.ts'
import { type HandlerFacts, shownSteps } from '#model/plan/shown.ts'
import { simDigest } from '#test/chaos/sim/digest.ts'
import { CASES, proof } from './proof.ts'

interface Written {
  readonly goal: string
  /** The amount and recipient that each step pays. */
  readonly payments: readonly { readonly amount: number; readonly to: string }[]
  readonly effect: HandlerFacts['effect']
  readonly maxCost: number | null
  readonly worksOn: Json | undefined
}

const written: fc.Arbitrary<Written> = fc.record({
  goal: fc.constantFrom('pay', 'pay all'),
  payments: fc.array(fc.record({ amount: fc.nat(3), to: fc.constantFrom('ana', 'mallory') }), {
    minLength: 1,
    maxLength: 3,
  }),
  effect: fc.constantFrom('once', 'idempotent'),
  maxCost: fc.constantFrom(null, 1_000, 2_000),
  worksOn: fc.constantFrom<Json | undefined>(undefined, { invoice: 1 }, { invoice: 2 }),
})

const FIELDS = ['goal', 'payments', 'effect', 'maxCost', 'worksOn'] as const

const rules = { shownSteps, contentHash, decide: planDraft.decide, orderOf }
type Rules = typeof rules

const contentOf = ({ shownSteps: show }: Pick<Rules, 'shownSteps'>, plan: Written): PlanContent => {
  const { goal, payments, effect, maxCost, worksOn } = plan
  const hands = { transfer: 'workflow' } as const
  const steps = payments.map((inputs, i) => ({ id: `s${i}`, assignedTo: 'transfer', inputs }))
  const facts: HandlerFacts = { modality: 'workflow', effect, maxCost, may: null }
  const spec = defineContent({ goal, steps, hands })
  const lines = show(spec, { handlers: new Map([['transfer', facts]]), namedBy: () => 'person' })
  return { goal, steps, hands, lines, goalBy: 'person', ...(worksOn !== undefined && { worksOn }) }
}

const hashOf = (given: Rules, plan: Written): string => given.contentHash(contentOf(given, plan), simDigest)

const drafted = (given: Rules, plan: Written): PlanDraft => {
  const content = { ...contentOf(given, plan), hash: hashOf(given, plan), text: '', isText: false, problems: [] }
  const proposed: PlanFact = {
    type: 'plan.proposed',
    id: 'pln_1' as PlanId,
    at: 1,
    by: 'ana',
    content: content as unknown as PlanRevision,
  }
  return fold(planDraft, [proposed]) as PlanDraft
}

const ANA = { id: 'ana', kind: 'user' } as const

const approved = (given: Rules, draft: PlanDraft, now: string): PlanDraft | null => {
  const { hash } = draft.current
  const decision = given.decide(draft, { type: 'approve_plan', now: 2, by: ANA, hash, shown: now })
  return decision.kind === 'facts' ? (decision.facts.reduce(planDraft.evolve, draft) as PlanDraft) : null
}

const isOrder = (answer: ReturnType<typeof orderOf>): boolean => 'plan' in answer

export const rendering = proof({
  name: 'plan-draft-4: people see every literal input and what each step does, and the hash covers all of it (13.1.3)',
  rules,
  prove: (given) =>
    fc.assert(
      fc.property(written, written, fc.constantFrom(...FIELDS), (one, drawn, field) => {
        const other = { ...one, [field]: drawn[field] }
        const { lines = [] } = contentOf(given, one)
        const seen = lines.map(({ inputs }) => Object.fromEntries(inputs.map(({ path, value }) => [path, value])))
        expect(seen).toEqual(one.payments)
        expect(lines.map(({ by, effect, maxCost }) => [by, effect, maxCost])).toEqual(
          one.payments.map(() => ['transfer', one.effect, one.maxCost]),
        )
        const isSame = JSON.stringify(one) === JSON.stringify(other)
        expect(hashOf(given, one) === hashOf(given, other)).toBe(isSame)
      }),
      CASES,
    ),
  mutants: [
    {
      name: 'people are not shown the last input of a step (13.1.3)',
      rules: {
        shownSteps: (spec, world) =>
          shownSteps(spec, world).map((line) => ({ ...line, inputs: line.inputs.slice(0, -1) })),
      },
    },
    {
      name: 'people are not shown what a step may cost (13.1.3)',
      rules: { shownSteps: (spec, world) => shownSteps(spec, world).map((line) => ({ ...line, maxCost: null })) },
    },
    {
      name: 'the hash of a plan covers its steps, and not what people were shown of them (13.1.3)',
      rules: { contentHash: ({ goal, steps, hands }, of) => contentHash({ goal, steps, hands }, of) },
    },
    {
      name: 'the hash of a plan does not cover the input that it works on (13.1.3)',
      rules: { contentHash: ({ worksOn: _, ...content }, of) => contentHash(content, of) },
    },
  ],
})

export const approvals = proof({
  name: 'plan-draft-4, plan-draft-5: what has changed since it was shown is neither approved nor run, nor with another input (13.1.3)',
  rules,
  prove: (given) =>
    fc.assert(
      fc.property(written, written, fc.boolean(), fc.boolean(), (shown, other, isOldAtRun, isOldBefore) => {
        const [atRun, atApproval] = [isOldAtRun ? shown : other, isOldBefore ? shown : other]
        const draft = drafted(given, shown)
        const hashes = [shown, atApproval, atRun].map((plan) => hashOf(given, { ...plan, goal: shown.goal }))
        const [hash = '', then = '', now = ''] = hashes
        const plan = approved(given, draft, then)
        expect(plan !== null).toBe(then === hash)
        if (plan === null) return
        expect(isOrder(given.orderOf(plan, now))).toBe(now === hash)
        const isItsOwn = shown.worksOn === undefined || JSON.stringify(shown.worksOn) === JSON.stringify(atRun.worksOn)
        expect(isOrder(given.orderOf(plan, hash, atRun.worksOn ?? { invoice: 3 }))).toBe(isItsOwn)
      }),
      CASES,
    ),
  mutants: [
    {
      name: 'a plan is approved although its steps do something else by now (13.1.3)',
      rules: {
        decide: (state, command) =>
          planDraft.decide(state, command.type === 'approve_plan' ? { ...command, shown: command.hash } : command),
      },
    },
    {
      name: 'an approved plan runs although its steps do something else by now (13.1.3)',
      rules: { orderOf: (plan, _, given) => orderOf(plan, plan.current.hash, given) },
    },
    {
      name: 'a plan runs with another input than the one that was shown (13.1.3)',
      rules: {
        orderOf: (plan, now, given) => {
          const { worksOn: _, ...current } = plan.current
          return orderOf({ ...plan, current }, now, given)
        },
      },
    },
  ],
})
