/**
 * What every executor must do, whatever it performs: answer with a value, once, and stop when it is told to.
 *
 * An executor under test brings envelopes that make it succeed, fail, throw and hang.
 */
import { describe, expect, test } from 'vitest'
import type { Abort, Envelope, Executor } from '../ports/executor.ts'

export interface ExecutorUnderTest {
  readonly executor: Executor
  readonly succeeds: Envelope
  readonly fails: Envelope
  /** Works until its signal aborts. */
  readonly hangs: Envelope
  /** How often its work was really done so far. */
  readonly performed: () => number
}

const abortable = (): Abort & { readonly controller: AbortController } => {
  const controller = new AbortController()
  return { controller, signal: controller.signal }
}

export const executorSuite = (name: string, open: () => ExecutorUnderTest): void => {
  describe(`executor ${name}`, () => {
    test('executor-1: success is a value', async () => {
      const { executor, succeeds } = open()
      expect(await executor.execute(succeeds, abortable())).toMatchObject({ status: 'success' })
    })

    test('executor-1: failure is a value with a code and a message, and the work was tried once', async () => {
      const { executor, fails, performed } = open()
      const result = await executor.execute(fails, abortable())
      expect(result).toMatchObject({
        status: 'failed',
        error: { code: expect.any(String), message: expect.any(String) },
      })
      expect(performed()).toBe(1)
    })

    test('executor-2: two executions share nothing', async () => {
      const { executor, succeeds } = open()
      const [first, second] = await Promise.all([
        executor.execute(succeeds, abortable()),
        executor.execute(succeeds, abortable()),
      ])
      expect(first).toEqual(second)
    })

    test('executor-3: it answers soon after its signal aborts', async () => {
      const { executor, hangs } = open()
      const abort = abortable()
      const answer = executor.execute(hangs, abort)
      abort.controller.abort(new Error('enough'))
      expect((await answer).status).toBe('failed')
    })
  })
}
