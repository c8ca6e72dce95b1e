/** Ledger suite, chapter 4: events, their sequences and identities, the runs they start, and how they are queried. */
import { describe, expect, test } from 'vitest'
import type { TenantId } from '#model/kernel/ids.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Append } from '#ports/ledger.ts'
import { aCreation, anAppend, anEvent, newRun, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

const OTHER_TENANT = 'other' as TenantId

export const eventsSuite = (harness: LedgerHarness): void => {
  describe('events', () => writing(harness))
  describe('event identity', () => identities(harness))
  describe('event queries', () => queries(harness))
  describe('event cursors', () => cursors(harness))
  if (harness.capabilities.openAt !== undefined) describe('far sequences', () => farSequences(harness))
}

const writing = (harness: LedgerHarness): void => {
  test('an event is stored with all its attributes', async () => {
    const { event } = anEvent({
      subject: 'order/7',
      time: START - 5,
      data: { order: 7, lines: [{ price: 1.5 }, null, true] },
      correlationId: 'another-event',
      causationId: 'run_1/step',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      hops: 3,
      chain: ['a', 'b'],
      requesters: ['ana', 'bo"b\n\u0000'],
    })
    const { sequences, position } = await harness.written({ events: [anEvent(event)] })
    expect(position).toBe(sequences[0])
    expect(await harness.ledger.events({ tenant: LOCAL_TENANT, limit: 10 })).toEqual([
      { ...event, sequence: sequences[0] },
    ])
  })

  test('a run that an event starts keeps the people who requested it, and its claim returns them (14.5)', async () => {
    const { event } = anEvent({ requesters: ['ana'] })
    const run = newRun()
    const { sequences } = await harness.written({ events: [anEvent(event)], writes: [aCreation(run, { event: 0 })] })
    const stored = { ...event, sequence: sequences[0] }
    const { events = [stored] } = await harness.ledger.claim({ worker: newWorker(), now: START, limit: 1 })
    expect(events).toEqual([stored])
    expect(await harness.ledger.events({ tenant: LOCAL_TENANT, limit: 10 })).toEqual([stored])
  })

  test('sequences increase, within an append and from one to the next', async () => {
    const first = await harness.written({ events: [anEvent(), anEvent()] })
    const second = await harness.written({ events: [anEvent()] })
    const sequences = [...first.sequences, ...second.sequences]
    expect(sequences).toHaveLength(3)
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b))
    expect(first.sequences[0]).toBeGreaterThan(0)
  })

  test('a run that an event starts records its sequence and looks no further back', async () => {
    const [run, later] = [newRun(), newRun()]
    const first = await harness.written({
      events: [anEvent(), anEvent(), anEvent()],
      writes: [aCreation(run, { event: 1 })],
    })
    expect(await harness.load(run)).toMatchObject({ event: first.sequences[1], base: first.sequences[1] })
    await harness.written({ events: [anEvent()] })
    const second = await harness.written({ writes: [aCreation(later)] })
    expect(await harness.load(later)).toMatchObject({ event: null, base: second.position })
    expect(second.position).toBeGreaterThan(first.position)
  })

  test('a run may be started later by an event that is already in the ledger', async () => {
    const run = newRun()
    const { sequences } = await harness.written({ events: [anEvent(), anEvent()] })
    const sequence = sequences[0] as number
    await harness.written({ events: [anEvent()], writes: [aCreation(run, { sequence })] })
    expect(await harness.load(run)).toMatchObject({ event: sequence, base: sequence })
  })

  test('an event starts a handler once: a second run of it is refused, with its whole append', async () => {
    const [first, second, third, fourth] = [newRun(), newRun(), newRun(), newRun()]
    const { sequences } = await harness.written({ events: [anEvent()], writes: [aCreation(first, { event: 0 })] })
    const sequence = sequences[0] as number
    const again = [aCreation(second, { sequence })]
    const twice = [aCreation(third, { event: 0 }), aCreation(fourth, { event: 0 })]
    // No code of ours does this: some stores answer with a conflict, others with the error of their index.
    const kindOf = (append: Partial<Append>): Promise<string> =>
      harness.append(append).then(
        ({ kind }) => kind,
        () => 'refused',
      )
    expect(await kindOf({ writes: again })).not.toBe('written')
    expect(await kindOf({ events: [anEvent()], writes: twice })).not.toBe('written')
    const others = await harness.ledger.load([second, third, fourth])
    expect(others.every((record) => record == null)).toBe(true)
    expect(await harness.ledger.events({ tenant: LOCAL_TENANT, limit: 10 })).toHaveLength(1)
  })
}

const cursors = (harness: LedgerHarness): void => {
  test.each(['types', 'matching'] as const)(
    'a reader that continues from the last settled event misses no event that was being written, by %s',
    async (by) => {
      const sent: string[] = []
      const writing = Array.from({ length: 60 }, async () => {
        const entry = anEvent({ data: { shop: 'ours' } })
        sent.push(entry.event.id)
        await harness.written({ events: [entry] })
      })
      const seen: string[] = []
      let after = 0
      const readOn = async (): Promise<void> => {
        const { type } = anEvent().event
        const sought =
          by === 'types' ? { types: [type] } : { matching: [{ type, path: 'shop', value: '"ours"', after }] }
        const page = await harness.ledger.events({ tenant: LOCAL_TENANT, ...sought, after, settled: true, limit: 7 })
        seen.push(...page.map(({ id }) => id))
        after = page.at(-1)?.sequence ?? after
      }
      const all = Promise.all(writing)
      for (let i = 0; i < 20; i++) await readOn()
      await all
      while (seen.length < sent.length) {
        const before = seen.length
        await readOn()
        if (seen.length === before) break
      }
      expect([...seen].sort()).toEqual([...sent].sort())
    },
  )
}

const identities = (harness: LedgerHarness): void => {
  test('[R2] an event with a known tenant, source and id is refused, and the answer names the first one and its runs', async () => {
    const runs = [newRun(), newRun()]
    const first = anEvent()
    const { sequences } = await harness.written({
      events: [first],
      writes: runs.map((run, i) => aCreation(run, { event: 0, handler: `handler-${i}` })),
    })
    const again = anEvent({ ...first.event, type: 'order.refunded', data: 'other' })
    const outcome = await harness.append({ events: [again], writes: [aCreation(newRun(), { event: 0 })] })
    expect(outcome).toMatchObject({
      kind: 'conflict',
      reason: 'taken',
      sequence: sequences[0],
      dataHash: first.dataHash,
    })
    expect(outcome.kind === 'conflict' && outcome.reason === 'taken' && [...outcome.runs].sort()).toEqual(runs)
  })

  test('[R2] of two appends in one batch with the same event the first wins', async () => {
    const [event, run] = [anEvent(), newRun()]
    const outcomes = await harness.ledger.append([
      anAppend({ events: [event], writes: [aCreation(run, { event: 0 })] }),
      anAppend({ events: [event], writes: [aCreation(newRun(), { event: 0 })] }),
    ])
    const { sequences } = harness.expectWritten(outcomes[0])
    expect(outcomes[1]).toEqual({
      kind: 'conflict',
      reason: 'taken',
      sequence: sequences[0],
      dataHash: event.dataHash,
      runs: [run],
    })
  })

  test('[R2] the same id from another source or tenant is a different event', async () => {
    const { event } = anEvent()
    await harness.written({ events: [anEvent(event)] })
    await harness.written({ events: [anEvent({ ...event, source: 'elsewhere' })] })
    await harness.written({ events: [anEvent({ ...event, tenant: OTHER_TENANT })] })
    expect(await harness.ledger.events({ tenant: LOCAL_TENANT, limit: 10 })).toHaveLength(2)
    expect(await harness.ledger.events({ tenant: OTHER_TENANT, limit: 10 })).toHaveLength(1)
  })
}

const queries = (harness: LedgerHarness): void => {
  /** Six events: paid, sent, paid (other tenant), refunded, paid, sent. */
  const writeSix = async (): Promise<number[]> => {
    const types = ['order.paid', 'invoice.sent', 'order.paid', 'order.refunded', 'order.paid', 'invoice.sent']
    const sequences: number[] = []
    for (const [i, type] of types.entries()) {
      const tenant = i === 2 ? OTHER_TENANT : LOCAL_TENANT
      sequences.push(...(await harness.written({ events: [anEvent({ type, tenant })] })).sequences)
    }
    return sequences
  }
  const found = async (
    query: { types?: string[]; after?: number; sequences?: number[]; limit?: number },
    tenant = LOCAL_TENANT,
  ) => (await harness.ledger.events({ tenant, limit: 100, ...query })).map((event) => event.sequence)

  test('events are found by type, oldest first', async () => {
    const [first, second, , fourth, fifth, sixth] = await writeSix()
    expect(await found({ types: ['order.paid'] })).toEqual([first, fifth])
    expect(await found({ types: ['invoice.sent', 'order.refunded'] })).toEqual([second, fourth, sixth])
    expect(await found({ types: ['order.paid', 'order.paid'] })).toEqual([first, fifth])
    expect(await found({ types: ['order'] })).toEqual([])
    expect(await found({ types: [] })).toEqual([])
  })

  test('events are found after a sequence, which is excluded', async () => {
    const [first, , , , fifth] = await writeSix()
    expect(await found({ types: ['order.paid'], after: first as number })).toEqual([fifth])
    expect(await found({ types: ['order.paid'], after: (first as number) - 1 })).toEqual([first, fifth])
    expect(await found({ types: ['order.paid'], after: fifth as number })).toEqual([])
  })

  test('a query returns the oldest events up to its limit', async () => {
    const [first, second, , fourth] = await writeSix()
    expect(await found({ types: ['invoice.sent', 'order.refunded', 'order.paid'], limit: 3 })).toEqual([
      first,
      second,
      fourth,
    ])
  })

  test('events are found by their sequences, oldest first, and unknown ones are left out', async () => {
    const [first, , third, fourth, , sixth] = (await writeSix()) as [number, number, number, number, number, number]
    expect(await found({ sequences: [sixth, first, fourth, first, third, sixth + 1000] })).toEqual([
      first,
      fourth,
      sixth,
    ])
    expect(await found({ sequences: [] })).toEqual([])
  })

  test('a tenant finds only its own events', async () => {
    const [, , third] = await writeSix()
    expect(await found({ types: ['order.paid'] }, OTHER_TENANT)).toEqual([third])
    expect(await found({}, OTHER_TENANT)).toEqual([third])
  })
}

const farSequences = (harness: LedgerHarness): void => {
  test.each([2 ** 31 - 1, 2 ** 40])('[Q31] events follow a last sequence of %d', async (last) => {
    const opened = await harness.capabilities.openAt?.(last)
    if (opened === undefined) throw new Error('openAt opened nothing')
    const { ledger } = opened
    const run = newRun()
    const outcomes = await ledger.append([anAppend({ events: [anEvent()], writes: [aCreation(run, { event: 0 })] })])
    const { sequences, position } = harness.expectWritten(outcomes[0])
    expect({ sequences, position }).toEqual({ sequences: [last + 1], position: last + 1 })
    expect(await ledger.load([run])).toMatchObject([{ event: last + 1, base: last + 1 }])
    expect(await ledger.events({ tenant: LOCAL_TENANT, types: ['order.paid'], after: last, limit: 1 })).toMatchObject([
      { sequence: last + 1 },
    ])
    await opened.close()
  })
}
