/** A retry passes the gate of its handler: keys, queues, pauses and limits apply in every life of a run. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { FlowSource } from '#model/flow/policies/flow-source.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { FinalError } from '#model/run/step-failure.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const ORDER = { key: 'payload.order' }

/** Orders that fail until they are fixed, then charge once, and take an hour. */
const shop = (flow: FlowSource) => {
  const charged: string[] = []
  let isBroken = true
  const pay = fn<{ order: string }>('pay', flow, async ({ input, step }) => {
    if (isBroken) throw new FinalError('the bank is closed')
    await step.run('charge', () => void charged.push(input.order), { effect: 'once' })
    await step.sleep('settle', '1h')
    return input.order
  })
  const mend = (): void => {
    isBroken = false
  }
  const breakDown = (): void => {
    isBroken = true
  }
  return { charged, mend, breakDown, source: { name: 'shop', functions: [pay] } }
}

onEveryStore('a retry asks the gate', (store) => {
  test('[D4] gate-retry-1: a run is not retried while another has its key, live or successful (14.1.2)', async () => {
    const { charged, mend, source } = shop({ idempotency: ORDER })
    const system = await startTestSystem(source, store())
    const failed = await system.start('pay', { order: 'o-1' })
    await system.settle()
    expect((await system.look(failed)).status).toBe('failed')
    mend()
    const other = await system.start('pay', { order: 'o-1' })
    await system.settle()
    const retry = () => system.run(() => system.engine.retry(failed, 'ana'))
    await expect(retry()).rejects.toMatchObject({ code: 'RUN_EXISTS', detail: expect.stringContaining(other) })
    await system.advance('2h')
    expect((await system.look(other)).status).toBe('success')
    await expect(retry()).rejects.toMatchObject({ code: 'RUN_EXISTS', detail: expect.stringContaining(other) })
    expect(charged).toEqual(['o-1'])
    expect((await system.look(failed)).status).toBe('failed')
    await system.close()
  })

  test('gate-revival-1: a retried run holds its key again until it ends, and keeps it if it succeeds (14.1.2)', async () => {
    const { charged, mend, source } = shop({ idempotency: ORDER })
    const system = await startTestSystem(source, store())
    const failed = await system.start('pay', { order: 'o-1' })
    await system.settle()
    mend()
    await system.run(() => system.engine.retry(failed, 'ana'))
    await system.settle()
    expect(await system.start('pay', { order: 'o-1' })).toBe(failed)
    await system.crash()
    await system.advance('2h')
    expect(await system.look(failed)).toMatchObject({ status: 'success', output: 'o-1' })
    expect(await system.start('pay', { order: 'o-1' })).toBe(failed)
    expect(charged).toEqual(['o-1'])
    await system.close()
  })

  test('a retried run that fails again releases its key (14.1.2)', async () => {
    const { charged, mend, source } = shop({ idempotency: ORDER })
    const system = await startTestSystem(source, store())
    const failed = await system.start('pay', { order: 'o-1' })
    await system.settle()
    await system.run(() => system.engine.retry(failed, 'ana'))
    await system.settle()
    expect((await system.look(failed)).status).toBe('failed')
    mend()
    const next = await system.start('pay', { order: 'o-1' })
    expect(next).not.toBe(failed)
    await system.advance('2h')
    expect((await system.look(next)).status).toBe('success')
    expect(charged).toEqual(['o-1'])
    await system.close()
  })

  test('[H4] gate-retry-2: a retry queues behind the run before it, and is requested once (14.1.2)', async () => {
    const { charged, mend, source } = shop({ overlap: 'buffer_all' })
    const system = await startTestSystem(source, store())
    const failed = await system.start('pay', { order: 'o-1' })
    await system.settle()
    mend()
    const other = await system.start('pay', { order: 'o-2' })
    await system.settle()
    await system.run(() => system.engine.retry(failed, 'ana'))
    await system.run(() => system.engine.retry(failed, 'ana'))
    await system.settle()
    expect((await system.look(failed)).status).toBe('failed')
    expect(charged).toEqual(['o-2'])
    await system.advance('61m')
    expect((await system.look(other)).status).toBe('success')
    expect(charged).toEqual(['o-2', 'o-1'])
    const third = await system.start('pay', { order: 'o-3' })
    await system.settle()
    expect(charged).toEqual(['o-2', 'o-1'])
    await system.advance('3h')
    expect((await system.look(failed)).status).toBe('success')
    expect((await system.look(third)).status).toBe('success')
    await system.close()
  })

  test('[H4] gate-retry-5: a cancel withdraws a retry that waits for its turn, and the next one starts (14.1.2)', async () => {
    const { charged, mend, source } = shop({ overlap: 'buffer_all' })
    const system = await startTestSystem(source, store())
    const failed = await system.start('pay', { order: 'o-1' })
    await system.settle()
    mend()
    await system.start('pay', { order: 'o-2' })
    await system.settle()
    await system.run(() => system.engine.retry(failed, 'ana'))
    await system.start('pay', { order: 'o-3' })
    await system.run(() => system.engine.cancel(failed, 'ana', 'not needed'))
    await system.run(() => system.engine.cancel(failed, 'ana', 'not needed'))
    await system.crash()
    await system.advance('3h')
    expect(await system.look(failed)).toMatchObject({ status: 'cancelled', error: { code: 'RUN_CANCELLED' } })
    expect(charged).toEqual(['o-2', 'o-3'])
    // It may be retried again.
    await system.run(() => system.engine.retry(failed, 'ana'))
    await system.advance('2h')
    expect((await system.look(failed)).status).toBe('success')
    await system.close()
  })

  test('[L10] gate-retry-6: the retry of a child that was called with gate: none skips the gate (14.4.3)', async () => {
    let isBroken = true
    const child = fn('child', { overlap: 'skip', whilePaused: 'suppress' }, () => {
      if (isBroken) throw new FinalError('the bank is closed')
      return 'paid'
    })
    const parent = fn('parent', {}, ({ step }) => step.invoke('call', 'child', null, { gate: 'none' }))
    const system = await startTestSystem({ name: 'ungated', functions: [child, parent] }, store())
    const run = await system.start('parent')
    await system.settle()
    expect((await system.look(run)).status).toBe('failed')
    isBroken = false
    await system.run(() => system.engine.pauseHandler('child', 'bob'))
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'paid' })
    await system.close()
  })

  test('gate-retry-4: a retry is refused if overlap is skip, and by a paused gate (14.1.2)', async () => {
    const { charged, mend, source } = shop({ overlap: 'skip', whilePaused: 'suppress' })
    const system = await startTestSystem(source, store())
    const failed = await system.start('pay', { order: 'o-1' })
    await system.settle()
    mend()
    await system.start('pay', { order: 'o-2' })
    await system.settle()
    const retry = () => system.run(() => system.engine.retry(failed, 'ana'))
    await expect(retry()).rejects.toMatchObject({ code: 'RUN_EXISTS' })
    await system.advance('2h')
    await system.run(() => system.engine.pauseHandler('pay', 'ana'))
    await expect(retry()).rejects.toMatchObject({ code: 'HANDLER_PAUSED' })
    await system.run(() => system.engine.resumeHandler('pay', 'ana'))
    await retry()
    await system.advance('2h')
    expect(charged).toEqual(['o-2', 'o-1'])
    await system.close()
  })

  test('a retry at a paused gate that holds what arrives continues after the resume (14.1.2)', async () => {
    const { charged, mend, source } = shop({ whilePaused: 'hold' })
    const system = await startTestSystem(source, store())
    const failed = await system.start('pay', { order: 'o-1' })
    await system.settle()
    mend()
    await system.run(() => system.engine.pauseHandler('pay', 'ana'))
    await system.run(() => system.engine.retry(failed, 'ana'))
    await system.advance('1h')
    expect(charged).toEqual([])
    await system.run(() => system.engine.resumeHandler('pay', 'ana'))
    await system.advance('2h')
    expect(charged).toEqual(['o-1'])
    expect((await system.look(failed)).status).toBe('success')
    await system.close()
  })

  test('gate-revival-2: a retry that a newer run displaces ends with the reason, and its parent receives it (14.1.2)', async () => {
    const { charged, mend, source } = shop({ overlap: 'buffer_one' })
    const parent = fn('order', {}, ({ step }) => step.invoke('pay', 'pay', { order: 'o-1' }))
    const system = await startTestSystem({ ...source, functions: [...source.functions, parent] }, store())
    const order = await system.start('order')
    await system.settle()
    expect((await system.look(order)).status).toBe('failed')
    mend()
    await system.start('pay', { order: 'o-2' })
    await system.settle()
    await system.run(() => system.engine.retry(order, 'ana'))
    await system.settle()
    expect((await system.look(order)).status).toBe('waiting')
    await system.start('pay', { order: 'o-3' })
    await system.settle()
    expect((await system.look(order)).status).toBe('failed')
    await system.advance('3h')
    expect(charged).toEqual(['o-2', 'o-3'])
    await system.close()
  })

  test('gate-retry-3: a retry counts against no rate limit (14.1.2)', async () => {
    const { charged, mend, source } = shop({ rateLimit: { limit: 1, period: '1d' } })
    const system = await startTestSystem(source, store())
    const failed = await system.start('pay', { order: 'o-1' })
    await system.settle()
    mend()
    await system.run(() => system.engine.retry(failed, 'ana'))
    await system.advance('2h')
    expect((await system.look(failed)).status).toBe('success')
    await expect(system.start('pay', { order: 'o-2' })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    expect(charged).toEqual(['o-1'])
    await system.close()
  })

  test('concurrency applies to runs that are retried (14.1.2)', async () => {
    const { charged, mend, source } = shop({ concurrency: [{ limit: 1 }] })
    const system = await startTestSystem(source, store())
    const failed: RunId[] = []
    for (const order of ['o-1', 'o-2', 'o-3']) failed.push(await system.start('pay', { order }))
    await system.settle()
    mend()
    for (const run of failed) await system.run(() => system.engine.retry(run, 'ana'))
    await system.advance('4h')
    expect(charged.toSorted()).toEqual(['o-1', 'o-2', 'o-3'])
    await system.close()
  })

  test('of many callers that retry failed runs of one key at once, one succeeds (14.1.2)', async () => {
    const { charged, mend, source } = shop({ idempotency: ORDER })
    const system = await startTestSystem(source, store())
    const failed: RunId[] = []
    for (let n = 0; n < 20; n++) {
      failed.push(await system.start('pay', { order: 'o-1' }))
      await system.settle()
    }
    mend()
    const answers = await system.run(() =>
      Promise.allSettled(failed.flatMap((run) => [system.engine.retry(run, 'ana'), system.engine.retry(run, 'ben')])),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await system.advance('2h')
    expect(charged).toEqual(['o-1'])
    await system.close()
  })
})
