/** Workers that operators pause or stop, and what continues when they are resumed. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { WorkerId } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore, type TestSystem } from '#testing/system.ts'

const twoSteps = () => {
  const done: string[] = []
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const work = fn('work', {}, async ({ step }) => {
    await step.run('first', async () => {
      await opened
      done.push('first')
    })
    return step.run('second', () => void done.push('second'))
  })
  return { done, open: () => open(), source: { name: 'steps', functions: [work] } }
}

const begin = (source: Parameters<typeof startTestSystem>[0], store: TestStore): Promise<TestSystem> =>
  startTestSystem(source, store, { name: 'ada' })

const workers = (system: TestSystem) => system.run(() => system.store.reader.workers({ after: null, limit: 9 }))
const own = async (system: TestSystem): Promise<WorkerId> => {
  const ada = (await workers(system)).find(({ info }) => info?.name === 'ada')
  if (ada === undefined) throw new Error('the worker has not beaten')
  return ada.id
}
const stop = (system: TestSystem) =>
  system.run(() => system.engine.fleet.stop({ by: 'ana', reason: 'the bank called' }))
const lift = (system: TestSystem) => system.run(() => system.engine.fleet.lift({ by: 'eve' }))

onEveryStore('fleet', (store) => {
  test('[I6] worker-6: a paused worker finishes its active work and takes nothing new until it is resumed', async () => {
    const { done, open, source } = twoSteps()
    const system = await begin(source, store())
    const first = await system.start('work')
    await system.settle()
    const id = await own(system)
    await system.run(() => system.engine.fleet.order('pause', id, { by: 'ana' }))
    expect((await workers(system)).map(({ info }) => info?.halt)).toEqual(['paused'])
    const second = await system.start('work')
    open()
    await system.advance('1h')
    expect(done).toEqual(['first', 'second'])
    expect([(await system.look(first)).status, (await system.look(second)).status]).toEqual(['success', 'queued'])
    await system.run(() => system.engine.fleet.order('resume', id, { by: 'ana' }))
    await system.settle()
    expect((await system.look(second)).status).toBe('success')
    expect((await workers(system)).map(({ info }) => info?.halt)).toEqual([undefined])
    await system.close()
  })

  test('[I6] worker-6: a stop lets the active step finish, begins no other, and the run leaves memory', async () => {
    const { done, open, source } = twoSteps()
    const system = await begin(source, store())
    const run = await system.start('work')
    await system.settle()
    expect(await stop(system)).toMatchObject({ by: 'ana', reason: 'the bank called' })
    const later = await system.start('work')
    open()
    await system.advance('1h')
    expect(done).toEqual(['first'])
    expect([(await system.look(run)).status, (await system.look(later)).status]).toEqual(['waiting', 'queued'])
    expect(system.engine.activeRunCount).toBe(0)
    await lift(system)
    await system.settle()
    // The finished step is answered from the ledger; the run that came meanwhile performs both.
    expect(done).toEqual(['first', 'second', 'first', 'second'])
    expect([(await system.look(run)).status, (await system.look(later)).status]).toEqual(['success', 'success'])
    await system.close()
  })

  test('[I6] worker-control-2: a stop outlives the worker: the next one begins nothing until it is lifted', async () => {
    const { done, open, source } = twoSteps()
    open()
    const system = await begin(source, store())
    await stop(system)
    const run = await system.start('work')
    await system.crash()
    await system.advance('1h')
    expect(done).toEqual([])
    expect(await system.run(() => system.engine.fleet.stopped())).toMatchObject({ by: 'ana' })
    const summary = { handler: 'work', leased: false, wakeAt: 0 }
    expect(await system.run(() => system.engine.fleet.lacks(summary))).toBe(
      'the stop to be lifted: ana stopped everything (the bank called)',
    )
    await lift(system)
    await system.settle()
    expect([done, (await system.look(run)).status]).toEqual([['first', 'second'], 'success'])
    await system.close()
  })

  test('[I6] a pause ends with the worker: the next one takes runs', async () => {
    const { open, source } = twoSteps()
    open()
    const system = await begin(source, store())
    const id = await own(system)
    await system.run(() => system.engine.fleet.order('pause', id, { by: 'ana' }))
    const run = await system.start('work')
    await system.crash()
    await system.settle()
    expect((await system.look(run)).status).toBe('success')
    await system.close()
  })

  test('[I6] code that is active between steps finishes, and yields when it asks for the next step', async () => {
    const done: string[] = []
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const think = fn('think', {}, async ({ step }) => {
      done.push('enter')
      await opened
      return step.run('write', () => void done.push('write'))
    })
    const whole = fn('whole', {}, async () => {
      await opened
      return 'done'
    })
    const system = await begin({ name: 'code', functions: [think, whole] }, store())
    const [thinking, entire] = [await system.start('think'), await system.start('whole')]
    await system.settle()
    await stop(system)
    open()
    await system.settle()
    expect(done).toEqual(['enter'])
    expect([(await system.look(thinking)).status, (await system.look(entire)).status]).toEqual(['waiting', 'success'])
    await lift(system)
    await system.settle()
    expect([done, (await system.look(thinking)).status]).toEqual([['enter', 'enter', 'write'], 'success'])
    await system.close()
  })

  test('[I6] what becomes due while everything is stopped is done when the stop is lifted: timers and schedules', async () => {
    const done: string[] = []
    const nap = fn('nap', {}, async ({ step }) => {
      await step.sleep('rest', '10m')
      done.push('nap')
    })
    const tick = fn('tick', {}, () => void done.push('tick'))
    const schedules = [{ name: 'hourly', every: '1h', function: 'tick' }]
    const system = await begin({ name: 'time', functions: [nap, tick], schedules }, store())
    await system.start('nap')
    await system.settle()
    await stop(system)
    await system.advance('59m')
    expect(done).toEqual([])
    await lift(system)
    await system.settle()
    expect(done).toEqual(['nap'])
    await system.advance('1h')
    expect(done).toEqual(['nap', 'tick'])
    await system.close()
  })

  test('[I7] circuit-4: a command closes a breaker, and calls pass again at once', async () => {
    let calls = 0
    let isWell = false
    const circuit = { key: 'bank', window: 4, minCalls: 2, failureRate: 0.5, openFor: '30s', whenOpen: 'fail' } as const
    const pay = fn('pay', { circuit, retry: { maxAttempts: 1 } }, ({ step }) => {
      const charge = (): string => {
        calls += 1
        if (!isWell) throw new Error('the bank does not answer')
        return 'paid'
      }
      return step.run('charge', charge, { retry: { maxAttempts: 1 } })
    })
    const system = await begin({ name: 'bank', functions: [pay] }, store())
    const payNow = async (): Promise<string> => {
      const run = await system.start('pay')
      await system.settle()
      return (await system.look(run)).status
    }
    const { circuits } = system.engine
    expect(await system.run(() => circuits.list(['bank']))).toEqual(new Map([['bank', { kind: 'closed', round: 0 }]]))
    for (let i = 0; i < 3; i++) expect(await payNow()).toBe('failed')
    expect(calls).toBe(2)
    expect((await system.run(() => circuits.list([]))).get('bank')).toMatchObject({ kind: 'open', round: 1 })
    isWell = true
    expect(await system.run(() => circuits.reset('bank', { by: 'ana' }))).toEqual({ kind: 'closed', round: 1 })
    expect([await payNow(), calls]).toEqual(['success', 3])
    // A second command changes nothing.
    expect(await system.run(() => circuits.reset('bank', { by: 'ana' }))).toEqual({ kind: 'closed', round: 1 })
    await system.close()
  })
})
