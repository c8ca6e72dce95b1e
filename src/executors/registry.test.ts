/** Types and their executors. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Envelope, ExecutorResult } from '../ports/executor.ts'
import { registry } from './registry.ts'

const done = async (): Promise<ExecutorResult> => ({ status: 'success', result: 'done' })

const envelope = (input: Envelope['task']['input']): Envelope => ({
  taskId: 't',
  executorType: 'fax',
  task: { type: 'send', input, call: null },
  context: { run: 'r', step: 's', attempt: 1, traceparent: null },
  constraints: { timeoutMs: 1_000 },
})

test('[E2] registry-1: a type has one executor', () => {
  expect([...registry({ fax: { execute: done }, post: { execute: done } }).keys()]).toEqual(['fax', 'post'])
  expect(() => registry({ fax: { execute: done } }, { fax: { execute: done } })).toThrow('EXECUTOR_DUPLICATE')
  expect(() => registry({ 'Fax Machine': { execute: done } })).toThrow('MANIFEST_INVALID')
})

test('[E2] a task that does not fit what its executor declares is never handed over', async () => {
  const task = z.object({ to: z.string() })
  const executor = registry({ fax: { task, execute: done } }).get('fax')
  const abort = { signal: new AbortController().signal }
  expect(await executor?.execute(envelope({ to: '+49' }), abort)).toMatchObject({ status: 'success' })
  expect(await executor?.execute(envelope({ to: 49 }), abort)).toMatchObject({
    status: 'failed',
    error: { code: 'INPUT_INVALID', message: expect.stringContaining('/to'), retryable: false },
  })
})
