/** Tasks for executors: the contract end to end, and everything that the engine does so that executors need not. */
import { expect, test } from 'vitest'
import { readEnvelope, writeEnvelope } from '#executors/contract.ts'
import { executor } from '#executors/registry.ts'
import { fn } from '#executors/workflow/function.ts'
import type { ExecuteOptions } from '#executors/workflow/step-api.ts'
import type { ConstraintsSource } from '#model/flow/policies/constraints.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Envelope, Executor, ExecutorResult } from '#ports/executor.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const failed = (code: string, retryable = true): ExecutorResult => ({
  status: 'failed',
  error: { code, message: 'as told', retryable, definite: false },
})

/** A system with one executor of type `robot` and one function that gives it one task. */
const withRobot = (
  execute: Executor['execute'],
  options: Partial<ExecuteOptions> = {},
  constraints: ConstraintsSource = {},
) => ({
  name: 'robots',
  events: { 'robot.done': null },
  executors: [executor('robot', { execute })],
  functions: [
    fn('work', { constraints }, ({ step }) =>
      step.execute('task', { type: 'robot', task: { task_type: 'weld', part: 7 }, ...options }),
    ),
    fn('hear', { trigger: 'robot.done' }, ({ input }) => input),
  ],
})

const answering = (result: ExecutorResult, seen: Envelope[] = []): Executor['execute'] => {
  return async (envelope) => {
    seen.push(envelope)
    return result
  }
}

onEveryStore('executors', (store) => {
  const play = async (source: ReturnType<typeof withRobot>, hands: Parameters<typeof startTestSystem>[2] = {}) => {
    const system = await startTestSystem(source, store(), hands)
    const run = await system.start('work')
    await system.advance('1h')
    const facts = await system.store.reader.facts(LOCAL_TENANT, run, { after: 0, limit: 100 })
    return {
      system,
      run,
      seen: await system.look(run),
      facts: facts.map(({ type, body }) => ({ type, ...JSON.parse(body) })),
    }
  }

  test('[E1][E2][E8] a step is data for the executor of its type: the envelope can be serialised, the result is recorded', async () => {
    const seen: Envelope[] = []
    const {
      system,
      run,
      seen: look,
    } = await play(
      withRobot(answering({ status: 'success', result: { content: 'welded', format: 'text' } }, seen), {
        context: { projectId: 1, documents: [{ title: 'Manual', snippet: 'weld it' }] },
        constraints: { maxTokens: 10, timeout: '5s' },
      }),
    )
    expect(look).toMatchObject({
      status: 'success',
      output: { status: 'success', result: { content: 'welded' }, usage: { totalTokens: 0, cost: 0 }, modelUsed: null },
    })
    const [envelope] = seen as [Envelope]
    expect(envelope).toMatchObject({
      executorType: 'robot',
      task: { type: 'weld', input: { part: 7 } },
      constraints: { maxTokens: 10, timeoutMs: 5_000 },
    })
    const { context, ...wire } = readEnvelope(JSON.parse(JSON.stringify(writeEnvelope(envelope))))
    expect({ ...envelope, context: null }).toEqual({ ...wire, context: null })
    expect(context).toMatchObject({ projectId: 1, attempt: 1, effectKey: envelope.context.effectKey })
    await system.crash()
    await system.settle()
    expect((await system.look(run)).status).toBe('success')
    expect(seen).toHaveLength(1)
    await system.close()
  })

  test('[E2] a type without an executor fails the step at once', async () => {
    const { system, seen } = await play(withRobot(answering(failed('X')), { type: 'wizard' }))
    expect(seen).toMatchObject({ status: 'failed', error: { code: 'EXECUTOR_UNKNOWN' } })
    await system.close()
  })

  test('[E6][E7] only the engine retries an executor: same task, next attempt', async () => {
    const attempts: (readonly [string, number])[] = []
    const { system, seen } = await play(
      withRobot((envelope) => {
        attempts.push([envelope.taskId, envelope.context.attempt])
        if (attempts.length === 1) throw new Error('raw')
        if (attempts.length === 2) return Promise.reject(new Error('raw again'))
        if (attempts.length === 3) return Promise.resolve({ nonsense: true } as never)
        return Promise.resolve({ status: 'success', result: 'at last' })
      }),
    )
    expect(seen).toMatchObject({ status: 'success', output: { result: 'at last' } })
    expect(attempts.map(([, attempt]) => attempt)).toEqual([1, 2, 3, 4])
    expect(new Set(attempts.map(([id]) => id)).size).toBe(1)
    await system.close()
  })

  test('[E7] the next model is tried when one was given up, and both are in the facts', async () => {
    const asked: unknown[] = []
    const { system, seen, facts } = await play(
      withRobot(
        async ({ task }) => {
          const { model } = task.input as { model: string }
          asked.push(model)
          return model === 'small' ? failed('MODEL_UNAVAILABLE') : { status: 'success', result: 'ok', modelUsed: model }
        },
        { constraints: { allowedModels: ['small', 'large'] }, retry: { maxAttempts: 2 } },
      ),
    )
    expect(asked).toEqual(['small', 'small', 'large'])
    expect(seen).toMatchObject({ status: 'success', output: { modelUsed: 'large' } })
    expect(facts.filter(({ type }) => type === 'step.retry_scheduled').map(({ carry }) => carry.model)).toEqual([0, 1])
    await system.close()
  })

  test('[E5] constraints are enforced outside of the executor: models, time, and the stricter of two lists', async () => {
    const seen: Envelope[] = []
    const cheat = answering({ status: 'success', result: 'ok', modelUsed: 'giant' }, seen)
    const outside = await play(withRobot(cheat, { constraints: { allowedModels: ['small'] } }))
    expect(outside.seen).toMatchObject({ status: 'failed', error: { code: 'MODEL_NOT_ALLOWED' } })
    await outside.system.close()
    const refused = await play(withRobot(cheat, { models: ['giant'], constraints: { allowedModels: ['small'] } }))
    expect(refused.seen).toMatchObject({ status: 'failed', error: { code: 'MODEL_NOT_ALLOWED' } })
    expect(seen).toHaveLength(1)
    await refused.system.close()
    const strict = { timeout: '2s', maxTokens: 100, temperature: 0.2, allowedModels: ['a', 'b'] }
    const suggested = { timeout: '1m', maxTokens: 500, temperature: 0.9, allowedModels: ['b', 'c'] }
    const both = await play(
      withRobot(answering({ status: 'success', result: 1 }, seen), { constraints: suggested }, strict),
    )
    expect(seen[1]?.constraints).toEqual({ timeoutMs: 2_000, maxTokens: 100, temperature: 0.2, allowedModels: ['b'] })
    await both.system.close()
    const slow = await play(
      withRobot(() => new Promise(() => {}), { constraints: { timeout: '3s' }, retry: { maxAttempts: 1 } }),
    )
    expect(slow.seen).toMatchObject({ status: 'failed', error: { code: 'STEP_TIMEOUT' } })
    await slow.system.close()
  })

  test('[E3] a partial result is accepted, refused, or continued with its token, also across a crash', async () => {
    const tokens: (string | undefined)[] = []
    const partly: Executor['execute'] = async ({ context }) => {
      tokens.push(context.resumeToken)
      const page = Number(context.resumeToken ?? 0) + 1
      return page < 3
        ? { status: 'partial', result: { pages: page }, resumeToken: String(page) }
        : { status: 'success', result: { pages: page } }
    }
    const taken = await play(withRobot(partly))
    expect(taken.seen).toMatchObject({ status: 'success', output: { status: 'partial', result: { pages: 1 } } })
    await taken.system.close()
    const refused = await play(withRobot(partly, { onPartial: 'fail' }))
    expect(refused.seen).toMatchObject({ status: 'failed', error: { code: 'STEP_PARTIAL' } })
    await refused.system.close()
    tokens.length = 0
    const system = await startTestSystem(withRobot(partly, { onPartial: 'continue' }), store())
    const run = await system.start('work')
    await system.crash()
    await system.advance('1h')
    expect(await system.look(run)).toMatchObject({ output: { status: 'success', result: { pages: 3 } } })
    expect(tokens.filter((token) => token !== undefined)).toEqual(['1', '2'])
    await system.close()
    const stuck = await play(
      withRobot(answering({ status: 'partial', result: 'half', resumeToken: 'x' }), {
        onPartial: 'continue',
        retry: { maxAttempts: 3 },
      }),
    )
    expect(stuck.seen).toMatchObject({ status: 'success', output: { status: 'partial', result: 'half' } })
    await stuck.system.close()
  })

  test('[E4][E9] usage, cost and model are recorded as verified; a false report is disputed and our figure counts', async () => {
    const price = (_: string, { input, output }: { readonly input: number; readonly output: number }) =>
      input + 2 * output
    const told = (usage: object): ExecutorResult => ({
      status: 'success',
      result: { content: 'x'.repeat(400) },
      modelUsed: 'm',
      usage: { tokensInput: 10, tokensOutput: 100, totalTokens: 110, estimatedCost: null, ...usage },
    })
    const honest = await play(withRobot(answering(told({ estimatedCost: 0.00021 }))), { price })
    expect(honest.seen.output).toMatchObject({ usage: { cost: 210, totalTokens: 110 }, usageDisputed: false })
    await honest.system.close()
    const lies = [
      [{ totalTokens: 5 }, 'total_mismatch', { totalTokens: 110 }],
      [{ tokensOutput: 900, totalTokens: 910 }, 'over_max_tokens', { tokensOutput: 200 }],
      [{ tokensOutput: 0, totalTokens: 10 }, 'too_few_tokens', { tokensOutput: 100 }],
      [{ estimatedCost: 9 }, 'cost_mismatch', { cost: 210 }],
    ] as const
    for (const [lie, finding, counts] of lies) {
      const { system, seen } = await play(withRobot(answering(told(lie)), { constraints: { maxTokens: 200 } }), {
        price,
      })
      expect(seen.output).toMatchObject({ usageDisputed: true, usage: { findings: [finding], ...counts } })
      await system.close()
    }
  })

  test('[E4] the usage of failed attempts is added up', async () => {
    let attempts = 0
    const usage = { tokensInput: 10, tokensOutput: 0, totalTokens: 10, estimatedCost: null }
    const { system, seen, facts } = await play(
      withRobot(async () => {
        attempts++
        return attempts < 3
          ? { ...failed('MODEL_TIMEOUT'), usage, modelUsed: 'm' }
          : { status: 'success', result: '', usage, modelUsed: 'm' }
      }),
    )
    expect(seen.output).toMatchObject({ usage: { tokensInput: 30 } })
    expect(facts.filter(({ type }) => type === 'step.retry_scheduled').at(-1)?.carry.spent.tokensInput).toBe(20)
    await system.close()
  })

  test('[E8] writes and events of an executor are committed with its result, in one commit, and never alone', async () => {
    const { system } = await play(
      withRobot(
        answering({
          status: 'success',
          result: {
            content: 'ok',
            db_writes: [{ table: 'part', key: '7', value: { welded: true } }],
            emitted_events: [{ type: 'robot.done', data: { part: 7 } }],
          },
        }),
      ),
    )
    expect(await system.store.reader.document(LOCAL_TENANT, 'part', '7')).toEqual({ welded: true })
    const runs = await system.store.reader.runs({
      tenant: LOCAL_TENANT,
      status: null,
      handler: 'hear',
      before: null,
      limit: 5,
    })
    expect(runs).toHaveLength(1)
    await system.close()
    const bad = await play(withRobot(answering({ status: 'success', result: { db_writes: 'all of it' } })))
    expect(bad.seen).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_INVALID' } })
    await bad.system.close()
  })

  test('[E3] an effect that happens at most once is not retried after a partial result', async () => {
    let calls = 0
    const { system, seen } = await play(
      withRobot(
        async () => {
          calls++
          return failed('EXECUTOR_FAILED')
        },
        { effect: 'once' },
      ),
    )
    expect(seen.status).toBe('waiting')
    expect(calls).toBe(1)
    await system.close()
  })
})
