/** Waiting for events and for time: before, after, any, all, matched, timed out. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { WaitOptions } from '#executors/workflow/step-api.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const waiter = (options: WaitOptions, prelude: 'none' | 'sleep' = 'none') => ({
  name: 'waits',
  events: { 'order.placed': null, 'order.paid': null, 'order.shipped': null },
  functions: [
    fn('wait', { trigger: 'order.placed' }, async ({ step }) => {
      if (prelude === 'sleep') await step.sleep('first', '1h')
      const found = await step.waitForEvent('answer', options)
      return { status: found.status, data: found.events.map((event) => event.data), missing: found.missing }
    }),
  ],
})

onEveryStore('waits', (store) => {
  test('[C1] a wait of days ends with the matching event and with no other', async () => {
    const system = await startTestSystem(waiter({ event: 'order.paid', match: 'payload.id' }), store())
    const { runs } = await system.send({ type: 'order.placed', data: { id: 7 } })
    const run = runs[0] as (typeof runs)[number]
    await system.advance('3d')
    await system.send({ type: 'order.paid', data: { id: 8 } })
    await system.settle()
    expect((await system.look(run)).status).toBe('waiting')
    await system.send({ type: 'order.paid', data: { id: 7, by: 'card' } })
    await system.settle()
    expect(await system.look(run)).toMatchObject({
      status: 'success',
      output: { status: 'received', data: [{ id: 7, by: 'card' }] },
    })
    await system.close()
  })

  test('[V17] wait-1: an event sent before the wait is delivered', async () => {
    const system = await startTestSystem(waiter({ event: 'order.paid', match: 'payload.id' }, 'sleep'), store())
    const { runs } = await system.send({ type: 'order.placed', data: { id: 1 } })
    await system.send({ type: 'order.paid', data: { id: 1 } })
    await system.advance('2h')
    expect(await system.look(runs[0] as (typeof runs)[number])).toMatchObject({
      status: 'success',
      output: { status: 'received' },
    })
    await system.close()
  })

  test('an event before the run does not count, and lookback none ignores events before the wait', async () => {
    const system = await startTestSystem(
      waiter({ event: 'order.paid', lookback: 'none', timeout: '1d' }, 'sleep'),
      store(),
    )
    await system.send({ type: 'order.paid', data: { n: 0 } })
    const { runs } = await system.send({ type: 'order.placed', data: { id: 1 } })
    await system.send({ type: 'order.paid', data: { n: 1 } })
    await system.advance('2h')
    const run = runs[0] as (typeof runs)[number]
    expect((await system.look(run)).status).toBe('waiting')
    await system.send({ type: 'order.paid', data: { n: 2 } })
    await system.settle()
    expect((await system.look(run)).output).toMatchObject({ status: 'received', data: [{ n: 2 }] })
    await system.close()
  })

  test('a lookback duration reaches back before the run', async () => {
    const system = await startTestSystem(waiter({ event: 'order.paid', lookback: '2h' }), store())
    await system.send({ type: 'order.paid', data: { n: 0 } })
    await system.advance('90m')
    await system.send({ type: 'order.paid', data: { n: 1 } })
    await system.advance('60m')
    const { runs } = await system.send({ type: 'order.placed', data: {} })
    await system.settle()
    expect((await system.look(runs[0] as (typeof runs)[number])).output).toMatchObject({
      status: 'received',
      data: [{ n: 1 }],
    })
    await system.close()
  })

  test('[A8] wait-2: all waits for one event of each type, any takes the first', async () => {
    const all = await startTestSystem(
      waiter({ allOf: ['order.paid', 'order.shipped'], match: 'payload.id', timeout: '1d' }),
      store(),
    )
    const { runs } = await all.send({ type: 'order.placed', data: { id: 1 } })
    const run = runs[0] as (typeof runs)[number]
    await all.send({ type: 'order.shipped', data: { id: 1, n: 1 } })
    await all.settle()
    expect((await all.look(run)).status).toBe('waiting')
    await all.send({ type: 'order.shipped', data: { id: 1, n: 2 } })
    await all.send({ type: 'order.paid', data: { id: 1 } })
    await all.settle()
    expect((await all.look(run)).output).toEqual({
      status: 'received',
      data: [{ id: 1, n: 1 }, { id: 1 }],
      missing: [],
    })
    await all.close()

    const any = await startTestSystem(waiter({ anyOf: ['order.paid', 'order.shipped'] }), store())
    const started = await any.send({ type: 'order.placed', data: {} })
    await any.send({ type: 'order.shipped', data: { first: true } })
    await any.send({ type: 'order.paid', data: { first: false } })
    await any.settle()
    expect((await any.look(started.runs[0] as (typeof runs)[number])).output).toMatchObject({ data: [{ first: true }] })
    await any.close()
  })

  test('[V24] a timeout ends the wait at its instant, never before, and says what is missing', async () => {
    const system = await startTestSystem(waiter({ allOf: ['order.paid', 'order.shipped'], timeout: '1h' }), store())
    const { runs } = await system.send({ type: 'order.placed', data: {} })
    const run = runs[0] as (typeof runs)[number]
    await system.send({ type: 'order.paid', data: { n: 1 } })
    await system.advance('59m')
    expect((await system.look(run)).status).toBe('waiting')
    await system.advance('1m')
    expect((await system.look(run)).output).toEqual({
      status: 'timed_out',
      data: [{ n: 1 }],
      missing: ['order.shipped'],
    })
    await system.close()
  })

  test('[L11] a condition in CEL chooses the event; one that fails does not match', async () => {
    const system = await startTestSystem(
      waiter({ event: 'order.paid', if: 'payload.amount > trigger.limit', timeout: '1d' }),
      store(),
    )
    const { runs } = await system.send({ type: 'order.placed', data: { limit: 100 } })
    const run = runs[0] as (typeof runs)[number]
    await system.send({ type: 'order.paid', data: { amount: 50 } })
    await system.send({ type: 'order.paid', data: { other: 1 } })
    await system.settle()
    expect((await system.look(run)).status).toBe('waiting')
    await system.send({ type: 'order.paid', data: { amount: 150 } })
    await system.settle()
    expect((await system.look(run)).output).toMatchObject({ status: 'received', data: [{ amount: 150 }] })
    await system.close()
  })

  test('[R11] waits and timers survive a crash and end on their own', async () => {
    const system = await startTestSystem(waiter({ event: 'order.paid', timeout: '2d' }, 'sleep'), store())
    const first = await system.send({ type: 'order.placed', data: { id: 1 } })
    const second = await system.send({ type: 'order.placed', data: { id: 2 } })
    await system.settle()
    await system.crash()
    await system.advance('2h')
    await system.crash()
    await system.send({ type: 'order.paid', data: { yes: true } })
    await system.settle()
    for (const receipt of [first, second]) {
      expect((await system.look(receipt.runs[0] as (typeof first.runs)[number])).output).toMatchObject({
        status: 'received',
      })
    }
    await system.close()
  })

  test('a wait beside a running step gets its event while the step is still active', async () => {
    let finish: (value: string) => void = () => {}
    const seen: string[] = []
    const system = await startTestSystem(
      {
        name: 'beside',
        events: { tick: null },
        functions: [
          fn('beside', {}, async ({ step }) => {
            const long = step.run(
              'long',
              () =>
                new Promise<string>((resolve) => {
                  finish = resolve
                }),
            )
            const tick = await step.waitForEvent('tick', { event: 'tick' })
            seen.push(tick.status)
            await step.sleep('short', '1m')
            seen.push('slept')
            return long
          }),
        ],
      },
      store(),
    )
    const run = await system.start('beside')
    await system.settle()
    await system.send({ type: 'tick', data: {} })
    await system.advance('2m')
    expect(seen).toEqual(['received', 'slept'])
    finish('at last')
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'at last' })
    await system.close()
  })
})
