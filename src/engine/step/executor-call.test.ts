/** One attempt of a task: its model, its limits, and what it carries over to the next attempt. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ExecutionResult } from '#engine/core/perform.ts'
import { NO_USAGE } from '#model/agent/usage.ts'
import type { Json } from '#model/kernel/json.ts'
import type { TaskRequest } from '#ports/step-port.ts'
import { ExecutorCall, type TaskSetting } from './executor-call.ts'

const request = (change: Partial<TaskRequest> = {}): TaskRequest => ({
  step: 'draft',
  effect: 'idempotent',
  retry: { maxAttempts: 2, baseMs: 10, factor: 2, maxMs: 100 },
  executorType: 'llm',
  task: { type: 'write', input: { prompt: 'x' } },
  context: {},
  constraints: { timeoutMs: 30_000 },
  models: ['a', 'b'],
  onPartial: 'continue',
  ...change,
})

const setting: TaskSetting = { run: 'r', taskId: 't', effectKey: 'k', traceparent: null, limits: {} }

const paid = (tokens: number) => ({
  usage: { ...NO_USAGE, tokensInput: tokens, totalTokens: tokens, cost: tokens },
  modelUsed: null,
})
const failed = (tokens: number): ExecutionResult => ({
  kind: 'failed',
  failure: { code: 'MODEL_UNAVAILABLE', message: 'm' },
  retryable: true,
  definite: false,
  paid: paid(tokens),
  retryAfterMs: null,
})
const done = (status: 'success' | 'partial', tokens: number): ExecutionResult => ({
  kind: 'done',
  status,
  result: 'r',
  paid: paid(tokens),
  resumeToken: 'here',
})

test('[E5] task-attempt-2: the stricter of two constraints applies, and an empty intersection of models allows none', () => {
  const limits = { timeoutMs: 5_000, maxTokens: 10, allowedModels: ['b', 'c'] }
  const strict = new ExecutorCall(request(), 1, null, { ...setting, limits })
  expect(strict.envelope.constraints).toEqual({ timeoutMs: 5_000, maxTokens: 10, allowedModels: ['b', 'c'] })
  expect(() => strict.check()).toThrow('MODEL_NOT_ALLOWED')
  const constraints = { timeoutMs: 30_000, allowedModels: ['a'] }
  const none = new ExecutorCall(request({ models: [], constraints }), 1, null, { ...setting, limits })
  expect(() => none.check()).toThrow('MODEL_NOT_ALLOWED')
})

/** Plays attempts until the task has settled; returns the last verdict, the usage, and the model that each attempt asked. */
const play = (task: TaskRequest, outcomes: readonly ExecutionResult[]) => {
  let carry: Json | null = null
  const asked: unknown[] = []
  for (const [i, performed] of outcomes.entries()) {
    const attempt = new ExecutorCall(task, i + 1, carry, setting)
    asked.push((attempt.envelope.task.input as { model?: string }).model)
    const verdict = attempt.judge(performed)
    if (verdict.kind === 'done') return { asked, last: verdict, spent: verdict.outcome.usage.totalTokens }
    carry = JSON.parse(JSON.stringify(verdict.carry)) as Json
    const spent = (carry as unknown as { spent: { totalTokens: number } }).spent.totalTokens
    if (!verdict.retryable || i + 1 >= verdict.retry.maxAttempts) return { asked, last: verdict, spent }
  }
  return { asked, last: null, spent: null }
}

test('[E7] each model gets its attempts before the next model is tried; after the last model the step fails', () => {
  const { asked, last } = play(request(), [1, 1, 1, 1, 1].map(failed))
  expect(asked).toEqual(['a', 'a', 'b', 'b'])
  expect(last).toMatchObject({ kind: 'failed', retryable: false })
})

test('[E4] task-attempt-1: the usage is the sum over all attempts, whatever their result', () => {
  const outcome = fc.tuple(fc.constantFrom('failed', 'partial', 'success'), fc.nat(100))
  fc.assert(
    fc.property(fc.array(outcome, { minLength: 1, maxLength: 8 }), (story) => {
      const outcomes = story.map(([how, tokens]) =>
        how === 'failed' ? failed(tokens) : done(how as 'partial' | 'success', tokens),
      )
      const { asked, last, spent } = play(request(), outcomes)
      if (last === null) return
      const played = story.slice(0, asked.length).reduce((sum, [, tokens]) => sum + tokens, 0)
      expect(spent).toBe(played)
    }),
  )
})
