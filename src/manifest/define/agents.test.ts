/** Agents as an author writes them: defaults, refusals, and the form that the engine receives. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { AgentSpec } from '#model/agent/agent.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { agent, agentHandler } from './agents.ts'
import { normalise, type SystemSource } from './define.ts'
import type { System } from './system.ts'

const digest = (text: string): string => String(text.length).padStart(16, text)
const systemOf = (source: Partial<SystemSource>): System => normalise({ name: 'test', ...source }, digest)
const codeOf = (source: Partial<SystemSource>): string => {
  try {
    systemOf(source)
    return 'none'
  } catch (error) {
    return error instanceof TrihandError ? error.code : String(error)
  }
}
const specOf = (system: System, name: string): AgentSpec => system.functions.get(name)?.code as AgentSpec

test('an agent is a handler whose modality is agent and whose code is its definition', () => {
  const system = systemOf({
    agents: [agent('matcher', { triggers: ['lead.enriched'], outputSchema: z.object({ fit: z.number() }) })],
  })
  expect(system.functions.get('matcher')).toMatchObject({ modality: 'agent', retry: { maxAttempts: 1 } })
  expect(system.listeners.get('lead.enriched')?.[0]?.handler.name).toBe('matcher')
  expect(specOf(system, 'matcher')).toMatchObject({
    prompt: ['agents/matcher/CLAUDE.md', 'agents/matcher.md'],
    permissionMode: 'default',
    taint: 'ask',
    limits: {
      maxTokens: 50_000,
      maxToolCalls: 50,
      timeoutMs: 300_000,
      maxRetries: 3,
      maxTurns: 50,
      maxCost: null,
      maxDepth: 4,
    },
    output: { type: 'object', required: ['fit'] },
  })
})

test('an agent inside another becomes its own handler with no more tools than its parent', () => {
  const system = systemOf({
    agents: [
      agent('composer', {
        allowedTools: ['Read', 'Task'],
        subagents: [{ name: 'researcher', tools: ['Read', 'WebFetch'] }, 'reviewer'],
      }),
    ],
  })
  expect(specOf(system, 'composer--researcher').allowedTools).toEqual(['Read'])
  expect(specOf(system, 'composer').subagents.map(({ handler }) => handler)).toEqual([
    'composer--researcher',
    'reviewer',
  ])
})

test('maxCostUsd is stored in whole micro-dollars', () => {
  const system = systemOf({ agents: [agent('a', { limits: { maxCostUsd: 0.05 } })] })
  expect(specOf(system, 'a').limits.maxCost).toBe(50_000)
})

test('a changed agent changes the hash of the system', () => {
  const hashOf = (instructions: string): string => {
    let text = ''
    normalise({ name: 'test', agents: [agent('a', { instructions })] }, (given) => {
      text = given
      return given
    })
    return text
  }
  expect(hashOf('be kind')).not.toBe(hashOf('be curt'))
})

const vendorOnly = { '~standard': { version: 1, vendor: 'plain', validate: (value: unknown) => ({ value }) } }
const run = (): null => null

test.each<[string, Partial<SystemSource>]>([
  ['MANIFEST_INVALID', { agents: [agent('Bad Name')] }],
  ['MANIFEST_INVALID', { agents: [agent('a', { limits: { maxTurns: 0 } })] }],
  ['MANIFEST_INVALID', { agents: [agent('a', { limits: { maxCostUsd: -1 } })] }],
  ['MANIFEST_INVALID', { agents: [agent('a', { allowedTools: ['no spaces'] })] }],
  ['MANIFEST_INVALID', { agents: [agent('a', { permissionMode: 'yolo' as 'default' })] }],
  ['MANIFEST_INVALID', { agents: [agent('a', { mcpServers: [{ name: 'crm' }] })] }],
  ['MANIFEST_INVALID', { agents: [agent('a', { contextIn: { static: [{ dest: 'x' }] } })] }],
  ['MANIFEST_INVALID', { agents: [agent('a', { outputSchema: 'text' })] }],
  ['MANIFEST_INVALID', { models: { aliases: { small: { id: '' } } } }],
  ['MANIFEST_INVALID', { models: { aliases: { small: null as never } } }],
  ['MANIFEST_INVALID', { models: { prices: { small: { input: -1, output: 1 } } } }],
  ['MANIFEST_INVALID', { tools: [{ name: '1st', effect: 'none', run }] }],
  ['MANIFEST_DUPLICATE_NAME', { agents: [agent('a'), agent('a')] }],
  ['EXPR_REJECTED', { agents: [agent('a', { escalationRules: [{ condition: 'agent.confidence <' }] })] }],
  ['SCHEMA_NOT_EXPORTABLE', { agents: [agent('a', { outputSchema: vendorOnly })] }],
  ['MODEL_NOT_ALLOWED', { agents: [agent('a', { allowedModels: ['haiku'], fallbackModels: ['opus'] })] }],
  ['TOOL_EFFECT_MISSING', { tools: [{ name: 'send', run } as never] }],
  [
    'TOOL_NAME_CLASH',
    {
      tools: [
        { name: 'mail.send', effect: 'once', run },
        { name: 'mail/send', effect: 'once', run },
      ],
    },
  ],
])('%s is reported at definition', (code, source) => {
  expect(codeOf(source)).toBe(code)
})

test('a row condition or an order that is not supported is refused at definition', () => {
  const reader = (given: { where?: string; orderBy?: string }) => () =>
    agentHandler(agent('reader', { contextIn: { fromDb: [{ table: 'leads', as: 'x', ...given }] } }))
  expect(reader({ where: 'name LIKE a' })).toThrow(expect.objectContaining({ code: 'CONDITION_UNSUPPORTED' }))
  expect(reader({ orderBy: 'name; drop' })).toThrow(expect.objectContaining({ code: 'CONDITION_UNSUPPORTED' }))
  expect(reader({ where: 'lead', orderBy: 'name desc' })).not.toThrow()
})
