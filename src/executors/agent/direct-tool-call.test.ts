/** Tools that a function calls: the same checks as for an agent, without a person to ask. */
import { expect, test } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { FinalError } from '#model/run/step-failure.ts'
import type { Tool } from '#ports/tool.ts'
import { callAlone, type ToolAnswer } from './direct-tool-call.ts'

const toolOf = (given: Partial<Tool>): Tool => ({
  name: 'crm.get',
  description: '',
  input: {},
  effect: 'none',
  run: (input) => ({ got: input }),
  ...given,
})

const call = (tool: Tool, input: Json = {}, name = 'crm.get'): Promise<ToolAnswer> =>
  callAlone({ tool: name, input, effectKey: 'k1' }, new AbortController().signal, new Map([[tool.name, tool]]), {
    check: (_, value) => (value === 'wrong' ? ['/: must be object'] : []),
    ask: () => ({ kind: 'value', value: true }),
    fetchFor: () => () => Promise.reject(new TrihandError('URL_BLOCKED', 'no host')),
  })

test('a tool of the system is called with the key of the step', async () => {
  const seen: string[] = []
  const tool = toolOf({ run: (_, { effectKey }) => seen.push(effectKey) })
  expect(await call(tool)).toEqual({ kind: 'done', output: 1 })
  expect(seen).toEqual(['k1'])
})

test.each<[string, Partial<Tool>, Json, string]>([
  ['TOOL_NOT_ALLOWED', {}, {}, 'constructor'],
  ['TOOL_INPUT_INVALID', {}, 'wrong', 'crm.get'],
  ['TOOL_NOT_ALLOWED', { approval: true }, {}, 'crm.get'],
  ['TOOL_NOT_ALLOWED', { approval: 'input.amount > 1' }, {}, 'crm.get'],
  ['TOOL_FAILED', { run: async (_, { workspace }) => String(await workspace.list()) }, {}, 'crm.get'],
  ['URL_BLOCKED', { run: async (_, { fetch }) => (await fetch('http://x')).text }, {}, 'crm.get'],
])('%s is an answer that definitely had no effect', async (code, tool, input, name) => {
  expect(await call(toolOf(tool), input, name)).toMatchObject({
    kind: 'failed',
    code,
    retryable: false,
    definite: true,
  })
})

test('after an exception it is unknown whether the call had an effect', async () => {
  const answer = await call(toolOf({ run: () => Promise.reject(new Error('connection reset')) }))
  expect(answer).toMatchObject({ kind: 'failed', code: 'TOOL_FAILED', message: 'connection reset', definite: false })
})

test('a FinalError is a failure that definitely had no effect', async () => {
  const answer = await call(toolOf({ run: () => Promise.reject(new FinalError('no such customer')) }))
  expect(answer).toMatchObject({ kind: 'failed', definite: true })
})
