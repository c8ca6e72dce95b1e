/** A retry continues with the same children, and the end of a parent ends the runs that it called. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import { FinalError } from '#model/run/step-failure.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

/** What the outside world has seen: each effect by its key. */
const world = () => {
  const keys: string[] = []
  let isBroken = true
  return {
    keys,
    charge: ({ effectKey }: { readonly effectKey: string }) => void keys.push(effectKey),
    mend: () => {
      isBroken = false
    },
    failWhileBroken: () => {
      if (isBroken) throw new FinalError('the printer is out of paper')
      return 'printed'
    },
  }
}

const childrenOf = (system: TestSystem, run: RunId) => system.store.reader.children(LOCAL_TENANT, run)

onEveryStore('retry of parents and children', (store) => {
  test('[D4] a retried parent retries the same child, whose paid step is not paid again (14.1.1)', async () => {
    const { keys, charge, mend, failWhileBroken } = world()
    const system = await startTestSystem(
      {
        name: 'orders',
        functions: [
          fn('pay', {}, async ({ step }) => {
            await step.run('charge', charge, { effect: 'once' })
            return step.run('print', failWhileBroken)
          }),
          fn('middle', {}, ({ step }) => step.invoke('pay', 'pay')),
          fn('order', {}, ({ step }) => step.invoke('middle', 'middle')),
        ],
      },
      store(),
    )
    const run = await system.start('order')
    await system.settle()
    expect((await system.look(run)).status).toBe('failed')
    const [middle] = await childrenOf(system, run)
    mend()
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'printed' })
    expect(keys).toHaveLength(1)
    expect((await childrenOf(system, run)).map(({ id }) => id)).toEqual([middle?.id])
    await system.close()
  })

  test('a child that fails again fails its parent again, and each retry is another life of the same child', async () => {
    const { keys, charge, mend, failWhileBroken } = world()
    const system = await startTestSystem(
      {
        name: 'again',
        functions: [
          fn('pay', {}, async ({ step }) => {
            await step.run('charge', charge, { effect: 'once' })
            return step.run('print', failWhileBroken)
          }),
          fn('order', {}, ({ step }) => step.invoke('pay', 'pay')),
        ],
      },
      store(),
    )
    const run = await system.start('order')
    await system.settle()
    for (let life = 0; life < 2; life++) {
      await system.run(() => system.engine.retry(run, 'ana'))
      await system.crash()
      await system.advance('1m')
      expect((await system.look(run)).status).toBe('failed')
    }
    mend()
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    expect((await system.look(run)).status).toBe('success')
    expect(keys).toHaveLength(1)
    expect(await childrenOf(system, run)).toHaveLength(1)
    await system.close()
  })

  test('a parent takes the result of its child that was retried separately', async () => {
    const { keys, charge, mend, failWhileBroken } = world()
    const system = await startTestSystem(
      {
        name: 'single',
        functions: [
          fn('pay', {}, async ({ step }) => {
            await step.run('charge', charge, { effect: 'once' })
            return step.run('print', failWhileBroken)
          }),
          fn('order', {}, ({ step }) => step.invoke('pay', 'pay')),
        ],
      },
      store(),
    )
    const run = await system.start('order')
    await system.settle()
    const [child] = await childrenOf(system, run)
    mend()
    await system.run(() => system.engine.retry(child?.id as RunId, 'ana'))
    await system.settle()
    expect((await system.look(child?.id as RunId)).status).toBe('success')
    expect((await system.look(run)).status).toBe('failed')
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'printed' })
    expect(keys).toHaveLength(1)
    await system.close()
  })

  test('[K5] parent-end-1: a failing parent ends its other child, before its effect (14.1.5)', async () => {
    const { keys, charge } = world()
    const system = await startTestSystem(
      {
        name: 'pair',
        functions: [
          fn('slow', {}, async ({ step }) => {
            await step.sleep('think', '1h')
            await step.run('charge', charge, { effect: 'once' })
          }),
          fn('bad', {}, async ({ step }) => {
            await step.sleep('think', '1m')
            throw new FinalError('no')
          }),
          fn('pair', {}, ({ step }) => Promise.all([step.invoke('slow', 'slow'), step.invoke('bad', 'bad')])),
        ],
      },
      store(),
    )
    const run = await system.start('pair')
    await system.settle()
    await system.crash()
    await system.advance('2m')
    expect((await system.look(run)).status).toBe('failed')
    const slow = (await childrenOf(system, run)).find(({ handler }) => handler === 'slow')
    expect(slow?.status).toBe('cancelled')
    await system.advance('3h')
    expect(keys).toHaveLength(0)
    await system.close()
  })

  test.each([
    ['cancel', 'cancelled', 0],
    ['detach', 'success', 1],
  ] as const)(
    'a child that its parent did not wait for: on_parent_end %s (14.1.5)',
    async (onParentEnd, status, effects) => {
      const { keys, charge } = world()
      const system = await startTestSystem(
        {
          name: 'left',
          functions: [
            fn('slow', {}, ({ step }) => step.run('charge', charge, { effect: 'once' })),
            fn('parent', {}, async ({ step }) => {
              void step.invoke('slow', 'slow', null, { onParentEnd })
              return 'done'
            }),
            fn('later', {}, async ({ step }) => {
              void step.invoke('nap', 'nap', null, { onParentEnd })
              await step.run('work', () => 1)
              return 'done'
            }),
            fn('nap', {}, async ({ step }) => {
              await step.sleep('think', '1h')
              await step.run('charge', charge, { effect: 'once' })
            }),
          ],
        },
        store(),
      )
      for (const handler of ['parent', 'later']) {
        keys.length = 0
        const run = await system.start(handler)
        await system.settle()
        await system.advance('2h')
        expect((await system.look(run)).status).toBe('success')
        expect((await childrenOf(system, run)).map((child) => child.status)).toEqual([status])
        expect(keys).toHaveLength(effects)
      }
      await system.close()
    },
  )

  test('a detached child continues when its parent is cancelled, and the parent does not wait for it (14.1.5)', async () => {
    const { keys, charge } = world()
    const system = await startTestSystem(
      {
        name: 'detached',
        functions: [
          fn('nap', {}, async ({ step }) => {
            await step.sleep('think', '1h')
            await step.run('charge', charge, { effect: 'once' })
          }),
          fn('parent', {}, ({ step }) => step.invoke('nap', 'nap', null, { onParentEnd: 'detach' })),
        ],
      },
      store(),
    )
    const run = await system.start('parent')
    await system.settle()
    await system.run(() => system.engine.cancel(run, 'ana', 'enough'))
    await system.settle()
    expect((await system.look(run)).status).toBe('cancelled')
    await system.advance('2h')
    expect(keys).toHaveLength(1)
    await system.close()
  })

  test('a child that ended with its parent continues when the parent is retried (14.1.1)', async () => {
    const { keys, charge, mend, failWhileBroken } = world()
    const system = await startTestSystem(
      {
        name: 'both',
        functions: [
          fn('slow', {}, async ({ step }) => {
            await step.run('charge', charge, { effect: 'once' })
            await step.sleep('think', '1h')
            return 'slow'
          }),
          fn('bad', {}, ({ step }) => step.run('print', failWhileBroken)),
          fn('pair', {}, ({ step }) => Promise.all([step.invoke('slow', 'slow'), step.invoke('bad', 'bad')])),
        ],
      },
      store(),
    )
    const run = await system.start('pair')
    await system.advance('2h')
    expect((await system.look(run)).status).toBe('failed')
    mend()
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.advance('3h')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: ['slow', 'printed'] })
    expect(keys).toHaveLength(1)
    expect(await childrenOf(system, run)).toHaveLength(2)
    await system.close()
  })
})
