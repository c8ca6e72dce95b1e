/** Any facts in any order: the fold and the turn give an answer, and messages stay well-formed. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyFact } from '#test/support/agents/agent-arbitrary.ts'
import { type MessageOptions, messagesOf } from './messages.ts'
import { type AgentFact, type AgentState, committed, evolveAgent, NEW_AGENT } from './state.ts'
import { nextAction, type TurnRules } from './turn.ts'

const RULES: TurnRules = {
  maxTurns: 4,
  maxToolCalls: 9,
  timeoutMs: 100,
  maxRetries: 2,
  models: 2,
  hasSchema: true,
  judge: ({ tool }) =>
    tool === 'Read'
      ? { kind: 'run', effect: 'none', needsApproval: false }
      : { kind: 'run', effect: 'once', needsApproval: true },
}
const OPTIONS: MessageOptions = {
  task: 'do it',
  provider: 'stub',
  wire: (tool) => tool,
  mark: (key) => `mark${key}`,
  digest: (text) => String(text.length),
  isShort: true,
}
const fold = (facts: readonly AgentFact[]): AgentState => facts.reduce(evolveAgent, NEW_AGENT)
const histories = fc.array(anyFact, { maxLength: 40 })

test('[B10] any facts in any order fold, and there is a next action', () => {
  fc.assert(
    fc.property(histories, (facts) => {
      expect(nextAction(fold(facts), RULES).kind).toMatch(/hydrate|model|tools|wait|close|end/)
    }),
    { numRuns: 5_000 },
  )
})

test('agent-state-1: a repeated fact changes neither the next action nor the messages', () => {
  fc.assert(
    fc.property(histories, fc.nat(39), (facts, at) => {
      const again = facts[at % Math.max(1, facts.length)]
      // An attempt that failed again is another attempt.
      fc.pre(again !== undefined && again.type !== 'call_failed')
      const [once, twice] = [fold(facts), evolveAgent(fold(facts), again as AgentFact)]
      expect(messagesOf(twice, OPTIONS)).toEqual(messagesOf(once, OPTIONS))
    }),
  )
})

test('messages-1: every call has exactly one result, in the message after it', () => {
  fc.assert(
    fc.property(histories, (facts) => {
      const messages = messagesOf(fold(facts), OPTIONS)
      for (const [at, { role, parts }] of messages.entries()) {
        expect(parts.length).toBeGreaterThan(0)
        const calls = parts.flatMap((part) => (part.type === 'call' ? [part.id] : []))
        if (role !== 'assistant' || calls.length === 0) continue
        const next = messages[at + 1]
        expect(next?.role).toBe('tool')
        expect(next?.parts.flatMap((part) => (part.type === 'result' ? [part.id] : []))).toEqual(calls)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('messages-2: content cannot close its own data block', () => {
  fc.assert(
    fc.property(histories, (facts) => {
      for (const { parts } of messagesOf(fold(facts), { ...OPTIONS, mark: () => 'ok' }))
        for (const part of parts) if (part.type === 'result') expect(String(part.output).split('ok').length).toBe(3)
    }),
  )
})

test('turn-1: calls that are ready or wait for a person have no result yet', () => {
  fc.assert(
    fc.property(histories, (facts) => {
      const state = fold([{ type: 'hydrated', files: [], untrusted: false, ms: 0 }, ...facts])
      const turn = nextAction(state, RULES)
      const calls = turn.kind === 'tools' ? turn.ready : turn.kind === 'wait' ? turn.calls : []
      for (const { key } of calls) expect(state.outcomes.has(key)).toBe(false)
    }),
    { numRuns: 2_000 },
  )
})

test('reservations count together with what is spent', () => {
  fc.assert(
    fc.property(histories, (facts) => {
      const state = fold(facts)
      const promised = [...state.pending.values()].reduce((sum, { tokens }) => sum + tokens, 0)
      expect(committed(state).tokens).toBe(state.spent.tokens + promised)
    }),
  )
})
