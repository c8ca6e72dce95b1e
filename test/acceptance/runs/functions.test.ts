/** Functions with durable steps: results by name, retries, parallel work, code changes under parked runs. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { FinalError } from '#model/run/step-failure.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

onEveryStore('functions', (store) => {
  test('[F1] a function runs its steps in order and its result is stored', async () => {
    const order: string[] = []
    const system = await startTestSystem(
      {
        name: 'order',
        functions: [
          fn<{ n: number }>('add', {}, async ({ input, step }) => {
            const a = await step.run('a', () => {
              order.push('a')
              return input.n + 1
            })
            const b = await step.run('b', () => {
              order.push('b')
              return a + 1
            })
            return { a, b }
          }),
        ],
      },
      store(),
    )
    const run = await system.start('add', { n: 1 })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: { a: 2, b: 3 } })
    expect(order).toEqual(['a', 'b'])
    await system.close()
  })

  test('[B10] after a crash finished steps are answered by name and only the unfinished one runs again', async () => {
    const calls: string[] = []
    const source = (hangs: boolean) => ({
      name: 'crash',
      functions: [
        fn('three', {}, async ({ step }) => {
          await step.run('one', () => void calls.push('one'))
          await step.run('two', () => {
            calls.push('two')
            return hangs ? new Promise(() => {}) : null
          })
          await step.run('three', () => void calls.push('three'))
          return 'done'
        }),
      ],
    })
    const system = await startTestSystem(source(true), store())
    const run = await system.start('three')
    await system.settle()
    await system.crash(source(false))
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'done' })
    expect(calls).toEqual(['one', 'two', 'two', 'three'])
    await system.close()
  })

  test('[R5] a failing step is retried with backoff, under one key, and then succeeds', async () => {
    const keys: string[] = []
    const system = await startTestSystem(
      {
        name: 'retry',
        functions: [
          fn('flaky', {}, ({ step }) =>
            step.run('call', ({ attempt, effectKey }) => {
              keys.push(effectKey)
              if (attempt < 3) throw new Error(`no luck ${attempt}`)
              return attempt
            }),
          ),
        ],
      },
      store(),
    )
    const run = await system.start('flaky')
    await system.settle()
    expect((await system.look(run)).status).toBe('waiting')
    await system.advance('10s')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 3 })
    expect(new Set(keys).size).toBe(1)
    expect(keys).toHaveLength(3)
    await system.close()
  })

  test('[E7] a step that has used its attempts fails for good, and the handler may catch the failure', async () => {
    let tries = 0
    const system = await startTestSystem(
      {
        name: 'fallback',
        functions: [
          fn('fallback', {}, async ({ step }) => {
            try {
              await step.run(
                'first',
                () => {
                  tries++
                  throw new Error('down')
                },
                { retry: { maxAttempts: 2 } },
              )
            } catch (error) {
              return step.run('second', () => `instead of ${(error as { step: string }).step}`)
            }
            return null
          }),
          fn('final', {}, ({ step }) => step.run('x', () => Promise.reject(new FinalError('never again')))),
        ],
      },
      store(),
    )
    const caught = await system.start('fallback')
    const final = await system.start('final')
    await system.advance('10m')
    expect(await system.look(caught)).toMatchObject({ status: 'success', output: 'instead of first' })
    expect(tries).toBe(2)
    expect(await system.look(final)).toMatchObject({
      status: 'failed',
      error: { code: 'FUNCTION_FAILED', message: expect.stringContaining('never again') },
    })
    await system.close()
  })

  test('parallel steps and a fan-out of 500 each run once and keep their order', async () => {
    let ran = 0
    const system = await startTestSystem(
      {
        name: 'fan',
        functions: [
          fn('fan', {}, async ({ step }) => {
            const items = Array.from({ length: 500 }, (_, i) => i)
            const results = await Promise.all(
              items.map((i) =>
                step.run(
                  'item',
                  () => {
                    ran++
                    return i * 2
                  },
                  { key: String(i) },
                ),
              ),
            )
            await step.sleep('pause', '1h')
            return results.reduce((sum, n) => sum + n, 0)
          }),
        ],
      },
      store(),
    )
    const run = await system.start('fan')
    await system.advance('2h')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 249_500 })
    expect(ran).toBe(500)
    await system.close()
  })

  test('step-api-1: the same name in a loop is told apart by its iteration', async () => {
    const seen: number[] = []
    const system = await startTestSystem(
      {
        name: 'loop',
        functions: [
          fn('loop', {}, async ({ step }) => {
            for (let i = 0; i < 3; i++) await step.run('round', () => void seen.push(i))
            await step.sleep('nap', '1m')
            return seen.length
          }),
        ],
      },
      store(),
    )
    const run = await system.start('loop')
    await system.advance('2m')
    expect((await system.look(run)).status).toBe('success')
    expect(seen).toEqual([0, 1, 2])
    await system.close()
  })

  test('[V14] a changed function with 100 parked runs: every run ends, none with an error', async () => {
    const before = {
      name: 'change',
      functions: [
        fn('change', {}, async ({ step }) => {
          await step.run('old first', () => 1)
          await step.run('old second', () => 2)
          await step.sleep('wait', '1d')
          return 'old'
        }),
      ],
    }
    const after = {
      name: 'change',
      functions: [
        fn('change', {}, async ({ step }) => {
          const fresh = await step.run('new', () => 10)
          await step.sleep('wait', '1d')
          const second = await step.run('old second', () => 99)
          return { fresh, second }
        }),
      ],
    }
    const system = await startTestSystem(before, store())
    const runs = []
    for (let i = 0; i < 100; i++) runs.push(await system.start('change'))
    await system.settle()
    await system.crash(after)
    await system.advance('2d')
    for (const run of runs)
      expect(await system.look(run)).toMatchObject({ status: 'success', output: { fresh: 10, second: 2 } })
    await system.close()
  })

  test('a parked run holds no memory, and a failed handler is entered again', async () => {
    let entries = 0
    const system = await startTestSystem(
      {
        name: 'park',
        functions: [
          fn('sleeper', {}, async ({ step }) => {
            await step.sleep('night', '8h')
            return 'morning'
          }),
          fn('raw', {}, () => {
            entries++
            if (entries < 3) throw new Error('outside a step')
            return entries
          }),
        ],
      },
      store(),
    )
    const sleeper = await system.start('sleeper')
    const raw = await system.start('raw')
    await system.settle()
    expect(system.engine.activeRunCount).toBe(0)
    await system.advance('9h')
    expect(await system.look(sleeper)).toMatchObject({ status: 'success', output: 'morning' })
    expect(await system.look(raw)).toMatchObject({ status: 'success', output: 3 })
    await system.close()
  })

  test('[E6] a value that cannot be stored is refused with a code, and nothing is repeated', async () => {
    let ran = 0
    const system = await startTestSystem(
      {
        name: 'bad',
        functions: [
          fn('bad', {}, ({ step }) =>
            step.run('bad', () => {
              ran++
              return { when: new Date(0) }
            }),
          ),
          fn('empty', {}),
          fn('nested', {}, ({ step }) => step.run('', () => 1)),
        ],
      },
      store(),
    )
    const bad = await system.start('bad')
    await expect(system.start('empty')).rejects.toMatchObject({ code: 'FUNCTION_NOT_IMPLEMENTED' })
    const nested = await system.start('nested')
    await system.advance('1h')
    expect(await system.look(bad)).toMatchObject({ status: 'failed', error: { code: 'JSON_INVALID' } })
    expect(await system.look(nested)).toMatchObject({ status: 'failed', error: { code: 'STEP_NAME_INVALID' } })
    expect(ran).toBe(1)
    await system.close()
  })

  test('a 10 MB output and a run of 10,000 steps succeed', async () => {
    const system = await startTestSystem(
      {
        name: 'large',
        functions: [
          fn('large', {}, async ({ step }) => {
            const text = await step.run('make', () => 'x'.repeat(10_000_000))
            await step.sleep('nap', '1m')
            return text
          }),
          fn('long', {}, async ({ step }) => {
            let sum = 0
            // A thousand one after the other, the rest a hundred at a time: sequential steps on a disk would take too long.
            for (let i = 0; i < 1_000; i++) sum += await step.run(`s${i}`, () => i)
            for (let from = 1_000; from < 10_000; from += 100) {
              const hundred = Array.from({ length: 100 }, (_, n) => from + n)
              const parts = await Promise.all(hundred.map((i) => step.run(`s${i}`, () => i)))
              sum += parts.reduce((one, other) => one + other, 0)
            }
            await step.sleep('nap', '1m')
            return sum
          }),
        ],
      },
      store(),
    )
    const large = await system.start('large')
    const long = await system.start('long')
    await system.advance('2m')
    expect(((await system.look(large)).output as string).length).toBe(10_000_000)
    expect((await system.look(long)).output).toBe(49_995_000)
    await system.close()
  }, 120_000)

  test('a failed run is retried by a person and continues where it stopped', async () => {
    let broken = true
    let first = 0
    const system = await startTestSystem(
      {
        name: 'again',
        functions: [
          fn('again', {}, async ({ step }) => {
            await step.run('first', () => void first++)
            return step.run('second', () => {
              if (broken) throw new FinalError('broken')
              return 'mended'
            })
          }),
        ],
      },
      store(),
    )
    const run = await system.start('again')
    await system.advance('1h')
    expect((await system.look(run)).status).toBe('failed')
    broken = false
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'mended' })
    expect(first).toBe(1)
    await expect(system.run(() => system.engine.retry(run, 'ana'))).rejects.toMatchObject({ code: 'RUN_NOT_FAILED' })
    await system.close()
  })

  test("members of the handler's context work when they are destructured", async () => {
    const system = await startTestSystem(
      {
        name: 'apart',
        events: { 'thing.done': null },
        functions: [
          fn('apart', {}, async ({ step: { run, sleep, invoke }, emit, recall, effectKey, signal }) => {
            const one = await run('one', ({ attempt }) => attempt)
            await sleep('nap', '1m')
            const two = await invoke('two', 'child', {})
            emit('thing.done', {})
            return { one, two, recalls: typeof recall, isKeyed: effectKey !== '', isAborted: signal.aborted }
          }),
          fn('child', {}, () => 2),
        ],
      },
      store(),
    )
    const run = await system.start('apart')
    await system.advance('2m')
    const output = { one: 1, two: 2, recalls: 'function', isKeyed: true, isAborted: false }
    expect(await system.look(run)).toMatchObject({ status: 'success', output })
    await system.close()
  })
})
