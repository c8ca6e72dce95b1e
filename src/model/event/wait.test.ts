/** Which events count for a wait, and when the wait is over. */
import { describe, expect, test } from 'vitest'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { aWait } from '#test/support/stories/run-story.ts'
import type { StoredEvent } from './event.ts'
import { fits, isOver, missing, openWait, receive } from './wait.ts'

const anEvent = (changes: Partial<StoredEvent> = {}): StoredEvent => ({
  id: 'evt-1',
  tenant: LOCAL_TENANT,
  source: 'test',
  type: 'mail.read',
  subject: null,
  time: 5,
  data: {},
  correlationId: 'evt-1',
  causationId: null,
  traceparent: null,
  hops: 0,
  chain: [],
  sequence: 101,
  ...changes,
})

describe('fits', () => {
  test('an event of an awaited type fits', () => expect(fits(openWait(aWait()), anEvent())).toBe(true))

  test('an event of another type does not fit', () =>
    expect(fits(openWait(aWait()), anEvent({ type: 'mail.lost' }))).toBe(false))

  test('wait-1: events at or before the base never count', () => {
    expect(fits(openWait(aWait()), anEvent({ sequence: 100 }))).toBe(false)
    expect(fits(openWait(aWait()), anEvent({ sequence: 99 }))).toBe(false)
  })

  test('wait-1: an event counts once', () => {
    const wait = receive(openWait(aWait({ mode: 'all', types: ['mail.read', 'mail.paid'] })), {
      type: 'mail.paid',
      sequence: 101,
    })
    expect(fits(wait, anEvent())).toBe(false)
    expect(fits(wait, anEvent({ sequence: 102 }))).toBe(true)
  })

  test('wait-1: when all types are awaited, one event of each type counts', () => {
    const wait = receive(openWait(aWait({ mode: 'all', types: ['mail.read', 'mail.paid'] })), {
      type: 'mail.read',
      sequence: 101,
    })
    expect(fits(wait, anEvent({ sequence: 102 }))).toBe(false)
    expect(fits(wait, anEvent({ sequence: 102, type: 'mail.paid' }))).toBe(true)
  })

  const matching = (value: string) => openWait(aWait({ match: { path: 'order.id', value } }))
  test.each<[string, string, Json, boolean]>([
    ['the same number', '7', { order: { id: 7 } }, true],
    ['another number', '7', { order: { id: 8 } }, false],
    ['a text that looks like the number', '7', { order: { id: '7' } }, false],
    ['the same object in another order of keys', '{"a":1,"b":2}', { order: { id: { b: 2, a: 1 } } }, true],
    ['null where null is wanted', 'null', { order: { id: null } }, true],
    ['nothing at that path', '7', { order: {} }, false],
    ['nothing where null is wanted', 'null', {}, false],
  ])('a match is compared with %s', (_, value, data, expected) =>
    expect(fits(matching(value), anEvent({ data }))).toBe(expected),
  )
})

describe('over', () => {
  const some = aWait({ mode: 'any', types: ['mail.read', 'mail.paid'] })
  const all = aWait({ mode: 'all', types: ['mail.read', 'mail.paid'] })
  const read = { type: 'mail.read', sequence: 101 }
  const paid = { type: 'mail.paid', sequence: 102 }

  test('wait-2: a wait for any event is over with its first event', () => {
    expect(isOver(openWait(some))).toBe(false)
    expect(isOver(receive(openWait(some), paid))).toBe(true)
  })

  test('wait-2: a wait for all types is over with one event of each type', () => {
    const first = receive(openWait(all), paid)
    expect([isOver(openWait(all)), isOver(first)]).toEqual([false, false])
    expect(missing(first)).toEqual(['mail.read'])
    expect(isOver(receive(first, read))).toBe(true)
    expect(missing(receive(first, read))).toEqual([])
  })

  test('wait-1: received events keep the order in which they came, and the wait before is not changed', () => {
    const opened = openWait(all)
    expect(receive(receive(opened, paid), read).received).toEqual([paid, read])
    expect(opened.received).toEqual([])
  })
})
