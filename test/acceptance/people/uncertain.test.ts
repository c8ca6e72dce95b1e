/** A person's decision on an uncertain step while the run is still in memory, because another of its steps is active. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { Inbox, person } from '#test/support/serving/inbox.ts'
import { answerStep } from '#test/support/step-answer.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const ana = person('ana', 'operators')

/** Pays once; the answer of the first payment never arrives. */
const shop = () => {
  const paid: string[] = []
  const pay = ({ effectKey }: { readonly effectKey: string }): Promise<string> | string => {
    paid.push(effectKey)
    return paid.length === 1 ? new Promise<string>(() => {}) : 'paid again'
  }
  const order = fn('order', {}, ({ step }) => step.run('pay', pay, { effect: 'once', timeout: '1h' }))
  return { paid, source: { name: 'doubt', functions: [order] } }
}

onEveryStore('doubt', (store) => {
  for (const verdict of ['happened', 'run_again', 'abort'] as const) {
    test(`[R6][V13] a decision before the run is parked continues the run: ${verdict}`, async () => {
      let tries = 0
      let finish: (result: string) => void = () => {}
      const charge = (): string => {
        tries += 1
        if (tries === 1) throw new Error('connection lost')
        return 'charged'
      }
      const pack = (): Promise<string> =>
        new Promise((resolve) => {
          finish = resolve
        })
      const order = fn('order', {}, ({ step }) =>
        Promise.all([step.run('charge', charge, { effect: 'once' }), step.run('pack', pack)]),
      )
      const system = await startTestSystem({ name: 'doubt', functions: [order] }, store())
      const run = await system.start('order')
      await system.settle()
      await system.run(() => answerStep(system.engine, run, 'charge', { verdict, by: 'ana', result: 'charged' }))
      finish('packed')
      await system.advance('1h')
      expect((await system.look(run)).status).toBe(verdict === 'abort' ? 'failed' : 'success')
      expect(tries).toBe(verdict === 'run_again' ? 2 : 1)
      await system.close()
    })
  }

  test.each([
    ['it_happened', { result: 'the receipt' }, { status: 'success', output: 'the receipt' }, 1],
    ['run_again', {}, { status: 'success', output: 'paid again' }, 2],
    ['abort', {}, { status: 'failed', output: null }, 1],
  ] as const)(
    '[R6][V10] uncertain-step-1: operators are asked whether it happened, and say %s, once, across crashes',
    async (action, fields, end, times) => {
      const { source, paid } = shop()
      const system = await startTestSystem(source, store())
      const inbox = new Inbox(system)
      const run = await system.start('order')
      await system.settle()
      await system.crash()
      const [task, ...others] = await inbox.of(ana)
      expect(others).toEqual([])
      expect(task).toMatchObject({ run, step: 'pay', type: 'decision', title: 'Did it happen? pay of order' })
      const { state } = await system.run(() => system.engine.tasks.show(task?.id as never))
      expect(state).toMatchObject({
        spec: { origin: 'uncertain', sections: [{ content: { idempotency_key: paid[0] } }] },
      })
      await system.crash()
      await system.advance('10d')
      expect((await system.look(run)).status).toBe('waiting')
      await inbox.decide(await inbox.only(), ana, { action, fields })
      await system.crash()
      await system.settle()
      expect(await system.look(run)).toMatchObject(end)
      expect(paid).toHaveLength(times)
      expect(await inbox.list()).toEqual([])
      await system.close()
    },
  )

  test('[R6] a decision continues a run whose other step is active', async () => {
    let finish: (result: string) => void = () => {}
    const paid: string[] = []
    const pack = (): Promise<string> =>
      new Promise((resolve) => {
        finish = resolve
      })
    const pay = () => (paid.push('') === 1 ? Promise.reject(new Error('connection lost')) : 'paid again')
    const both = fn('both', {}, ({ step }) =>
      Promise.all([step.run('pay', pay, { effect: 'once' }), step.run('pack', pack)]),
    )
    const system = await startTestSystem({ name: 'doubt', functions: [both] }, store())
    const inbox = new Inbox(system)
    const run = await system.start('both')
    await system.settle()
    await inbox.decide(await inbox.only(), ana, { action: 'run_again' })
    await system.settle()
    expect(paid).toHaveLength(2)
    finish('packed')
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: ['paid again', 'packed'] })
    await system.close()
  })

  test('[R6] uncertain-step-2: an answer by run and step is an answer on the task, which accepts no other (13.1.6)', async () => {
    const { source } = shop()
    const system = await startTestSystem(source, store())
    const inbox = new Inbox(system)
    const run = await system.start('order')
    // An answer lost without a crash: a timeout is an uncertain outcome too.
    await system.advance('2h')
    const task = await inbox.only()
    await system.run(() => answerStep(system.engine, run, 'pay', { verdict: 'happened', by: 'bo', result: 1 }))
    await expect(inbox.decide(task, ana, { action: 'abort' })).rejects.toMatchObject({ code: 'TASK_CLOSED' })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 1 })
    expect((await inbox.row(task))?.status).toBe('completed')
    await system.close()
  })

  test('[R6] a cancelled run withdraws its question; retried, it asks anew', async () => {
    const { source, paid } = shop()
    const system = await startTestSystem(source, store())
    const inbox = new Inbox(system)
    const run = await system.start('order')
    await system.advance('2h')
    const first = await inbox.only()
    await system.run(() => system.engine.cancel(run, 'bo', 'not now'))
    await system.settle()
    expect(await inbox.list()).toEqual([])
    await system.run(() => system.engine.retry(run, 'bo'))
    await system.settle()
    const second = await inbox.only()
    expect(second).not.toBe(first)
    await inbox.decide(second, ana, { action: 'it_happened', fields: { result: 'found it' } })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'found it' })
    expect(paid).toHaveLength(1)
    await system.close()
  })

  test('run-reopen-1: [R6] what a person refused cannot be done by an agent or service through a retry or a job (13.1.2)', async () => {
    const { source, paid } = shop()
    const system = await startTestSystem(source, store())
    const inbox = new Inbox(system)
    const run = await system.start('order')
    await system.advance('2h')
    await inbox.decide(await inbox.only(), ana, { action: 'abort' })
    await system.settle()
    for (const kind of ['agent', 'service'] as const) {
      const word = { action: 'retry', reason: null, by: 'robot', kind } as const
      const attempts: (() => Promise<unknown>)[] = [
        () => system.engine.retry(run, 'robot', kind),
        () => system.engine.applyBulkCommand(run, word),
      ]
      for (const attempt of attempts)
        await expect(system.run(attempt)).rejects.toMatchObject({ code: 'AGENT_CANNOT_DECIDE' })
    }
    await system.settle()
    expect([paid.length, (await system.look(run)).status]).toEqual([1, 'failed'])
    await system.run(() => system.engine.retry(run, 'ana', 'user'))
    await system.settle()
    expect((await system.look(run)).status).not.toBe('failed')
    await system.close()
  })
})
