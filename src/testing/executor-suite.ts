/**
 * The conformance suite for every executor: it answers with a value, once, and stops when its signal aborts.
 *
 * An executor under test provides envelopes that make it succeed, fail and hang. Its task is then mutated in a thousand ways: no
 * task may make it throw.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import type { Abort, Envelope, Executor, ExecutorResult } from '#ports/executor.ts'

export interface ExecutorUnderTest {
  readonly executor: Executor
  readonly succeeds: Envelope
  readonly fails: Envelope
  /** Works until its signal aborts. Absent: it cannot hang. */
  readonly hangs?: Envelope
  /** How often its work was really done so far. Absent: this cannot be counted. */
  readonly performed?: () => number
}

export interface ExecutorSuiteOptions {
  /** The number of mutated tasks. */
  readonly tasks?: number
}

const abortable = (): Abort & { readonly controller: AbortController } => {
  const controller = new AbortController()
  return { controller, signal: controller.signal }
}

/** The three kinds of answers, each with its required members. */
const expectAnswer = (result: ExecutorResult): void => {
  if (result.status !== 'failed') {
    expect(['success', 'partial']).toContain(result.status)
    expect(result).toHaveProperty('result')
    return
  }
  expect(result.error.code).toMatch(/^[A-Z][A-Z0-9_]*$/)
  expect(typeof result.error.message).toBe('string')
}

/** The task with some of its members replaced, removed or invented. */
const bentTask = (input: Json): fc.Arbitrary<Json> => {
  const members = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {}
  const keys = Object.keys(members)
  const key = keys.length === 0 ? fc.string() : fc.oneof(fc.constantFrom(...keys), fc.string())
  const value = fc.oneof(fc.jsonValue() as fc.Arbitrary<Json>, fc.constantFrom<Json>('', [], {}, null, 0, -1, true))
  const bent = fc.array(fc.tuple(key, fc.option(value)), { minLength: 1, maxLength: 3 }).map((changes) => {
    const copy: Record<string, Json> = { ...(members as Record<string, Json>) }
    for (const [name, change] of changes) {
      if (change === null) delete copy[name]
      else copy[name] = change
    }
    return copy
  })
  return fc.oneof({ arbitrary: bent, weight: 4 }, value)
}

/** Defines the tests that every implementation of the port `Executor` passes. */
export const executorSuite = (
  name: string,
  open: () => ExecutorUnderTest,
  options: ExecutorSuiteOptions = {},
): void => {
  describe(`executor ${name}`, () => {
    test('[E2] executor-1: success is a value', async () => {
      const { executor, succeeds } = open()
      expect(await executor.execute(succeeds, abortable())).toMatchObject({ status: 'success' })
    })

    test('[E6] executor-1: failure is a value with a code and a message, and the work was tried once', async () => {
      const { executor, fails, performed } = open()
      const before = performed?.() ?? 0
      const result = await executor.execute(fails, abortable())
      expect(result).toMatchObject({ status: 'failed' })
      expectAnswer(result)
      if (performed !== undefined) expect(performed() - before).toBe(1)
    })

    test('[E8] executor-2: two executions share no state', async () => {
      const { executor, succeeds } = open()
      const [first, second] = await Promise.all([
        executor.execute(succeeds, abortable()),
        executor.execute(succeeds, abortable()),
      ])
      expect(first).toEqual(second)
    })

    test('executor-3: it answers soon after its signal aborts', async () => {
      const { executor, hangs } = open()
      if (hangs === undefined) return
      const abort = abortable()
      const answer = executor.execute(hangs, abort)
      abort.controller.abort(new Error('enough'))
      expect((await answer).status).toBe('failed')
    })

    test('[E6] executor-1: no task makes it throw, however it is mutated', async () => {
      const { executor, succeeds } = open()
      if (succeeds.task.call !== null) return
      await fc.assert(
        fc.asyncProperty(bentTask(succeeds.task.input), fc.string(), async (input, type) => {
          const task = { ...succeeds.task, input, type: type === '' ? succeeds.task.type : type }
          expectAnswer(await executor.execute({ ...succeeds, task }, abortable()))
          expectAnswer(await executor.execute({ ...succeeds, task: { ...succeeds.task, input } }, abortable()))
        }),
        { numRuns: (options.tasks ?? 1_000) / 2 },
      )
    })
  })
}
