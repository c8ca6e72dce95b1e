/** Sessions: memory that steps change, checkpoints, forks that share it and do not change their parent. */
import { expect, test, vi } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const source = {
  name: 'sessions',
  functions: [
    fn<{ n: number }>('count', {}, async ({ input, step, recall }) => {
      for (let i = 0; i < input.n; i++) {
        await step.run('add', ({ remember }) => remember(`k${i}`, i), { key: String(i) })
      }
      await step.run('total', ({ remember }) => remember('total', input.n))
      await step.sleep('nap', '1h')
      return recall('total')
    }),
    fn('forget', {}, ({ step }) => step.run('forget', ({ remember }) => remember('total', null))),
    fn('loose', {}, ({ step }) => step.run('x', ({ remember }) => remember('a', 1))),
  ],
}

onEveryStore('sessions', (store) => {
  test('[G3] session-3: a step changes memory with its result: once, also across a crash', async () => {
    const system = await startTestSystem(source, store())
    const session = await system.run(() => system.engine.sessions.create())
    const run = await system.start('count', { n: 50 }, { session })
    await system.settle()
    await system.crash()
    await system.advance('2h')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 50 })
    expect(await system.run(() => system.engine.sessions.recall(session, 'k49'))).toBe(49)
    expect(await system.run(() => system.engine.sessions.recall(session, 'nothing'))).toBeNull()
    expect(await system.run(() => system.engine.sessions.recall(session, 'toString'))).toBeNull()
    await system.close()
  })

  test('session-2: a fork shares the past and changes nothing of its parent', async () => {
    const system = await startTestSystem(source, store())
    const { sessions } = system.engine
    const session = await system.run(() => sessions.create())
    await system.start('count', { n: 30 }, { session })
    await system.advance('2h')
    const fork = await system.run(() => sessions.fork(session))
    await system.start('forget', null, { session: fork })
    await system.run(() => sessions.remember(fork, 'k1', 'changed'))
    await system.settle()
    expect(await system.run(() => sessions.recall(fork, 'k29'))).toBe(29)
    expect(await system.run(() => sessions.recall(fork, 'total'))).toBeNull()
    expect(await system.run(() => sessions.recall(fork, 'k1'))).toBe('changed')
    expect(await system.run(() => sessions.recall(session, 'total'))).toBe(30)
    expect(await system.run(() => sessions.recall(session, 'k1'))).toBe(1)
    await system.close()
  })

  test('session-2: a fork at a checkpoint reads that one fact, and more only if changes came after it', async () => {
    const system = await startTestSystem(source, store())
    const { sessions } = system.engine
    const session = await system.run(() => sessions.create())
    for (let i = 0; i < 5; i++) await system.run(() => sessions.remember(session, 'same', i))
    await system.run(() => sessions.checkpoint(session))
    const loaded = vi.spyOn(system.store.ledger, 'load')
    const fork = await system.run(() => sessions.fork(session))
    expect(loaded.mock.calls).toEqual([[[session], { last: 1 }]])
    expect(await system.run(() => sessions.recall(fork, 'same'))).toBe(4)
    for (let i = 0; i < 70; i++) await system.run(() => sessions.remember(session, 'same', -i))
    const late = await system.run(() => sessions.fork(session))
    expect(await system.run(() => sessions.recall(late, 'same'))).toBe(-69)
    loaded.mockRestore()
    await system.close()
  })

  test('session-1: checkpoints form a chain, and a changed document is found', async () => {
    const system = await startTestSystem(source, store())
    const { sessions } = system.engine
    const session = await system.run(() => sessions.create())
    await system.run(() => sessions.remember(session, 'a', 'x'.repeat(100_000)))
    await system.run(() => sessions.checkpoint(session))
    await system.run(() => sessions.remember(session, 'b', 2))
    await system.run(() => sessions.checkpoint(session))
    await system.run(() => sessions.checkpoint(session))
    const [record] = await system.store.ledger.load([session])
    const checkpoints =
      record?.facts
        .filter(({ type }) => type === 'session.checkpointed')
        .map(({ body }) => JSON.parse(body).checkpoint) ?? []
    expect(checkpoints).toHaveLength(2)
    expect(checkpoints[1].parents).toEqual([checkpoints[0].id])
    await system.close()
  })

  test('a run without a session has no memory', async () => {
    const system = await startTestSystem(source, store())
    const run = await system.start('loose')
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'SESSION_STATE_INVALID' } })
    await system.close()
  })
})
