/** The executor of inline code, tested by the shared suite and by its error codes. */
import { expect, test } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import { FinalError, StepFailure } from '#model/run/step-failure.ts'
import type { Abort, Envelope } from '#ports/executor.ts'
import { executorSuite } from '#testing/executor-suite.ts'
import { inlineExecutor } from './inline.ts'

const envelope = (call: ((abort: Abort) => unknown) | null): Envelope => ({
  taskId: 'task',
  executorType: 'inline',
  task: { type: 'step', input: null, call },
  context: { run: 'run', step: 'step', attempt: 1, traceparent: null },
  constraints: { timeoutMs: 1_000 },
})

executorSuite('inline', () => {
  let performed = 0
  const untilAborted = ({ signal }: Abort): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  return {
    executor: inlineExecutor,
    succeeds: envelope(() => 42),
    fails: envelope(() => {
      performed++
      throw new Error('no')
    }),
    hangs: envelope(untilAborted),
    performed: () => performed,
  }
})

const run = (call: (() => unknown) | null) =>
  inlineExecutor.execute(envelope(call), { signal: new AbortController().signal })
const throws = (error: unknown) => () => {
  throw error
}

test('the type of the thrown error decides the code and whether it is retried', async () => {
  expect(await run(throws(new Error('plain')))).toMatchObject({
    error: { code: 'FUNCTION_FAILED', message: 'plain', retryable: true, definite: false },
  })
  expect(await run(throws('a string'))).toMatchObject({ error: { code: 'FUNCTION_FAILED', message: 'a string' } })
  expect(await run(throws(new FinalError('never')))).toMatchObject({ error: { retryable: false, definite: true } })
  expect(await run(throws(new StepFailure('s', { code: 'STEP_TIMEOUT', message: 'late' })))).toMatchObject({
    error: { code: 'STEP_TIMEOUT', retryable: false },
  })
  expect(await run(throws(new TrihandError('JSON_INVALID', 'odd')))).toMatchObject({
    error: { code: 'JSON_INVALID', message: 'odd', retryable: false },
  })
  expect(await run(null)).toMatchObject({ error: { code: 'FUNCTION_NOT_IMPLEMENTED', retryable: false } })
})

test('a very long message is cut', async () => {
  const result = await run(throws(new Error('x'.repeat(10_000))))
  expect(result.status === 'failed' && result.error.message.length).toBeLessThan(2_100)
})
