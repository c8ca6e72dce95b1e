/** Ledger suite, chapter 5b: events found by a value that they hold, and waits for a value among many other events (ledger-5, ledger-11). */
import { describe, expect, test } from 'vitest'
import type { RunId, TenantId } from '#model/kernel/ids.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import type { EventMatch, NewEvent } from '#ports/ledger.ts'
import { anAppend, anEvent, aWait, aWrite, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

const OTHER_TENANT = 'other' as TenantId
/** More than any store reads at once while it indexes the values of old events. */
const MANY = 2_300

const holding = (order: Json, type = 'order.paid'): NewEvent => anEvent({ type, data: { order } })
const match = (
  value: Json,
  { type = 'order.paid', path = 'order', after = 0 }: Partial<EventMatch> = {},
): EventMatch => ({
  ...{ type, path, after },
  value: canonical(value),
})

export const valuesSuite = (harness: LedgerHarness): void => {
  describe('events by value', () => queries(harness))
  describe('event against a wait for its value', () => races(harness))
}

const queries = (harness: LedgerHarness): void => {
  const found = async (
    matching: readonly EventMatch[],
    more: { limit?: number; newest?: boolean } = {},
    tenant = LOCAL_TENANT,
  ) => (await harness.ledger.events({ tenant, matching, limit: 100, ...more })).map(({ sequence }) => sequence)
  const write = async (...events: readonly NewEvent[]): Promise<readonly number[]> =>
    (await harness.written({ events })).sequences

  test('ledger-11: an event is found by a value, whether it was written before or after the first query for the path (13.2.4)', async () => {
    const [first] = await write(holding(7), holding(8))
    expect(await found([match(7)])).toEqual([first])
    const [, third] = await write(holding(8), holding(7), holding(7, 'order.sent'))
    expect(await found([match(7)])).toEqual([first, third])
    expect(await found([match(7, { after: first as number })])).toEqual([third])
    expect(await found([match(9)])).toEqual([])
    expect(await found([])).toEqual([])
  })

  test('ledger-11: many values are queried at once, each after its own sequence, and no event is returned twice', async () => {
    const [a, b, c] = (await write(holding(1), holding(2), holding(1, 'order.sent'))) as [number, number, number]
    const [d] = (await write(holding(1))) as [number]
    const sent = match(1, { type: 'order.sent' })
    expect(await found([match(1), match(2), sent])).toEqual([a, b, c, d])
    expect(await found([match(1, { after: a }), match(2, { after: b }), sent])).toEqual([c, d])
    expect(await found([match(1), match(1, { after: a })], { limit: 2 })).toEqual([a, d])
    expect(await found([match(1), match(2)], { limit: 2, newest: true })).toEqual([b, d])
  })

  test('the newest events of a type are found, oldest first', async () => {
    const [, second, third] = await write(holding(1), holding(2), holding(3))
    const query = { tenant: LOCAL_TENANT, types: ['order.paid'], newest: true }
    expect((await harness.ledger.events({ ...query, limit: 2 })).map(({ sequence }) => sequence)).toEqual([
      second,
      third,
    ])
    expect(await harness.ledger.events({ ...query, after: third as number, limit: 2 })).toEqual([])
  })

  test.each<Json>(['7', 7, null, false, [1, { b: 2, a: 1 }], { z: 1, a: [] }, 'x'.repeat(5_000)])(
    'ledger-11: %j matches only itself',
    async (value) => {
      const [sequence] = await write(holding(value), holding({ other: value }))
      expect(await found([match(value)])).toEqual([sequence])
      const [later] = await write(holding(value))
      expect(await found([match(value)])).toEqual([sequence, later])
    },
  )

  test('ledger-11: paths lead into objects, and an event without the field has no value there', async () => {
    const deep = { path: 'a.b' }
    const [, second] = await write(
      anEvent({ data: { a: 1 } }),
      anEvent({ data: { a: { b: 5 } } }),
      anEvent({ data: 5 }),
    )
    expect(await found([match(5, deep)])).toEqual([second])
    expect(await found([match(null, deep)])).toEqual([])
  })

  test('ledger-11: [S9] a tenant finds only its own events', async () => {
    const [own] = await write(holding(7), anEvent({ data: { order: 7 }, tenant: OTHER_TENANT }))
    expect(await found([match(7)])).toEqual([own])
    expect(await found([match(7)], {}, OTHER_TENANT)).toHaveLength(1)
  })

  test('values-1: old events are listed however many there are, and only as far back as a query asks', async () => {
    const sequences: number[] = []
    for (let i = 0; i < MANY; i += 100)
      sequences.push(...(await write(...Array.from({ length: 100 }, (_, k) => holding(i + k)))))
    const [half, last] = [sequences[MANY / 2] as number, sequences.at(-1) as number]
    expect(await found([match(MANY - 1, { after: half })])).toEqual([last])
    expect(await found([match(0, { after: half })])).toEqual([])
    expect(await found([match(0), match(MANY - 1)])).toEqual([sequences[0], last])
  })
}

const races = (harness: LedgerHarness): void => {
  const park = (run: RunId, wait: Parameters<typeof aWait>[0] = {}) =>
    aWrite(run, {
      release: true,
      opensWaits: [aWait({ path: 'order', value: '7', ...wait })],
      wakeAt: START + 1e6,
    })
  /** A read as a run does it, after which the ledger knows the values of all events after the base. */
  const look = async (base: number, value = 7) =>
    (await harness.ledger.events({ tenant: LOCAL_TENANT, matching: [match(value, { after: base })], limit: 100 }))
      .length

  test('ledger-5: an event with the value after the query and before the wait makes the run due at once', async () => {
    const run = await harness.createHeldRun()
    const { base } = await harness.load(run)
    await harness.written({ events: [holding(7)] })
    const seen = await look(base)
    await harness.written({ events: [holding(7)] })
    harness.expectSignalled(await harness.written({ writes: [park(run, { base, seen })] }), run)
    expect(await harness.isDue(run)).toBe(true)
  })

  test('ledger-5: events with other values, and events that it has counted, do not wake it', async () => {
    const run = await harness.createHeldRun()
    const { base } = await harness.load(run)
    await harness.written({ events: [holding(7), holding(8)] })
    const seen = await look(base)
    await harness.written({ events: [holding(8), anEvent({ data: { order: 7 }, tenant: OTHER_TENANT })] })
    expect(seen).toBe(1)
    await harness.written({ writes: [park(run, { base, seen })] })
    expect(await harness.load(run)).toMatchObject({ wakeAt: START + 1e6 })
  })

  test('ledger-5: a wait for a value that was never queried is due if it could have missed its event', async () => {
    const run = await harness.createHeldRun()
    const { base } = await harness.load(run)
    await harness.written({ events: [holding(7)] })
    await harness.written({ writes: [park(run, { base, seen: 0 })] })
    expect(await harness.isDue(run)).toBe(true)
  })

  test.each(['event first', 'wait first'])(
    'ledger-5: an event and a wait for its value in one batch, %s',
    async (order) => {
      const run = await harness.createHeldRun()
      const batch = [anAppend({ events: [holding(7), holding(8)] }), anAppend({ writes: [park(run)] })]
      for (const outcome of await harness.ledger.append(order === 'event first' ? batch : batch.reverse()))
        harness.expectWritten(outcome)
      expect(await harness.isDue(run)).toBe(true)
      expect(await look(0)).toBe(1)
    },
  )

  test('values-1: an event after the last wait for its path is found by the next wait', async () => {
    const [first, second] = [await harness.createHeldRun(), await harness.createHeldRun()]
    await harness.written({ writes: [park(first)] })
    await harness.written({ writes: [aWrite(first, { expectedVersion: 2, epoch: null, closesWaits: ['payment'] })] })
    await harness.written({ events: [holding(7)] })
    expect(await look(0)).toBe(1)
    await harness.written({ writes: [park(second, { seen: 0 })] })
    expect(await harness.isDue(second)).toBe(true)
  })

  if (!harness.capabilities.shared) return
  test('ledger-5: [Q7] an event, a query and a wait through two ledgers at once never miss each other', async () => {
    const other = await harness.second()
    for (let round = 0; round < 30; round++) {
      const run = await harness.createHeldRun()
      const { base } = await harness.load(run)
      const value = { path: `p${round % 3}`, value: '7' }
      const sought = { ...value, type: 'order.paid', after: base }
      const wait = async (): Promise<void> => {
        const seen = (await harness.ledger.events({ tenant: LOCAL_TENANT, matching: [sought], limit: 9 })).length
        await harness.ledger.append([anAppend({ writes: [park(run, { ...value, base, seen })] })])
        if (seen > 0) await harness.ledger.append([anAppend({ signals: [run] })])
      }
      const event = anEvent({ data: { p0: 7, p1: 7, p2: 7 } })
      await Promise.all([other.append([anAppend({ events: [event] })]), wait()])
      expect(await harness.isDue(run), `round ${round}`).toBe(true)
    }
  })
}
