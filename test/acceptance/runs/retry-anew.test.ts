/** What a retry resets: events that cancelled the run, and the times by which it must begin and end. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const runsOf = async ({ store }: TestSystem, handler: string): Promise<readonly RunId[]> => {
  const runs = await store.reader.runs({ tenant: LOCAL_TENANT, status: null, handler, before: null, limit: 9 })
  return runs.map(({ id }) => id)
}

onEveryStore('a new life', (store) => {
  test('run-reopen-2: an event that ended a run does not end it again, and the next one does (14.1.4)', async () => {
    const work = fn('work', { trigger: 'go', cancelOn: [{ event: 'stop', match: 'payload.id' }] }, async ({ step }) => {
      await step.sleep('rest', '1h')
      return 'done'
    })
    const system = await startTestSystem({ name: 'anew', events: { go: null, stop: null }, functions: [work] }, store())
    const { runs } = await system.send({ type: 'go', data: { id: 1 } })
    const run = runs[0] as RunId
    await system.settle()
    await system.send({ type: 'stop', data: { id: 1 } })
    await system.settle()
    expect((await system.look(run)).status).toBe('cancelled')
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    expect((await system.look(run)).status).toBe('waiting')
    await system.send({ type: 'stop', data: { id: 1 } })
    await system.settle()
    expect((await system.look(run)).status).toBe('cancelled')
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.advance('2h')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'done' })
    await system.close()
  })

  test('run-reopen-2: an event between the end of a run and its retry does not end the new life (14.1.4)', async () => {
    const work = fn('work', { trigger: 'go', cancelOn: [{ event: 'stop', match: 'payload.id' }] }, async ({ step }) => {
      await step.sleep('rest', '1h')
      return 'done'
    })
    const gated = fn(
      'gated',
      { trigger: 'go', cancelOn: [{ event: 'stop' }], overlap: 'buffer_all' },
      async ({ step }) => {
        await step.sleep('rest', '1h')
        return 'done'
      },
    )
    const system = await startTestSystem(
      { name: 'anew', events: { go: null, stop: null }, functions: [work, gated] },
      store(),
    )
    const stop = async (): Promise<void> => {
      await system.send({ type: 'stop', data: { id: 1 } })
      await system.settle()
    }
    await system.start('work', { id: 1 })
    await system.send({ type: 'go', data: { id: 1 } })
    await system.settle()
    const runs = [...(await runsOf(system, 'work')), ...(await runsOf(system, 'gated'))]
    await stop()
    for (const run of runs) expect((await system.look(run)).status).toBe('cancelled')
    await stop()
    for (const run of runs) await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    for (const run of runs) expect((await system.look(run)).status).toBe('waiting')
    await system.advance('2h')
    for (const run of runs) expect(await system.look(run)).toMatchObject({ status: 'success', output: 'done' })
    await system.close()
  })

  test('run-reopen-4: a wait whose timeout failed the run starts anew with its retry (14.1.4)', async () => {
    const reminded: string[] = []
    let isBroken = true
    const work = fn('work', { trigger: 'go', retry: { maxAttempts: 1 } }, async ({ step }) => {
      const first = await step.waitForEvent('first', { event: 'signed', timeout: '1h' })
      if (first.status === 'timed_out') await step.run('remind', () => void reminded.push('bo'))
      const second = await step.waitForEvent('second', { event: 'signed', timeout: '1h' })
      if (second.status === 'timed_out') throw new Error('nobody has signed')
      await step.run(
        'file',
        () => {
          if (isBroken) throw new Error('no paper')
        },
        { retry: { maxAttempts: 1 } },
      )
      return 'done'
    })
    const system = await startTestSystem(
      { name: 'anew', events: { go: null, signed: null }, functions: [work] },
      store(),
    )
    const { runs } = await system.send({ type: 'go', data: {} })
    const run = runs[0] as RunId
    await system.advance('3h')
    expect(await system.look(run)).toMatchObject({ status: 'failed', error: { message: 'nobody has signed' } })
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.advance('30m')
    // The first wait stays ended: the reminder that followed it is sent.
    expect((await system.look(run)).status).toBe('waiting')
    await system.advance('31m')
    expect(await system.look(run)).toMatchObject({ status: 'failed', error: { message: 'nobody has signed' } })
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.send({ type: 'signed', data: { by: 'bo' } })
    await system.settle()
    expect(await system.look(run)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('no paper') },
    })
    isBroken = false
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success' })
    expect(reminded).toEqual(['bo'])
    await system.close()
  })

  test('run-6: a restart does not expire a run that is in its first step (14.1.4)', async () => {
    let isHung = true
    const work = fn('work', { trigger: 'go', deadline: { start: '1m' } }, async ({ step }) =>
      step.run('first', () => (isHung ? new Promise(() => {}) : 'done'), { timeout: '1d' }),
    )
    const system = await startTestSystem({ name: 'anew', events: { go: null }, functions: [work] }, store())
    const { runs } = await system.send({ type: 'go', data: {} })
    const run = runs[0] as RunId
    await system.settle()
    isHung = false
    await system.crash(undefined, { down: '10m' })
    await system.advance('10m')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'done' })
    await system.close()
  })

  test('run-reopen-3: a run that its deadline ended has its full time again after a retry (14.1.4)', async () => {
    const work = fn('work', { trigger: 'go', deadline: { finish: '1h' } }, async ({ step }) => {
      await step.waitForEvent('answer', { event: 'answered' })
      return 'done'
    })
    const events = { go: null, answered: null }
    const system = await startTestSystem({ name: 'anew', events, functions: [work] }, store())
    const { runs } = await system.send({ type: 'go', data: {} })
    const run = runs[0] as RunId
    await system.advance('2h')
    expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'RUN_DEADLINE' } })
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.advance('30m')
    expect((await system.look(run)).status).toBe('waiting')
    await system.advance('31m')
    expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'RUN_DEADLINE' } })
    await system.close()
  })
})
