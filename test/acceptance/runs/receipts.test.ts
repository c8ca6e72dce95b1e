/** An id that a caller received exists, even while its run waits for its turn behind flow control. */
import { expect, test } from 'vitest'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import type { Json } from '#model/kernel/json.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

onEveryStore('receipts', (store) => {
  const begin = (options: Partial<FunctionOptions<Json>>) =>
    startTestSystem(
      {
        name: 'receipts',
        events: { 'order.placed': null },
        functions: [
          fn('work', { trigger: 'order.placed', ...options }, async ({ input, step }) => {
            await step.sleep('an hour', '1h')
            return input
          }),
        ],
      },
      store(),
    )

  test('[F2] flow-outcome-1: the result of a run that waits behind another is queued, and then its own (13.2.1)', async () => {
    const system = await begin({ overlap: 'buffer_all' })
    await system.start('work', 1)
    const waiting = await system.start('work', 2)
    expect(await system.look(waiting)).toMatchObject({ status: 'queued', error: null })
    await system.crash()
    expect(await system.look(waiting)).toMatchObject({ status: 'queued' })
    await system.advance('3h')
    expect(await system.look(waiting)).toMatchObject({ status: 'success', output: 2 })
    expect(await system.engine.queued(waiting)).toBeNull()
    await expect(system.look('run_00000000000070008000000000000000' as never)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await system.close()
  })

  test('[F2] flow-outcome-1: a call that is held by a pause is queued, and commands that need a run say so (13.2.1)', async () => {
    const system = await begin({ whilePaused: 'hold' })
    await system.run(() => system.engine.pauseHandler('work', 'ana'))
    const run = await system.start('work', 1)
    expect(await system.look(run)).toMatchObject({ status: 'queued' })
    await expect(system.run(() => system.engine.retry(run, 'ana'))).rejects.toMatchObject({ code: 'RUN_QUEUED' })
    await system.run(() => system.engine.resumeHandler('work', 'ana'))
    await system.advance('2h')
    expect(await system.look(run)).toMatchObject({ status: 'success' })
    await system.close()
  })

  test('[F2] flow-outcome-1: a key held by a queued event answers a caller with an id that exists (13.2.1)', async () => {
    const system = await begin({ overlap: 'buffer_one', idempotency: { key: 'payload.id' } })
    await system.start('work', { id: 1 })
    await system.send({ type: 'order.placed', data: { id: 2 } })
    await system.settle()
    const promised = await system.start('work', { id: 2 })
    expect(await system.look(promised)).toMatchObject({ status: 'queued' })
    // A newer call takes the only place in the queue: the promised run is withdrawn, with the reason.
    await system.start('work', { id: 3 })
    await system.settle()
    expect(await system.look(promised)).toMatchObject({ status: 'cancelled', error: { code: 'RUN_EXISTS' } })
    await system.close()
  })

  test('[K5] a call that waits for its turn can be cancelled: it never begins (13.2.1)', async () => {
    const system = await begin({ overlap: 'buffer_all' })
    const first = await system.start('work', 1)
    const waiting = await system.start('work', 2)
    await system.run(() => system.engine.cancel(waiting, 'ana', 'not needed'))
    expect(await system.look(waiting)).toMatchObject({ status: 'cancelled', error: { code: 'RUN_CANCELLED' } })
    await system.advance('5h')
    expect(await system.look(first)).toMatchObject({ status: 'success' })
    expect(await system.look(waiting)).toMatchObject({ status: 'cancelled' })
    await system.close()
  })

  test('[L2] flow-outcome-2: a receipt names handlers that decide later, and the event shows their decision (13.2.1)', async () => {
    const system = await begin({ overlap: 'skip' })
    const [first, second] = [await system.send({ type: 'order.placed' }), await system.send({ type: 'order.placed' })]
    expect(first).toMatchObject({ runs: [], pending: ['work'], suppressed: [] })
    await system.settle()
    const [one, two] = await system.store.ledger.events({
      tenant: system.engine.tenant,
      sequences: [first.sequence, second.sequence],
      limit: 2,
    })
    if (one === undefined || two === undefined) throw new Error('both events are there')
    expect(await system.run(() => system.engine.trail(one))).toEqual({ pending: [], suppressed: [] })
    const { pending, suppressed } = await system.run(() => system.engine.trail(two))
    expect([pending, suppressed]).toMatchObject([[], [{ trigger: 'work', reason: 'overlap' }]])
    await system.close()
  })

  test('[H4] flow-outcome-2: an event that is gathered with others names the run that includes it (13.2.1)', async () => {
    const system = await begin({ batch: { maxSize: 3, maxWait: '1m' } })
    const sent = []
    for (const n of [1, 2]) sent.push(await system.send({ type: 'order.placed', data: { n } }))
    await system.settle()
    const sequences = sent.map(({ sequence }) => sequence)
    const events = await system.store.ledger.events({ tenant: system.engine.tenant, sequences, limit: 2 })
    const trails = () => Promise.all(events.map((event) => system.run(() => system.engine.trail(event))))
    expect((await trails()).map(({ pending }) => pending)).toEqual([['work'], ['work']])
    await system.advance('2m')
    const [run] = await system.store.reader.runs({
      tenant: system.engine.tenant,
      status: null,
      handler: 'work',
      before: null,
      limit: 1,
    })
    expect(await trails()).toMatchObject([
      { pending: [], suppressed: [{ reason: 'joined', run: run?.id }] },
      { pending: [], suppressed: [] },
    ])
    await system.close()
  })
})
