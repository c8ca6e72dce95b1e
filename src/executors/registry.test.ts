/** An executor type as its author declares it. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { normalise } from '#manifest/define/define.ts'
import type { Envelope, ExecutorResult } from '#ports/executor.ts'
import { executor } from './registry.ts'

const done = async (): Promise<ExecutorResult> => ({ status: 'success', result: 'done' })
const fax = executor('fax', { execute: done })

const envelope = (input: Envelope['task']['input']): Envelope => ({
  taskId: 't',
  executorType: 'fax',
  task: { type: 'send', input, call: null },
  context: { run: 'r', step: 's', attempt: 1, traceparent: null },
  constraints: { timeoutMs: 1_000 },
})

test('[E2] a type can have only one executor, and built-in types cannot be replaced', () => {
  const types = (...executors: readonly ReturnType<typeof executor>[]) => [
    ...normalise({ name: 's', executors }, (text) => text).executors.keys(),
  ]
  expect(types(fax, executor('post', { execute: done }))).toEqual(['fax', 'post'])
  expect(() => types(fax, fax)).toThrow('EXECUTOR_DUPLICATE')
  expect(() => types(executor('llm', { execute: done }))).toThrow('EXECUTOR_DUPLICATE')
  expect(() => types(executor('inline', { execute: done }))).toThrow('EXECUTOR_DUPLICATE')
  expect(() => types(executor('Fax Machine', { execute: done }))).toThrow('MANIFEST_INVALID')
})

test("[E2] a task that does not fit its executor's schema is never passed to it", async () => {
  const { performer } = executor('fax', { task: z.object({ to: z.string() }), execute: done })
  const abort = { signal: new AbortController().signal }
  expect(await performer.execute(envelope({ to: '+49' }), abort)).toMatchObject({ status: 'success' })
  expect(await performer.execute(envelope({ to: 49 }), abort)).toMatchObject({
    status: 'failed',
    error: { code: 'INPUT_INVALID', message: expect.stringContaining('/to'), retryable: false },
  })
})
