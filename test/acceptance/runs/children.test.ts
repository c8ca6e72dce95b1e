/** Child runs: aggregation, and failures, cancels and deadlines that reach the leaves. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { FinalError } from '#model/run/step-failure.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

onEveryStore('children', (store) => {
  test('[K1] a parent calls children, sleeps beside them and aggregates their results', async () => {
    const system = await startTestSystem(
      {
        name: 'sum',
        functions: [
          fn<{ n: number }>('square', {}, async ({ input, step }) => {
            await step.sleep('think', '1h')
            return step.run('square', () => input.n ** 2)
          }),
          fn('sum', {}, async ({ step }) => {
            const parts = await Promise.all(
              [1, 2, 3].map((n) => step.invoke('part', 'square', { n }, { key: String(n) })),
            )
            return (parts as number[]).reduce((sum, part) => sum + part, 0)
          }),
        ],
      },
      store(),
    )
    const run = await system.start('sum')
    await system.settle()
    await system.crash()
    await system.advance('2h')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 14 })
    await system.close()
  })

  test("a child's failure is thrown in the parent with its code and its id", async () => {
    const system = await startTestSystem(
      {
        name: 'fail',
        functions: [
          fn('child', {}, () => {
            throw new FinalError('no child today')
          }),
          fn('parent', {}, async ({ step }) => {
            try {
              return await step.invoke('child', 'child')
            } catch (error) {
              return (error as Error).message
            }
          }),
          fn('lost', {}, ({ step }) => step.invoke('x', 'nobody')),
        ],
      },
      store(),
    )
    const parent = await system.start('parent')
    const lost = await system.start('lost')
    await system.settle()
    expect((await system.look(parent)).output).toContain('no child today')
    expect(await system.look(lost)).toMatchObject({ status: 'failed', error: { code: 'NOT_FOUND' } })
    await system.close()
  })

  test('[K5] a cancel reaches the leaves first, aborts active code and ends the tree', async () => {
    let aborted = 0
    const system = await startTestSystem(
      {
        name: 'tree',
        functions: [
          fn('leaf', {}, ({ step }) =>
            step.run(
              'work',
              ({ signal }) =>
                new Promise((_, reject) => {
                  signal.addEventListener('abort', () => {
                    aborted++
                    reject(new Error('told to stop'))
                  })
                }),
            ),
          ),
          fn('branch', {}, ({ step }) => Promise.all([step.invoke('a', 'leaf'), step.sleep('long', '10d')])),
          fn('root', {}, ({ step }) => step.invoke('b', 'branch')),
        ],
      },
      store(),
    )
    const run = await system.start('root')
    await system.settle()
    await system.run(() => system.engine.cancel(run, 'ana', 'not needed'))
    await system.settle()
    expect(await system.look(run)).toMatchObject({
      status: 'cancelled',
      error: { code: 'RUN_CANCELLED', message: 'not needed' },
    })
    const counts = await system.store.reader.counts(LOCAL_TENANT)
    expect(counts.get('cancelled')).toBe(3)
    expect(aborted).toBe(1)
    await system.advance('20d')
    expect((await system.store.reader.counts(LOCAL_TENANT)).get('cancelled')).toBe(3)
    await expect(system.run(() => system.engine.cancel(run, 'ana', 'again'))).resolves.toBeUndefined()
    await system.close()
  })

  test('[R12] run-2: a parked run is cancelled at once, and an ended one refuses', async () => {
    const system = await startTestSystem(
      {
        name: 'park',
        functions: [fn('park', {}, ({ step }) => step.sleep('long', '30d')), fn('quick', {}, () => 1)],
      },
      store(),
    )
    const parked = await system.start('park')
    const quick = await system.start('quick')
    await system.settle()
    await system.run(() => system.engine.cancel(parked, 'ana', 'enough'))
    await system.settle()
    expect((await system.look(parked)).status).toBe('cancelled')
    await expect(system.run(() => system.engine.cancel(quick, 'ana', 'late'))).rejects.toMatchObject({
      code: 'RUN_ENDED',
    })
    await system.close()
  })

  test('[R11] a deadline ends a parked tree as failed, children included', async () => {
    const system = await startTestSystem(
      {
        name: 'deadline',
        functions: [
          fn('child', {}, ({ step }) => step.sleep('long', '30d')),
          fn('parent', { deadline: { finish: '1h' } }, ({ step }) => step.invoke('c', 'child')),
        ],
      },
      store(),
    )
    const run = await system.start('parent')
    await system.advance('59m')
    expect((await system.look(run)).status).toBe('waiting')
    await system.advance('2m')
    expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'RUN_DEADLINE' } })
    expect((await system.store.reader.counts(LOCAL_TENANT)).get('cancelled')).toBe(1)
    await system.close()
  })

  test('a step that exceeds its timeout is aborted, tried again and fails with a code', async () => {
    let tries = 0
    const system = await startTestSystem(
      {
        name: 'timeout',
        functions: [
          fn('slow', {}, ({ step }) =>
            step.run(
              'slow',
              () => {
                tries++
                return new Promise(() => {})
              },
              {
                timeout: '10s',
                retry: { maxAttempts: 2, baseMs: 1 },
              },
            ),
          ),
        ],
      },
      store(),
    )
    const run = await system.start('slow')
    await system.advance('1m')
    expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'STEP_TIMEOUT' } })
    expect(tries).toBe(2)
    await system.close()
  })

  test('children nest at most sixteen deep', async () => {
    const system = await startTestSystem(
      { name: 'deep', functions: [fn('down', {}, ({ step }) => step.invoke('next', 'down'))] },
      store(),
    )
    const run = await system.start('down')
    await system.settle()
    expect(await system.look(run)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('17 levels deep') },
    })
    await system.close()
  })
})
