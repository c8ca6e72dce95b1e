/** Events: admission, repeats, listeners, the limit of chains, causes. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { SystemIds } from '#adapters/system/ids.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

onEveryStore('events', (store) => {
  test('[A4] an unknown event and data that break the schema are refused, with a hint, and nothing is written', async () => {
    const system = await startTestSystem(
      {
        name: 'schema',
        events: { 'lead.found': z.object({ id: z.string(), score: z.number() }) },
        functions: [fn('hear', { trigger: 'lead.found' }, () => 1)],
      },
      store(),
    )
    await expect(system.send({ type: 'lead.fuond', data: {} })).rejects.toMatchObject({
      code: 'EVENT_UNKNOWN',
      detail: expect.stringContaining('did you mean lead.found?'),
    })
    await expect(system.send({ type: 'lead.found', data: { id: 1 } })).rejects.toMatchObject({
      code: 'EVENT_INVALID',
      detail: expect.stringContaining('/score'),
    })
    await expect(system.send({ type: 'Bad Name', data: {} })).rejects.toMatchObject({ code: 'EVENT_INVALID' })
    await expect(system.send({ type: 'trihand.run.failed', data: {} })).rejects.toMatchObject({
      code: 'EVENT_RESERVED',
    })
    await expect(system.send({ type: 'lead.found', data: { id: 'x', score: Number.NaN } })).rejects.toMatchObject({
      code: 'JSON_INVALID',
    })
    await expect(
      system.send({ type: 'lead.found', data: { id: 'x'.repeat(300_000), score: 1 } }),
    ).rejects.toMatchObject({ code: 'EVENT_TOO_LARGE' })
    await expect(
      system.send({ type: 'lead.found', id: 'a\u0000b', data: { id: 'x', score: 1 } }),
    ).rejects.toMatchObject({ code: 'EVENT_INVALID' })
    expect(await system.store.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 10 })).toEqual([])
    await system.close()
  })

  test('[R2] intake-1: the same id again, however late, gets the first receipt; other data under it is refused', async () => {
    const system = await startTestSystem(
      { name: 'dedupe', events: { ping: null }, functions: [fn('hear', { trigger: 'ping' }, () => 1)] },
      store(),
    )
    const first = await system.send({ type: 'ping', id: 'p-1', source: 'shop', data: { a: 1, b: 2 } })
    await system.advance('400d')
    const again = await system.send({ type: 'ping', id: 'p-1', source: 'shop', data: { b: 2, a: 1 } })
    expect(again).toEqual({ ...first, duplicate: true })
    await expect(system.send({ type: 'ping', id: 'p-1', source: 'shop', data: { a: 2 } })).rejects.toMatchObject({
      code: 'EVENT_ID_REUSED',
    })
    const elsewhere = await system.send({ type: 'ping', id: 'p-1', source: 'other', data: {} })
    expect(elsewhere.duplicate).toBe(false)
    await system.settle()
    expect((await system.store.reader.counts(LOCAL_TENANT)).get('success')).toBe(2)
    await system.close()
  })

  test('an event dated in the future wakes its waiting runs now', async () => {
    const system = await startTestSystem(
      {
        name: 'future',
        events: { go: null },
        functions: [
          fn('wait', {}, ({ step }) => step.waitForEvent('go', { event: 'go' }).then(({ status }) => status)),
        ],
      },
      store(),
    )
    const run = await system.start('wait')
    await system.settle()
    await system.send({ type: 'go', data: {}, time: system.clock.now() + 86_400_000 })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'received' })
    await system.close()
  })

  test('[A5][L11] route-1: one event starts every handler whose filter is true; the others record a reason', async () => {
    const system = await startTestSystem(
      {
        name: 'route',
        events: { order: null },
        functions: [
          fn('all', { trigger: 'order' }, () => 'all'),
          fn('large', { trigger: { event: 'order', filter: 'payload.amount > 100' } }, () => 'large'),
          fn(
            'either',
            {
              triggers: [
                { event: 'order', filter: 'payload.vip' },
                { event: 'order', filter: 'payload.amount == 5' },
              ],
            },
            () => 'either',
          ),
          fn('broken', { trigger: { event: 'order', filter: 'payload.missing > 1' } }, () => 'broken'),
          fn('odd', { trigger: { event: 'order', filter: 'payload.amount' } }, () => 'odd'),
        ],
      },
      store(),
    )
    const { runs, sequence } = await system.send({ type: 'order', data: { amount: 5, vip: false } })
    expect(runs).toHaveLength(2)
    const suppressed = await system.store.reader.suppressed(LOCAL_TENANT, sequence)
    expect(Object.fromEntries(suppressed.map(({ trigger, reason }) => [trigger, reason]))).toEqual({
      large: 'filter',
      broken: 'error',
      odd: 'error',
    })
    await system.close()
  })

  test('[A7] a run points to the event that caused it, and its events point to the run', async () => {
    const system = await startTestSystem(
      {
        name: 'cause',
        events: { first: null, second: null, third: null },
        functions: [
          fn('one', { trigger: 'first' }, ({ step }) => step.emit('send', { type: 'second', data: { n: 1 } })),
          fn('two', { trigger: 'second' }, ({ emit }) => emit('third', { n: 2 })),
        ],
      },
      store(),
    )
    const { runs, id } = await system.send({
      type: 'first',
      data: {},
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    })
    await system.settle()
    const [third, second] = await system.store.reader.events({
      tenant: LOCAL_TENANT,
      type: null,
      before: null,
      limit: 2,
    })
    expect(second).toMatchObject({
      type: 'second',
      correlationId: id,
      causationId: runs[0],
      hops: 1,
      chain: ['one'],
      traceparent: expect.stringContaining('0af765'),
    })
    expect(third).toMatchObject({ type: 'third', correlationId: id, hops: 2, chain: ['one', 'two'] })
    await system.close()
  })

  test('[R14][V18] trigger-1: a ping-pong stops after one round, and a declared re-entry after as many rounds as it allows', async () => {
    const pingPong = (allowReentry: number) => ({
      name: 'loop',
      events: { ping: null, pong: null },
      functions: [
        fn('a', { trigger: 'ping', allowReentry }, ({ emit }) => emit('pong')),
        fn('b', { trigger: 'pong', allowReentry }, ({ emit }) => emit('ping')),
      ],
    })
    for (const [allowed, runs] of [
      [0, 2],
      [2, 6],
      [100, 17],
    ] as const) {
      const system = await startTestSystem(pingPong(allowed), store())
      await system.send({ type: 'ping', data: {} })
      await system.settle()
      expect((await system.store.reader.counts(LOCAL_TENANT)).get('success')).toBe(runs)
      await system.close()
    }
  })

  test('[R3] a step that sends an undeclared event fails, and none of its events is sent', async () => {
    const system = await startTestSystem(
      {
        name: 'bad-emit',
        events: { good: null },
        functions: [
          fn('bad', {}, ({ step }) =>
            step.run('send', ({ emit }) => {
              emit('good', {})
              emit('unheard.of', {})
            }),
          ),
        ],
      },
      store(),
    )
    const run = await system.start('bad')
    await system.advance('1h')
    expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'EVENT_UNKNOWN' } })
    expect(await system.store.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 10 })).toEqual([])
    await system.close()
  })
})

test('[L11] a bad filter is refused when the system is defined, with its place', () => {
  const define = (filter: string) => () =>
    startTestSystem(
      { name: 'x', events: { e: null }, functions: [fn('f', { trigger: { event: 'e', filter } }, () => 1)] },
      {
        name: 'none',
        open: () => Promise.reject(new Error('not opened')),
        ids: () => new SystemIds(),
        remove: async () => {},
      },
    )
  return Promise.all(
    ['payload.a >', 'nobody.knows', 'payload.a.matches("x")', 'payload.a / payload.b', '[1,2].map(x, x)'].map(
      (filter) => expect(define(filter)()).rejects.toThrow(),
    ),
  )
})
