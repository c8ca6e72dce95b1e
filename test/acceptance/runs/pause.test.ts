/** One run that an operator pauses and resumes. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const pause = (system: TestSystem, run: RunId): Promise<void> => system.run(() => system.engine.pause(run, 'ana', null))
const resume = (system: TestSystem, run: RunId): Promise<void> => system.run(() => system.engine.resume(run, 'ana'))
const statusOf = async (system: TestSystem, run: RunId): Promise<string> => (await system.look(run)).status

/** Two steps of which the first ends when the test says so. */
const twoSteps = () => {
  const done: string[] = []
  const gate = { open: (): void => {} }
  const work = fn('work', {}, async ({ step }) => {
    await step.run('first', async () => {
      await new Promise<void>((resolve) => {
        gate.open = resolve
      })
      done.push('first')
    })
    await step.run('second', () => void done.push('second'))
    return 'ok'
  })
  return { done, gate, source: { name: 'two', functions: [work] } }
}

onEveryStore('pause', (store) => {
  test('[G12] the active step ends, the next begins with the resume, across a crash and no step twice', async () => {
    const { done, gate, source } = twoSteps()
    const system = await startTestSystem(source, store())
    const run = await system.start('work')
    await system.settle()
    await pause(system, run)
    await system.settle()
    expect(await statusOf(system, run)).toBe('running')
    gate.open()
    await system.settle()
    expect([done, await statusOf(system, run), system.engine.activeRunCount]).toEqual([['first'], 'paused', 0])
    await system.crash()
    await system.advance('30d')
    expect([done, await statusOf(system, run)]).toEqual([['first'], 'paused'])
    await resume(system, run)
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'ok' })
    expect(done).toEqual(['first', 'second'])
    await system.close()
  })

  test('[G12] a run that is resumed before its step has ended misses nothing', async () => {
    const { done, gate, source } = twoSteps()
    const system = await startTestSystem(source, store())
    const run = await system.start('work')
    await system.settle()
    await pause(system, run)
    await resume(system, run)
    gate.open()
    await system.settle()
    expect([done, await statusOf(system, run)]).toEqual([['first', 'second'], 'success'])
    await system.close()
  })

  test('[G12] a sleep and a timeout wait for the resume, and an event that came meanwhile counts', async () => {
    const answer = fn('answer', {}, async ({ step }) => {
      const { status } = await step.waitForEvent('mail', { event: 'mail.read', timeout: '1h' })
      await step.sleep('nap', '1h')
      return status
    })
    const system = await startTestSystem({ name: 'mail', events: { 'mail.read': null }, functions: [answer] }, store())
    const [heard, unheard] = [await system.start('answer'), await system.start('answer')]
    await system.settle()
    await pause(system, heard)
    await system.advance('30m')
    await system.send({ type: 'mail.read', data: {} })
    await system.settle()
    // The other one was not paused, and has continued.
    expect(await statusOf(system, heard)).toBe('paused')
    await pause(system, unheard)
    await system.advance('2h')
    expect([await statusOf(system, heard), await statusOf(system, unheard)]).toEqual(['paused', 'paused'])
    await resume(system, heard)
    await resume(system, unheard)
    await system.settle()
    expect(await system.look(unheard)).toMatchObject({ status: 'success', output: 'received' })
    expect(await statusOf(system, heard)).toBe('waiting')
    await system.advance('1h')
    expect(await system.look(heard)).toMatchObject({ status: 'success', output: 'received' })
    await system.close()
  })

  test('[G12] a run with a later start begins at its instant, not when it is resumed', async () => {
    const sent: string[] = []
    const system = await startTestSystem(
      {
        name: 'later',
        events: { ping: null },
        functions: [
          fn('tell', {}, ({ emit }) => emit('ping', {}, { delay: '1h' })),
          fn('hear', { trigger: 'ping' }, () => void sent.push('ping')),
        ],
      },
      store(),
    )
    await system.start('tell')
    await system.settle()
    const query = { tenant: LOCAL_TENANT, status: 'queued', handler: null, before: null, limit: 10 } as const
    const [later] = await system.run(() => system.store.reader.runs(query))
    if (later === undefined) throw new Error('nothing is to begin later')
    await pause(system, later.id)
    await system.advance('30m')
    await resume(system, later.id)
    await system.advance('29m')
    expect(sent).toEqual([])
    await system.advance('1m')
    expect(sent).toEqual(['ping'])
    await system.close()
  })

  test('[G12] a paused run is cancelled at once, and ends with its deadline', async () => {
    const limited = fn('limited', { deadline: { finish: '1h' } }, ({ step }) => step.sleep('nap', '30m'))
    const system = await startTestSystem({ name: 'limits', functions: [limited] }, store())
    const [first, second] = [await system.start('limited'), await system.start('limited')]
    await system.settle()
    await pause(system, first)
    await pause(system, second)
    await system.run(() => system.engine.cancel(first, 'ana', 'no longer wanted'))
    await system.settle()
    expect(await statusOf(system, first)).toBe('cancelled')
    await system.advance('2h')
    expect(await system.look(second)).toMatchObject({ status: 'failed', error: { code: 'RUN_DEADLINE' } })
    await system.close()
  })
})
