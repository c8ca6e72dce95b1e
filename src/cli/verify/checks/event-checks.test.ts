/** Events, the runs they start, the runs that emit them and the waits for them, each with one planted fault. */
import { expect, test } from 'vitest'
import type { WaitSpec } from '#model/event/wait.ts'
import { aLedger, judge } from '#test/support/judged.ts'
import { aWait, fact, started } from '#test/support/stories/run-story.ts'

const finished = [started(), fact('run.completed')]

test('[V3] event data that was changed after it was stored is found (13.3.1)', async () => {
  const ledger = await aLedger()
  await ledger.event({ data: { amount: 10 } })
  expect(await judge(ledger)).toEqual([])
  await ledger.sql(`update event set data = '{"amount":1000000}'`)
  expect(await judge(ledger)).toEqual([{ id: 'V3', stream: null, seq: null }])
})

test('[V15] a run whose event does not exist is found', async () => {
  const ledger = await aLedger()
  const event = await ledger.event()
  const stream = await ledger.run(finished, { event })
  expect(await judge(ledger)).toEqual([])
  await ledger.sql('delete from event')
  expect(await judge(ledger)).toEqual([{ id: 'V15', stream, seq: null }])
})

test("[V15] a run that another tenant's event started is found", async () => {
  const ledger = await aLedger()
  const event = await ledger.event({ tenant: 'acme' })
  const stream = await ledger.run(finished, { event })
  expect(await judge(ledger)).toEqual([{ id: 'V15', stream, seq: null }])
})

test('[V15] an event that started one handler twice is found when the unique index is gone', async () => {
  const ledger = await aLedger()
  const event = await ledger.event()
  await ledger.sql('drop index stream_event')
  await ledger.run(finished, { event })
  await ledger.run(finished, { event, handler: 'another' })
  expect(await judge(ledger)).toEqual([])
  await ledger.run(finished, { event })
  expect(await judge(ledger)).toEqual([{ id: 'V15', stream: null, seq: null }])
})

test('[V15] a suppression of an event that did start a run, or of no event, is found', async () => {
  const ledger = await aLedger()
  const event = await ledger.event()
  const stream = await ledger.run(finished, { event })
  await ledger.suppressed(event, 'another')
  expect(await judge(ledger)).toEqual([])
  await ledger.suppressed(event, 'send-invoice')
  await ledger.suppressed(77, 'send-invoice')
  expect(await judge(ledger)).toEqual(
    expect.arrayContaining([
      { id: 'V15', stream, seq: null },
      { id: 'V15', stream: null, seq: null },
    ]),
  )
})

test.each([
  ['step', [started(), fact('step.completed', { events: ['evt-1'] }), fact('run.completed')]],
  ['run', [started(), fact('step.completed'), fact('run.completed', { events: ['evt-1'] })]],
] as const)('[V16] an event that the result of a %s names and that does not exist is found', async (_, facts) => {
  const ledger = await aLedger()
  const id = ledger.newRun()
  await ledger.event({ id: 'evt-1', causation: id })
  await ledger.run(facts, { id })
  expect(await judge(ledger)).toEqual([])
  await ledger.sql('delete from event')
  expect(await judge(ledger)).toEqual([{ id: 'V16', stream: id, seq: facts.findIndex((one) => 'events' in one) }])
})

test('[V16] an event that claims to be emitted by a run, which has no such result, is found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run(finished)
  await ledger.event({ causation: stream })
  expect(await judge(ledger)).toEqual([{ id: 'V16', stream, seq: null }])
})

test('[V16] an event that reports a run’s end must be named after the fact that ended it', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run(finished)
  await ledger.event({ id: `${stream}/${finished.length - 1}`, causation: stream })
  await ledger.event({ id: `${stream}/${finished.length - 1}/order.failed`, causation: stream })
  expect(await judge(ledger)).toEqual([])
  await ledger.event({ id: `${stream}/0`, causation: stream })
  expect(await judge(ledger)).toEqual([{ id: 'V16', stream, seq: null }])
  await ledger.event({ id: `${stream}/0/order.failed`, causation: stream })
  expect(await judge(ledger)).toHaveLength(2)
})

test('[V16] an event whose run does not exist is found', async () => {
  const ledger = await aLedger()
  await ledger.event({ causation: ledger.newRun() })
  await ledger.event({ causation: 'a caller outside' })
  expect(await judge(ledger)).toEqual([{ id: 'V16', stream: null, seq: null }])
})

test("[V16] another tenant's event with the same id does not count as the emitted one", async () => {
  const ledger = await aLedger()
  await ledger.event({ id: 'evt-1', tenant: 'acme' })
  const stream = await ledger.run([started(), fact('run.completed', { events: ['evt-1'] })])
  expect(await judge(ledger)).toEqual([{ id: 'V16', stream, seq: 1 }])
})

test.each([
  ['a chain of another length', 'hops = 2'],
  ['more hops than any limit', `hops = 1001, chain = '${JSON.stringify(Array(1_001).fill('order'))}'`],
  ['a chain that cannot be read', "chain = 'order'"],
  ['a chain that is no list', "chain = '{}'"],
])('[V18] %s is found', async (_, fault) => {
  const ledger = await aLedger()
  await ledger.event({ chain: ['order'] })
  expect(await judge(ledger)).toEqual([])
  await ledger.sql(`update event set ${fault}`)
  expect(await judge(ledger)).toEqual([{ id: 'V18', stream: null, seq: null }])
})

const wait = (changes: Partial<WaitSpec>) =>
  fact('wait.opened', { wait: aWait({ types: ['order.paid'], base: 0, ...changes }) })

test.each<readonly [string, Partial<WaitSpec>]>([
  ['its type', {}],
  ['its type and a text in it', { match: { path: 'city', value: '"Lima"' } }],
  ['its type and an object in it', { match: { path: 'order', value: '{"id":7,"lines":[1,null]}' } }],
])('[V17] a parked run is found if there is an event that matches %s', async (_, changes) => {
  const ledger = await aLedger()
  const stream = await ledger.run([started(), wait(changes)])
  await ledger.event({ type: 'order.paid', data: { city: 'Lima', order: { lines: [1, null], id: 7 } } })
  expect(await judge(ledger)).toEqual([{ id: 'V17', stream, seq: 1 }])
})

test.each<readonly [string, Partial<WaitSpec>]>([
  ['is of another type', { types: ['order.lost'] }],
  ['came before the base', { base: 1 }],
  ['has another value', { match: { path: 'city', value: '"Cusco"' } }],
  ['has no such field', { match: { path: 'city.name', value: '"Lima"' } }],
  ['may not fit the condition', { condition: 'event.data.city == "Cusco"' }],
])('an event that %s is not missed by the wait', async (_, changes) => {
  const ledger = await aLedger()
  await ledger.run([started(), wait(changes)])
  await ledger.event({ type: 'order.paid', data: { city: 'Lima' } })
  expect(await judge(ledger)).toEqual([])
})

test.each([
  ['is due', { wakeAt: 10 }],
  ['is held', { lease: 'wrk-1', wakeAt: null }],
] as const)('a run that %s has not missed its event', async (_, options) => {
  const ledger = await aLedger()
  await ledger.run([started(), wait({})], options)
  await ledger.event({ type: 'order.paid' })
  expect(await judge(ledger)).toEqual([])
})

test("another tenant's event is not missed by any wait", async () => {
  const ledger = await aLedger()
  await ledger.run([started(), wait({})])
  await ledger.event({ type: 'order.paid', tenant: 'acme' })
  expect(await judge(ledger)).toEqual([])
})

const received = (step: string, sequence: number, others: readonly number[] = []) =>
  fact('wait.received', {
    step,
    event: { type: 'order.paid', sequence },
    ...(others.length > 0 && { others: others.map((one) => ({ type: 'order.paid', sequence: one })) }),
  })

test('[V17] an event that two waits of one run received is found; an event received before is not missed by a later wait (14.3)', async () => {
  const ledger = await aLedger()
  const sequence = await ledger.event({ type: 'order.paid' })
  const fresh = (step: string) =>
    fact('wait.opened', { step, wait: aWait({ types: ['order.paid'], base: 0, fresh: true }) })
  await ledger.run([started(), fresh('a'), received('a', sequence), fresh('b')])
  expect(await judge(ledger)).toEqual([])
  const stream = await ledger.run([
    started(),
    fresh('a'),
    received('a', sequence),
    fresh('b'),
    received('b', sequence),
    fact('run.completed'),
  ])
  expect(await judge(ledger)).toEqual([{ id: 'V17', stream, seq: 4 }])
})

test('[V17] a wait that an older version opened may have received the same event as another one (14.3)', async () => {
  const ledger = await aLedger()
  const sequence = await ledger.event({ type: 'order.paid' })
  const old = (step: string) => fact('wait.opened', { step, wait: aWait({ types: ['order.paid'], base: 0 }) })
  await ledger.run([
    started(),
    old('a'),
    received('a', sequence),
    old('b'),
    received('b', sequence),
    fact('run.completed'),
  ])
  expect(await judge(ledger)).toEqual([])
})

test('[V17] a wait that received more events at once than its limit is found (14.3)', async () => {
  const ledger = await aLedger()
  const first = await ledger.event({ type: 'order.paid' })
  const second = await ledger.event({ type: 'order.paid' })
  const some = (most: number) =>
    fact('wait.opened', { step: 'a', wait: aWait({ types: ['order.paid'], base: 0, fresh: true, most }) })
  const end = fact('run.completed')
  await ledger.run([started(), some(2), received('a', first, [second]), end])
  expect(await judge(ledger)).toEqual([])
  const stream = await ledger.run([started(), some(1), received('a', first, [second]), end])
  expect(await judge(ledger)).toEqual([{ id: 'V17', stream, seq: 2 }])
})
