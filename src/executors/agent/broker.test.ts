/** The broker against models that ask for more than they may: names, inputs, taint, permission modes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agent, agentHandler } from '#manifest/define/agents.ts'
import type { AgentSpec } from '#model/agent/agent.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Tool } from '#ports/tool.ts'
import { Broker } from './broker.ts'

const tool = (name: string, given: Partial<Tool> = {}): Tool => ({
  name,
  description: '',
  input: { type: 'object' },
  effect: 'once',
  run: () => null,
  ...given,
})
const TOOLS = new Map(
  [
    tool('Read', { effect: 'none' }),
    tool('Write', { effect: 'idempotent', approval: true }),
    tool('Bash', { effect: 'idempotent' }),
    tool('mail.send'),
    tool('post', { effect: 'idempotent', egress: true }),
    tool('refund', { approval: 'input.amount > 100' }),
    tool('mcp/crm/get', { effect: 'none' }),
  ].map((one) => [one.name, one]),
)

const specOf = (options: Parameters<typeof agent>[1]): AgentSpec => agentHandler(agent('a', options)).code
const brokerOf = (options: Parameters<typeof agent>[1]): Broker => {
  const spec = specOf(options)
  return new Broker(spec, spec.allowedTools, {
    tools: () => TOOLS,
    check: (_, input) => (input !== null && typeof input === 'object' ? [] : ['/: must be object']),
    ask: (rule, { input }) => {
      const amount = (input as { amount?: Json }).amount
      if (typeof amount !== 'number') return { kind: 'error', detail: `${rule}: no amount` }
      return { kind: 'value', value: amount > 100 }
    },
  })
}
const call = (name: string, input: Json = {}) => ({ key: '0.0', tool: name, input })
const CLEAN = { isTainted: false }
const TAINTED = { isTainted: true }

/** Names that look like an allowed one, or that every object has as a property. */
const VARIANTS = ['read', 'READ', 'Read ', ' Read', 'Rеad', 'Re\u200bad', 'Read\0', 'Read/', 'Read;Bash', 'mcp__Read']
const INHERITED = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf', 'prototype', '']
const OTHERS = [
  'Bash',
  'Write',
  'mail.send',
  'mail__send',
  'post',
  'mcp/crm/get',
  'mcp__crm__get',
  'Task',
  'AskHuman',
  'Handoff',
]

describe('[B2] broker-1: only named tools run', () => {
  const broker = brokerOf({ allowedTools: ['Read'] })

  test.each([...VARIANTS, ...INHERITED, ...OTHERS])('%j is refused', (name) => {
    expect(broker.judge(call(name), CLEAN)).toEqual({ kind: 'refuse' })
    expect(broker.refuses(name, {})?.code).toBe('TOOL_NOT_ALLOWED')
    expect(broker.find(name).kind).toBe('refused')
  })

  test('the allowed tool runs, and only it is offered', () => {
    expect(broker.judge(call('Read'), CLEAN)).toEqual({ kind: 'run', effect: 'none', needsApproval: false })
    expect(broker.offered().map(({ name }) => name)).toEqual(['Read'])
  })

  test('no other name runs, for any string', () => {
    const parts = fc.constantFrom('Read', 'Bash', '__', '.', '/', ' ', 'mcp', 'proto', 'e', 'R', '\u0430', '\0')
    const names = fc.array(parts, { maxLength: 5 }).map((list) => list.join(''))
    fc.assert(
      fc.property(fc.oneof(names, fc.string()), (name) => {
        fc.pre(name !== 'Read')
        expect(broker.find(name).kind).toBe('refused')
      }),
      { numRuns: 10_000 },
    )
  })

  test('an allowed tool that does not exist is refused', () => {
    expect(brokerOf({ allowedTools: ['Ghost'] }).refuses('Ghost', {})?.code).toBe('TOOL_NOT_ALLOWED')
  })
})

test('broker-3: an input that does not fit the schema is refused with the reason', () => {
  const broker = brokerOf({ allowedTools: ['Read'] })
  expect(broker.refuses('Read', 'text')).toEqual({ code: 'TOOL_INPUT_INVALID', message: '/: must be object' })
})

describe('approval', () => {
  const needs = (
    options: Parameters<typeof agent>[1],
    name: string,
    state = CLEAN,
    input: Json = {},
  ): boolean | null => {
    const judgement = brokerOf(options).judge(call(name, input), state)
    return judgement.kind === 'run' ? judgement.needsApproval : null
  }

  test('a tool that needs approval asks; acceptEdits exempts edits, bypassPermissions exempts all tools', () => {
    const allowedTools = ['Write', 'refund']
    expect(needs({ allowedTools }, 'Write')).toBe(true)
    expect(needs({ allowedTools, permissionMode: 'acceptEdits' }, 'Write')).toBe(false)
    expect(needs({ allowedTools, permissionMode: 'acceptEdits' }, 'refund', CLEAN, { amount: 200 })).toBe(true)
    expect(needs({ allowedTools, permissionMode: 'bypassPermissions' }, 'refund', CLEAN, { amount: 200 })).toBe(false)
  })

  test('a rule asks where it is true, and where it cannot be evaluated', () => {
    const allowedTools = ['refund']
    expect(needs({ allowedTools }, 'refund', CLEAN, { amount: 50 })).toBe(false)
    expect(needs({ allowedTools }, 'refund', CLEAN, { amount: 500 })).toBe(true)
    expect(needs({ allowedTools }, 'refund', CLEAN, {})).toBe(true)
  })

  test.each(['default', 'acceptEdits', 'bypassPermissions'] as const)(
    'broker-2: after untrusted input, irreversible or outgoing calls ask for approval in mode %s',
    (permissionMode) => {
      const options = { allowedTools: ['mail.send', 'post', 'Read', 'Bash'], permissionMode }
      expect(needs(options, 'mail.send', TAINTED)).toBe(true)
      expect(needs(options, 'post', TAINTED)).toBe(true)
      expect(needs(options, 'Read', TAINTED)).toBe(false)
      expect(needs({ ...options, taint: 'allow' }, 'mail.send', TAINTED)).toBe(false)
    },
  )
})
