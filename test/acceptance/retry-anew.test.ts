/** What a retry begins anew: events that ended the run, the time in which it must begin and end. */
import { expect, test } from 'vitest'
import { fn } from '../../src/executors/workflow/function.ts'
import type { RunId } from '../../src/model/ids.ts'
import { startTestSystem } from '../../src/testing/system.ts'
import { onEveryStore } from '../support/stores.ts'

onEveryStore('a new life', (store) => {
  test('[F6] run-reopen-2: an event that ended a run does not end it again, and the next one does (14.1.4)', async () => {
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

  test('[F7] run-6: a restart does not expire a run that is in its first step (14.1.4)', async () => {
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

  test('[F7] run-reopen-3: a run that its deadline ended has the whole time again after a retry (14.1.4)', async () => {
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
