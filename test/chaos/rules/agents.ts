/** Agents that are retried or hand off their work, and the people in a chain of causes. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { handoffInput } from '#executors/agent/children.ts'
import { type Scope, scopeOf } from '#executors/agent/scope.ts'
import { knownRequesters, requestersIn } from '#model/access/requester.ts'
import type { AgentSpec } from '#model/agent/agent.ts'
import { type AgentState, evolveAgent, NEW_AGENT } from '#model/agent/state.ts'
import { nextAction, type TurnRules } from '#model/agent/turn.ts'
import { NOTHING_SPENT } from '#model/flow/policies/budget.ts'
import { anyFact } from '#test/support/agents/agent-arbitrary.ts'
import { CASES, proof } from './proof.ts'

const TURN: TurnRules = {
  ...{ maxTurns: 4, maxToolCalls: 9, timeoutMs: 100, maxRetries: 2, models: 1, hasSchema: false },
  judge: () => ({ kind: 'run', effect: 'none', needsApproval: false }),
}
/** What ends an agent because of earlier failures. */
const ends = (state: AgentState): string | null => {
  const turn = nextAction(state, TURN)
  if (turn.kind !== 'end' || turn.status !== 'failed') return null
  return turn.code === 'OUTPUT_INVALID' || turn.code === 'AGENT_REPORTED_FAILURE' ? null : turn.code
}

const RETRIED = { type: 'retried' } as const

export const retriedAgents = proof({
  name: 'agent-state-2: failures before a retry do not count against an agent, its spend does (14.1.3)',
  rules: { evolve: evolveAgent },
  prove: ({ evolve }) =>
    fc.assert(
      fc.property(fc.array(anyFact, { maxLength: 40 }), (facts) => {
        const before = facts.reduce(evolve, NEW_AGENT)
        const after = evolve(before, RETRIED)
        expect(ends(after)).toBeNull()
        expect([after.spent, after.pending]).toEqual([before.spent, before.pending])
      }),
      { ...CASES, numRuns: 2_000 },
    ),
  mutants: [
    {
      name: 'failures of a model before a retry count against the agent (14.1.3)',
      rules: {
        evolve: (state, fact) =>
          fact.type === 'retried'
            ? { ...evolveAgent(state, fact), failures: state.failures }
            : evolveAgent(state, fact),
      },
    },
    {
      name: 'turns, calls and time before a retry count against the agent (14.1.3)',
      rules: {
        evolve: (state, fact) =>
          fact.type === 'retried' ? { ...evolveAgent(state, fact), before: state.before } : evolveAgent(state, fact),
      },
    },
    {
      name: 'a retried agent forgets what it has spent (14.1.3)',
      rules: {
        evolve: (state, fact) =>
          fact.type === 'retried' ? { ...evolveAgent(state, fact), spent: NOTHING_SPENT } : evolveAgent(state, fact),
      },
    },
  ],
})

const TOOLS = ['Read', 'Mail', 'Pay', 'Search']
const someTools = fc.subarray(TOOLS)
const someMicros = fc.option(fc.nat(5_000))

const anAgent = fc
  .record({ allowedTools: someTools, maxTokens: fc.nat(9_000), maxCost: someMicros })
  .map(({ allowedTools, ...limits }) => {
    const models = { model: 'small', fallbackModels: [], allowedModels: [] }
    return { name: 'agent', ...models, allowedTools, limits } as unknown as AgentSpec
  })

const within = (one: number | null, bound: number | null): boolean => bound === null || (one !== null && one <= bound)

type HandoffRules = { readonly handOn: typeof handoffInput; readonly scope: typeof scopeOf }

/** A chain of agents, each of which hands off to the next: none has more permissions than the ones before. */
const handsOnNoMore = ({ handOn, scope }: HandoffRules): void =>
  fc.assert(
    fc.property(fc.array(anAgent, { minLength: 2, maxLength: 4 }), fc.boolean(), fc.nat(3), (agents, taint, usedBy) => {
      const [first, ...others] = agents as [AgentSpec, ...AgentSpec[]]
      let before: Scope = scope(first, { task: 'it' }, 'small', null)
      let [last, isTainted] = [first, taint]
      for (const next of others) {
        const tokens = Math.floor(before.allowance.tokens / (1 + usedBy))
        const allowance = { ...before.allowance, tokens }
        const call = { key: '0.0', tool: 'Handoff', input: { prompt: 'go on' } }
        const state = { ...NEW_AGENT, isTainted }
        const after = scope(next, handOn(last, before, { state, call, allowance, input: null }), 'small', null)
        expect(after.tools.filter((tool) => !before.tools.includes(tool))).toEqual([])
        expect(after.allowance.tokens).toBeLessThanOrEqual(tokens)
        expect(within(after.allowance.micros, allowance.micros)).toBe(true)
        expect(after.child?.tainted).toBe(isTainted)
        ;[before, last, isTainted] = [after, next, after.child?.tainted === true]
      }
    }),
    CASES,
  )

export const handOffs = proof<HandoffRules>({
  name: 'children-1: who is left the work has no more tools, tokens or money, and the same taint (14.5)',
  rules: { handOn: handoffInput, scope: scopeOf },
  prove: handsOnNoMore,
  mutants: [
    {
      name: 'a hand-off loses the taint (14.5)',
      rules: {
        handOn: (spec, scope, what) =>
          handoffInput(spec, scope, { ...what, state: { ...what.state, isTainted: false } }),
      },
    },
    {
      name: 'a hand-off loses the scope of tools (14.5)',
      rules: { handOn: (spec, scope, what) => handoffInput(spec, { ...scope, tools: TOOLS }, what) },
    },
    {
      name: 'a hand-off loses the budget (14.5)',
      rules: {
        handOn: (spec, scope, what) => handoffInput(spec, scope, { ...what, allowance: { tokens: 1e9, micros: null } }),
      },
    },
    {
      name: 'who is left the work does not look at what it was given (14.5)',
      rules: { scope: (spec, _, model, module) => scopeOf(spec, null, model, module) },
    },
  ],
})

const name = fc.constantFrom('ana', 'bo', 'cy')
const causes = fc.array(
  fc.record({ requesters: fc.array(name, { minLength: 1, maxLength: 2 }) }, { requiredKeys: [] }),
  {
    maxLength: 4,
  },
)

export const requesters = proof({
  name: 'requester-1: everybody behind a chain of causes is excluded, else whom the declared field names (14.5)',
  rules: { requestersIn, knownRequesters },
  prove: (rules) =>
    fc.assert(
      fc.property(causes, fc.option(name), (chain, declared) => {
        const all = [...new Set(chain.flatMap(({ requesters: some = [] }) => some))].sort()
        const found = rules.requestersIn(chain as Parameters<typeof requestersIn>[0])
        const known = rules.knownRequesters(found.requesters ?? [], declared)
        expect([...known].sort()).toEqual(all.length === 0 && declared !== null ? [declared] : all)
      }),
      CASES,
    ),
  mutants: [
    {
      name: 'of several causes only the first names its requester (14.5)',
      rules: { requestersIn: (chain) => requestersIn(chain.slice(0, 1)) },
    },
    {
      name: 'a declared field takes the place of whoever began the chain (14.5)',
      rules: { knownRequesters: (chain, declared) => (declared === null ? chain : [declared]) },
    },
    { name: 'the declared requester is not read (14.5)', rules: { knownRequesters: (chain) => chain } },
  ],
})
