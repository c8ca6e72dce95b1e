/** One executor call: its result, its timeout, its abort, and executors that misbehave. */
import { expect, test } from 'vitest'
import { createRedaction } from '#model/kernel/redaction.ts'
import type { Envelope, Executor } from '#ports/executor.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { Deadlines } from './deadlines.ts'
import { type ExecutionResult, toPerform } from './perform.ts'

const envelope = (executorType = 'it'): Envelope => ({
  taskId: 'task',
  executorType,
  task: { type: 'step', input: null, call: null },
  context: { run: 'run', step: 'step', attempt: 1, traceparent: null },
  constraints: { timeoutMs: 1_000 },
})

const start = (execute: Executor['execute'], type = 'it') => {
  const clock = new VirtualClock()
  const deps = {
    clock,
    deadlines: new Deadlines(clock),
    executors: new Map([['it', { execute }]]),
    price: () => null,
    redaction: createRedaction([]),
  }
  let done: (performed: ExecutionResult) => void = () => {}
  const outcome = new Promise<ExecutionResult>((resolve) => {
    done = resolve
  })
  const execution = toPerform(deps, envelope(type), { performed: (performed) => done(performed) })
  execution.begin()
  return { clock, execution, outcome }
}

test('a result is passed on, and its timeout is forgotten', async () => {
  const { clock, outcome } = start(async () => ({ status: 'partial', result: 7 }))
  expect(await outcome).toMatchObject({ kind: 'done', status: 'partial', result: 7 })
  await clock.advance(5_000)
})

test('an executor that answers synchronously settles at once, whether with a result or by throwing', async () => {
  const { outcome } = start(() => ({ status: 'success', result: 7 }))
  expect(await outcome).toMatchObject({ kind: 'done', result: 7 })
  const throwing = start(() => {
    throw new Error('raw')
  })
  expect(await throwing.outcome).toMatchObject({ failure: { code: 'EXECUTOR_THREW', message: 'Error: raw' } })
  const nothing = start(() => null as never)
  expect(await nothing.outcome).toMatchObject({ failure: { code: 'EXECUTOR_FAILED' } })
})

test('a known error code is kept, an unknown one becomes text of the message', async () => {
  const failing = (code: string) =>
    start(async () => ({ status: 'failed', error: { code, message: 'm', retryable: true, definite: false } }))
  expect(await failing('STEP_TIMEOUT').outcome).toMatchObject({ failure: { code: 'STEP_TIMEOUT', message: 'm' } })
  expect(await failing('THEIR_CODE').outcome).toMatchObject({
    failure: { code: 'EXECUTOR_FAILED', message: 'THEIR_CODE: m' },
  })
})

test('an executor that throws, and one that is not registered, give a failure', async () => {
  const throwing = start(() => Promise.reject(new Error('raw')))
  expect(await throwing.outcome).toMatchObject({ failure: { code: 'EXECUTOR_THREW' } })
  const missing = start(async () => ({ status: 'success', result: 1 }), 'nobody')
  expect(await missing.outcome).toMatchObject({
    failure: { code: 'EXECUTOR_UNKNOWN' },
    retryable: false,
    definite: true,
  })
})

test('an executor that ignores its signal does not hold the run beyond the timeout', async () => {
  let aborted = false
  const { clock, outcome } = start((_, abort) => {
    abort.signal.addEventListener('abort', () => {
      aborted = true
    })
    return new Promise(() => {})
  })
  await clock.advance(1_000)
  expect(await outcome).toMatchObject({ failure: { code: 'STEP_TIMEOUT' }, retryable: true })
  expect(aborted).toBe(true)
})

test('a signal that is first read after the abort is already aborted', async () => {
  let look: () => boolean = () => false
  const { execution, outcome } = start((_, abort) => {
    look = () => abort.signal.aborted
    return new Promise(() => {})
  })
  execution.abort({ code: 'RUN_CANCELLED', message: 'stop' })
  expect(await outcome).toMatchObject({ failure: { code: 'RUN_CANCELLED' } })
  expect(look()).toBe(true)
})
