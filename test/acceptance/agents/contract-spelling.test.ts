/** The executor contract in its wire spelling, inside one process: envelope, constraints, context and result as they are over HTTP. */
import { expect, test } from 'vitest'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'
import { executor, fn } from '../../../src/index.ts'

const TASK = {
  task_type: 'generate_template',
  prompt: 'A supplier contract',
  input_variables: { supplier_name: 'ACME' },
}
const CONTEXT = {
  project_id: 1,
  conversation_snippet: [{ role: 'user', content: 'please' }],
  retrieved_documents: [{ title: 'Supplier Contract v2', snippet: '...' }],
}
const CONSTRAINTS = {
  max_tokens: 2000,
  temperature: 0.3,
  allowed_models: ['gpt-4.1', 'local-llm-v1'],
  timeout_ms: 30_000,
}
const USAGE = { tokens_input: 820, tokens_output: 1340, total_tokens: 2160, estimated_cost: 0.21 }

onEveryStore('the contract in one process', (store) => {
  /** The envelope that an executor with this answer receives, and the result of the run. */
  const play = async (answers: readonly unknown[], options: Record<string, unknown> = {}) => {
    const given: unknown[] = []
    const source = {
      name: 'writers',
      executors: [
        executor('writer', {
          execute: ({ task_id, executor_type, task, execution_context, constraints }) => {
            const { task_type, prompt, input_variables } = task
            const { max_tokens, temperature, allowed_models, timeout_ms } = constraints
            given.push({
              ...{ executor_type, task: { task_type, prompt, input_variables }, execution_context },
              ...{ hasId: task_id !== '', constraints: { max_tokens, temperature, allowed_models, timeout_ms } },
            })
            return answers[given.length - 1] as never
          },
        }),
      ],
      functions: [
        fn('work', {}, ({ step }) =>
          step.execute('write', {
            type: 'writer',
            task: TASK,
            execution_context: CONTEXT,
            constraints: CONSTRAINTS,
            ...options,
          }),
        ),
      ],
    }
    const system = await startTestSystem(source, store(), {})
    const run = await system.start('work')
    await system.advance('1h')
    const seen = await system.look(run)
    const [fact] = (await system.store.reader.facts(LOCAL_TENANT, run, { after: 0, limit: 100 })).filter(
      ({ type }) => type === 'step.completed',
    )
    await system.close()
    return { given, seen, fact: JSON.stringify(fact) }
  }

  test('[E1] an executor reads the envelope and answers in the spelling of the contract (15.1.6)', async () => {
    const answer = {
      status: 'success',
      result: { content: 'text', format: 'markdown' },
      usage: USAGE,
      model_used: 'gpt-4.1',
    }
    const { given, seen, fact } = await play([answer])
    expect(given).toEqual([
      {
        executor_type: 'writer',
        hasId: true,
        task: TASK,
        execution_context: expect.objectContaining(CONTEXT),
        constraints: CONSTRAINTS,
      },
    ])
    expect(seen).toMatchObject({ status: 'success', output: { status: 'success', modelUsed: 'gpt-4.1' } })
    expect(fact).toContain('gpt-4.1')
    expect(seen.output).toMatchObject({ usage: { tokensInput: 820, tokensOutput: 1340, totalTokens: 2160 } })
  })

  test('[E1] a failure in the spelling of the contract is retried, as over HTTP (15.1.6)', async () => {
    const failed = { status: 'failed', error: { code: 'MODEL_TIMEOUT', message: 'Execution exceeded 30s' } }
    const { given, seen } = await play([failed, { status: 'success', result: 1 }])
    expect([given.length, seen.status]).toEqual([2, 'success'])
  })

  test('[E1] a key that is not in the contract is refused in an answer, and in constraints before any executor is called (15.1.6)', async () => {
    const answer = { status: 'success', result: 1, model_used: 'gpt-4.1', tokens: 3 }
    const { seen } = await play(Array.from({ length: 9 }, () => answer))
    expect(seen).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('tokens is not a key') } })
    for (const constraints of [{ max_token: 5 }, { max_tokens: 5, maxTokens: 6 }]) {
      const refused = await play([{ status: 'success', result: 1 }], { constraints })
      expect(refused.given).toEqual([])
      expect(refused.seen).toMatchObject({ status: 'failed', error: { code: 'ENVELOPE_INVALID' } })
    }
  })
})

test('an unknown constraint of a function is refused at definition (15.1.6)', async () => {
  const { defineSystem } = await import('../../../src/index.ts')
  const define = (constraints: object) => () =>
    defineSystem({ name: 's', functions: [fn('f', { constraints }, () => 1)] })
  expect(define({ max_token: 3 })).toThrow(/functions\.f\.constraints\.max_token/)
  expect(define({ max_tokens: 3, allowed_models: ['m'], timeout_ms: 5 })).not.toThrow()
})
