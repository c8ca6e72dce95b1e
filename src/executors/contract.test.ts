/** The contract on the wire: the agreed messages, what is refused, and that nothing is lost in transit. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Json, toJson } from '#model/kernel/json.ts'
import { ENVELOPE, FAILURE, SUCCESS } from '#test/support/stories/contract-seed.ts'
import { readEnvelope, readResult, writeEnvelope, writeResult } from './contract.ts'

type Members = { readonly [key: string]: Json }
const envelope = JSON.parse(ENVELOPE) as { readonly [key: string]: Members }
const success = JSON.parse(SUCCESS) as Members

/** Some keys have a meaning to JavaScript and are refused as data everywhere. */
const isStorable = (value: unknown): boolean => {
  try {
    toJson(value)
    return true
  } catch {
    return false
  }
}

describe('envelope', () => {
  test('[E1] the agreed messages are read, and written back byte for byte', () => {
    const read = readEnvelope(envelope)
    expect(read).toMatchObject({
      executorType: 'llm',
      task: { type: 'generate_template', input: { input_variables: { supplier_name: 'ACME Ltd' } }, call: null },
      context: { attempt: 1, projectId: 1, documents: [{ title: 'Supplier Contract v2', snippet: '...' }] },
      constraints: { maxTokens: 2000, temperature: 0.3, allowedModels: ['gpt-4.1', 'local-llm-v1'], timeoutMs: 30000 },
    })
    expect(JSON.stringify(writeEnvelope(read))).toBe(JSON.stringify(envelope))
  })

  const broken: readonly (readonly [string, Json])[] = [
    ['task_ids', { ...envelope, task_ids: 'x' }],
    ['task_id', { ...envelope, task_id: '' }],
    ['task_id', { ...envelope, task_id: 'a\u0000b' }],
    ['executor_type', { ...envelope, executor_type: 'No Type' }],
    ['task', { ...envelope, task: [] }],
    ['task.task_type', { ...envelope, task: { prompt: 'x' } }],
    ['execution_context.memory', { ...envelope, execution_context: { memory: [] } }],
    ['execution_context.attempt', { ...envelope, execution_context: { attempt: 0 } }],
    ['execution_context.project_id', { ...envelope, execution_context: { project_id: true } }],
    ['execution_context.conversation_snippet', { ...envelope, execution_context: { conversation_snippet: {} } }],
    [
      'execution_context.conversation_snippet.0.text',
      { ...envelope, execution_context: { conversation_snippet: [{ role: 'user', text: 'x' }] } },
    ],
    ['execution_context.retrieved_documents.0', { ...envelope, execution_context: { retrieved_documents: ['x'] } }],
    ['constraints.max_token', { ...envelope, constraints: { max_token: 1 } }],
    ['constraints.max_tokens', { ...envelope, constraints: { max_tokens: 0.5 } }],
    ['constraints.temperature', { ...envelope, constraints: { temperature: 9 } }],
    ['constraints.allowed_models.0', { ...envelope, constraints: { allowed_models: [1] } }],
    ['constraints.timeout_ms', { ...envelope, constraints: { timeout_ms: '30s' } }],
    ['contract', { ...envelope, contract: '2.0' }],
    ['', [envelope]],
    ['', null],
  ]
  test.each(broken)('[E1] %s is refused with its path', (path, wire) => {
    const read = (): unknown => readEnvelope(wire)
    expect(read).toThrow(expect.objectContaining({ code: 'ENVELOPE_INVALID', place: { path } }))
  })

  test('[E1] the version may be given; input that is not JSON is refused', () => {
    expect(readEnvelope({ ...envelope, contract: '1' })).toEqual(readEnvelope(envelope))
    expect(() => readEnvelope({ ...envelope, task: { task_type: 'x', at: new Date(0) } })).toThrow('ENVELOPE_INVALID')
  })

  test('contract-1: attempt, key and token of a later attempt survive the round trip', () => {
    const later = { ...readEnvelope(envelope), taskId: 'b' }
    const context = { ...later.context, attempt: 3, effectKey: 'th1_x', resumeToken: 'page 7' }
    expect(readEnvelope(writeEnvelope({ ...later, context }))).toEqual({ ...later, context })
  })
})

describe('result', () => {
  test('[E1][E4] the agreed messages are read, and written back byte for byte', () => {
    expect(readResult(success)).toEqual({
      status: 'success',
      result: { content: 'Here is the supplier contract template...', format: 'markdown' },
      usage: { tokensInput: 820, tokensOutput: 1340, totalTokens: 2160, estimatedCost: 0.21 },
      modelUsed: 'gpt-4.1',
    })
    for (const block of [success, JSON.parse(FAILURE) as Json])
      expect(JSON.stringify(writeResult(readResult(block)))).toBe(JSON.stringify(block))
  })

  test('[E6] a failure keeps its code; the error table decides whether it is retried', () => {
    const failed = (code: string): unknown => readResult({ status: 'failed', error: { code, message: 'm' } })
    expect(readResult(JSON.parse(FAILURE))).toMatchObject({
      status: 'failed',
      error: { code: 'MODEL_TIMEOUT', message: 'Execution exceeded 30s', retryable: true },
    })
    expect(failed('MODEL_REJECTED')).toMatchObject({ error: { retryable: false } })
    expect(failed('OUT_OF_PAPER')).toMatchObject({ error: { code: 'OUT_OF_PAPER', retryable: true } })
  })

  test.each([
    { ...success, status: 'done' },
    { status: 'success' },
    { status: 'partial', usage: success['usage'] },
    { status: 'failed' },
    { status: 'failed', error: { code: 'X' } },
    { ...success, error: { code: 'X', message: 'y' } },
    { ...success, usage: { tokens_input: -1, tokens_output: 0, total_tokens: 0 } },
    { ...success, tokens: 5 },
    'yes',
    undefined,
  ])('contract-2: %j is not a result', (wire) => {
    expect(readResult(wire)).toMatchObject({ status: 'failed', error: { code: 'EXECUTOR_FAILED' } })
  })

  test('[E6] no message from the wire makes it throw', () => {
    fc.assert(
      fc.property(fc.anything(), (wire) => {
        expect(['success', 'partial', 'failed']).toContain(readResult(wire).status)
      }),
      { numRuns: 1_000 },
    )
  })

  test('contract-1: any result that is written is read back as the same value', () => {
    const usage = fc.record({
      tokensInput: fc.nat(),
      tokensOutput: fc.nat(),
      totalTokens: fc.nat(),
      estimatedCost: fc.option(fc.double({ min: 0, max: 1_000, noNaN: true, noDefaultInfinity: true })),
    })
    const result = fc.record(
      {
        status: fc.constantFrom('success', 'partial'),
        result: fc.jsonValue().filter(isStorable),
        usage,
        modelUsed: fc.constant('m'),
      },
      { requiredKeys: ['status', 'result'] },
    )
    fc.assert(
      fc.property(result, (answer) => {
        const plain = JSON.parse(JSON.stringify(answer)) as never
        expect(JSON.parse(JSON.stringify(readResult(writeResult(plain))))).toEqual(plain)
      }),
    )
  })
})
