/** The five built-in executor types as steps of a function, on a system that has a model and a tool. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { ExecuteOptions } from '#executors/workflow/step-api.ts'
import type { ModelRequest } from '#ports/model.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestExecutors } from '#testing/system.ts'

const TASKS: Readonly<Record<string, ExecuteOptions>> = {
  template: { type: 'template_engine', task: { template: 'Dear {{ name }}', input_variables: { name: 'Ana' } } },
  document: { type: 'document_processor', task: { documents: [{ media_type: 'text/csv', text: 'a,b\n1,2' }] } },
  class: { type: 'classifier', task: { text: 'money back!', rules: [{ label: 'refund', any_of: ['money back'] }] } },
  model: {
    type: 'llm',
    task: { task_type: 'greet', prompt: 'Greet Ana.' },
    constraints: { maxTokens: 50, temperature: 0, allowedModels: ['m'] },
  },
  tool: { type: 'tool_call', task: { tool: 'lookup', input: { id: 7 } } },
}

const SYSTEM = {
  name: 'built-in',
  functions: [
    fn<string>('work', { retry: { maxAttempts: 1 } }, ({ input, step }) =>
      step.execute(input, TASKS[input] as ExecuteOptions),
    ),
  ],
}

const hands = (seen: ModelRequest[]): TestExecutors => ({
  models: {
    model: {
      call: async (request) => {
        seen.push(request)
        return {
          kind: 'reply',
          parts: [{ type: 'text', text: 'Hello Ana' }],
          calls: [],
          finish: 'stop',
          usage: { input: 8, output: 3, cachedInput: 0, cacheWrites: 0, reasoning: 0 },
          modelUsed: 'm-20260101',
          responseId: null,
          warnings: [],
          simulated: true,
        }
      },
    },
    nameOf: (name) => ({ alias: name, provider: 'p', id: name }),
    check: () => [],
  },
  broker: { call: async ({ tool, input }) => ({ kind: 'done', output: { tool, input } }) },
  price: () => 11,
})

onEveryStore('built-in executors', (store) => {
  test('[E2] a step of each type is performed by its executor, and its result survives a crash', async () => {
    const seen: ModelRequest[] = []
    const system = await startTestSystem(SYSTEM, store(), hands(seen))
    const outputs: Record<string, unknown> = {}
    const runs = new Map<string, Awaited<ReturnType<typeof system.start>>>()
    for (const name of Object.keys(TASKS)) {
      const run = await system.start('work', name)
      runs.set(name, run)
      // The document reader runs in a thread of its own, so the test waits for its answer.
      outputs[name] = (await system.run(() => system.engine.result(run, { waitMs: 60_000 }))).output
    }
    expect(outputs).toMatchObject({
      template: { status: 'success', result: { content: 'Dear Ana' }, usage: { totalTokens: 0 } },
      document: { result: { content: 'a\tb\n1\t2' } },
      class: { result: { label: 'refund', by: 'rule' } },
      model: { result: { content: 'Hello Ana' }, modelUsed: 'm-20260101', usage: { totalTokens: 11, cost: 11 } },
      tool: { result: { content: { tool: 'lookup', input: { id: 7 } } } },
    })
    expect(seen).toMatchObject([{ purpose: 'task:greet', maxOutputTokens: 50, temperature: 0, model: { id: 'm' } }])
    await system.crash()
    await system.settle()
    for (const run of runs.values()) expect((await system.look(run)).status).toBe('success')
    expect(seen).toHaveLength(1)
    await system.close()
  })

  test('[E2] without a model and without tools the types that need them fail with a clear error', async () => {
    const system = await startTestSystem(SYSTEM, store())
    const outcome = async (name: string) => {
      const run = await system.start('work', name)
      await system.settle()
      return (await system.look(run)).error?.code
    }
    expect(await outcome('model')).toBe('MODEL_NOT_FOUND')
    expect(await outcome('tool')).toBe('EXECUTOR_UNKNOWN')
    await system.close()
  })
})
