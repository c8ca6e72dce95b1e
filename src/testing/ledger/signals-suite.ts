/**
 * Ledger suite, chapter 5: signals and waits; no wake is ever lost (ledger-5, ledger-6).
 *
 * "Due at once" means: a claim made at the instant of the append gets the run. How much a signal raises the counter is not specified.
 */
import { describe, expect, test } from 'vitest'
import type { RunId, TenantId } from '#model/kernel/ids.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import type { RunStatus } from '#model/run/status.ts'
import { aCreation, aFact, anAppend, anEvent, aWait, aWrite, newRun, newSession, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

export const signalsSuite = (harness: LedgerHarness): void => {
  describe('signals', () => signals(harness))
  describe('waits', () => waits(harness))
  describe('which events match', () => matches(harness))
  describe('event against wait', () => races(harness))
}

const signals = (harness: LedgerHarness): void => {
  test('ledger-6: a signal makes a parked run due at once', async () => {
    const run = await harness.createParkedRun()
    const child = await harness.createHeldRun()
    const outcome = await harness.written({
      writes: [aWrite(child, { facts: [aFact({ recordedAt: START + 20 })] })],
      signals: [run],
    })
    harness.expectSignalled(outcome, run)
    expect((await harness.load(run)).signal).toBeGreaterThan(0)
    expect(await harness.isDue(run, START + 20)).toBe(true)
  })

  test('ledger-6: a signal makes a run due that would have been woken later, and does not delay an earlier wake', async () => {
    const late = await harness.createParkedRun({ wakeAt: START + 1000 })
    const early = await harness.createParkedRun({ wakeAt: START - 1000 })
    await harness.written({ events: [anEvent()], signals: [late, early] })
    expect(await harness.isDue(early, START - 1000)).toBe(true)
    expect(await harness.isDue(late)).toBe(true)
  })

  test('ledger-6: a signal to a leased run makes it due at a release that has not seen it', async () => {
    const run = await harness.createHeldRun()
    harness.expectSignalled(await harness.written({ events: [anEvent()], signals: [run] }), run)
    expect(await harness.load(run)).toMatchObject({ wakeAt: null })
    expect(await harness.isDue(run, START + 1e6)).toBe(false)
    const outcome = await harness.written({
      writes: [aWrite(run, { release: true, seenSignal: 0, wakeAt: START + 1e6 })],
    })
    harness.expectSignalled(outcome, run)
    expect(await harness.isDue(run)).toBe(true)
  })

  test('ledger-6: a release that has seen the signal waits for its own wake', async () => {
    const run = await harness.createHeldRun()
    await harness.written({ events: [anEvent()], signals: [run] })
    const { signal } = await harness.load(run)
    await harness.written({ writes: [aWrite(run, { release: true, seenSignal: signal, wakeAt: START + 60 })] })
    expect(await harness.load(run)).toMatchObject({ lease: null, wakeAt: START + 60 })
  })

  test('ledger-6: a release without facts is also due at once if a signal arrived', async () => {
    const run = await harness.createHeldRun()
    await harness.written({ events: [anEvent()], signals: [run] })
    const { headHash } = await harness.load(run)
    await harness.written({ writes: [aWrite(run, { facts: [], headHash, release: true, seenSignal: 0 })] })
    expect(await harness.isDue(run)).toBe(true)
  })

  test('ledger-6: an external command that has not seen the signal does not undo it', async () => {
    const run = await harness.createParkedRun()
    await harness.written({ events: [anEvent()], signals: [run] })
    await harness.written({
      writes: [aWrite(run, { expectedVersion: 2, epoch: null, seenSignal: 0, wakeAt: START + 1e6 })],
    })
    expect(await harness.isDue(run)).toBe(true)
  })

  test('a claim returns the signal that a release must have seen', async () => {
    const run = await harness.createParkedRun()
    await harness.written({ events: [anEvent()], signals: [run] })
    const { claims } = await harness.ledger.claim({ worker: newWorker(), now: START, limit: 1 })
    const { signal } = await harness.load(run)
    expect(claims).toMatchObject([{ stream: run, version: 2, epoch: 2, signal }])
    await harness.written({
      writes: [aWrite(run, { expectedVersion: 2, epoch: 2, release: true, seenSignal: signal })],
    })
    expect(await harness.load(run)).toMatchObject({ lease: null, wakeAt: null })
  })

  test.each<RunStatus>(['success', 'partial', 'failed', 'cancelled', 'expired', 'quarantined'])(
    'a run that ended (%s) is not signalled',
    async (status) => {
      const run = await harness.createParkedRun({ status, opensWaits: [aWait()] })
      await harness.written({ events: [anEvent()], signals: [run] })
      expect(await harness.load(run)).toMatchObject({ signal: 0, wakeAt: null })
      expect(await harness.claimable(START + 1e9)).toEqual([])
    },
  )

  test('a run that ends is not due, even if it has not seen a signal', async () => {
    const run = await harness.createHeldRun()
    await harness.written({ events: [anEvent()], signals: [run] })
    await harness.written({ writes: [aWrite(run, { release: true, seenSignal: 0, status: 'success' })] })
    expect(await harness.load(run)).toMatchObject({ lease: null, wakeAt: null })
  })

  test('a signal to a session or to an unknown run does nothing', async () => {
    const session = newSession()
    await harness.written({ writes: [aCreation(session, {}, { status: 'session', wakeAt: null })] })
    await harness.written({ events: [anEvent()], signals: [newRun(), session as string as RunId] })
    expect(await harness.load(session)).toMatchObject({ signal: 0, wakeAt: null })
  })
}

const waits = (harness: LedgerHarness): void => {
  test('ledger-5: an event wakes a parked run that waits for its type', async () => {
    const run = await harness.createParkedRun({ opensWaits: [aWait()], wakeAt: START + 1e6 })
    harness.expectSignalled(await harness.written({ events: [anEvent({ time: START + 30 })] }), run)
    expect(await harness.isDue(run, START + 30)).toBe(true)
  })

  test.each([START - 1e9, START + 1e9])(
    "ledger-6: an event wakes a parked run at once, even with the sender's time %d",
    async (time) => {
      const run = await harness.createParkedRun({ opensWaits: [aWait()], wakeAt: START + 2e9 })
      await harness.written({ events: [anEvent({ time })] })
      expect(await harness.isDue(run)).toBe(true)
    },
  )

  test('ledger-5: an event wakes every run that waits for it', async () => {
    const runs: RunId[] = []
    for (let i = 0; i < 5; i++) runs.push(await harness.createParkedRun({ opensWaits: [aWait()] }))
    harness.expectSignalled(await harness.written({ events: [anEvent()] }), ...runs)
    expect([...(await harness.claimable(START))].sort()).toEqual(runs)
  })

  test('ledger-5: an event reaches a leased run at its release', async () => {
    const run = await harness.createHeldRun()
    await harness.written({ writes: [aWrite(run, { opensWaits: [aWait()] })] })
    harness.expectSignalled(await harness.written({ events: [anEvent()] }), run)
    await harness.written({ writes: [aWrite(run, { expectedVersion: 2, release: true, seenSignal: 0 })] })
    expect(await harness.isDue(run)).toBe(true)
  })

  test('a closed wait is not signalled, its neighbours are', async () => {
    const open = [
      aWait({ step: 'a' }),
      aWait({ step: 'a', type: 'order.refunded' }),
      aWait({ step: 'b', type: 'invoice.sent' }),
    ]
    const run = await harness.createHeldRun()
    await harness.written({ writes: [aWrite(run, { opensWaits: open })] })
    await harness.written({
      writes: [aWrite(run, { expectedVersion: 2, closesWaits: ['a', 'never-opened'], release: true })],
    })
    await harness.written({ events: [anEvent(), anEvent({ type: 'order.refunded' })] })
    expect(await harness.load(run)).toMatchObject({ signal: 0, wakeAt: null })
    await harness.written({ events: [anEvent({ type: 'invoice.sent' })] })
    expect(await harness.isDue(run)).toBe(true)
  })

  test('a wait closed and reopened by one write is open', async () => {
    const run = await harness.createHeldRun()
    await harness.written({ writes: [aWrite(run, { opensWaits: [aWait()] })] })
    await harness.written({
      writes: [aWrite(run, { expectedVersion: 2, closesWaits: ['payment'], opensWaits: [aWait()], release: true })],
    })
    await harness.written({ events: [anEvent()] })
    expect(await harness.isDue(run)).toBe(true)
  })

  test('closing the waits of one run does not affect those of another', async () => {
    const [run, other] = [await harness.createHeldRun(), await harness.createParkedRun({ opensWaits: [aWait()] })]
    await harness.written({ writes: [aWrite(run, { opensWaits: [aWait()] })] })
    await harness.written({ writes: [aWrite(run, { expectedVersion: 2, closesWaits: ['payment'], release: true })] })
    await harness.written({ events: [anEvent()] })
    expect(await harness.claimable(START)).toEqual([other])
  })

  test('a refused write opens no wait', async () => {
    const run = await harness.createParkedRun()
    await harness.write(aWrite(run, { expectedVersion: 9, opensWaits: [aWait()], release: true }))
    await harness.written({ events: [anEvent()] })
    expect(await harness.load(run)).toMatchObject({ signal: 0, wakeAt: null })
  })
}

const matches = (harness: LedgerHarness): void => {
  const MATCHES: readonly (readonly [string, string, Json, Json, boolean])[] = [
    ['a string', 'order', 'A-7', { order: 'A-7' }, true],
    ['another string', 'order', 'A-7', { order: 'A-8' }, false],
    ['a number', 'order', 7, { order: 7 }, true],
    ['a number as text', 'order', 7, { order: '7' }, false],
    ['a number in another spelling', 'price', 1000, { price: 1e3 }, true],
    ['minus zero', 'price', 0, { price: -0 }, true],
    ['true', 'paid', true, { paid: true }, true],
    ['null', 'paid', null, { paid: null }, true],
    ['null where nothing is', 'paid', null, {}, false],
    ['an object with its keys in another order', 'ref', { a: 1, b: [2] }, { ref: { b: [2], a: 1 } }, true],
    ['an object with one more key', 'ref', { a: 1 }, { ref: { a: 1, b: 2 } }, false],
    ['a nested path', 'order.ref.id', 7, { order: { ref: { id: 7 } } }, true],
    ['a nested path that ends early', 'order.ref.id', 7, { order: 7 }, false],
    ['a place in a list', 'lines.1', 'b', { lines: ['a', 'b'] }, true],
    ['a missing path', 'order', 7, { other: 7 }, false],
    ['an inherited name', 'toString', 7, {}, false],
    ['data that is no object', 'length', 3, 'abc', false],
    ['letters beyond ASCII', 'straße', '東京 🜁', { straße: '東京 🜁' }, true],
    ['an escaped NUL', 'order', '\u0000', { order: '\u0000' }, true],
    ['a quote', 'order', `'"; drop table wait; --`, { order: `'"; drop table wait; --` }, true],
    ['an empty string', 'order', '', { order: '' }, true],
  ]

  test.each(MATCHES)('ledger-5: a wait for a value at a path: %s', async (_, path, value, data, isMatch) => {
    const run = await harness.createParkedRun({ opensWaits: [aWait({ path, value: canonical(value) })] })
    await harness.written({ events: [anEvent({ data })] })
    expect((await harness.load(run)).signal > 0).toBe(isMatch)
    expect(await harness.isDue(run)).toBe(isMatch)
  })

  test('an event of another type wakes no run', async () => {
    const run = await harness.createParkedRun({ opensWaits: [aWait(), aWait({ path: 'order', value: '7' })] })
    await harness.written({ events: [anEvent({ type: 'order.paid.late' }), anEvent({ type: 'order' })] })
    expect(await harness.load(run)).toMatchObject({ signal: 0, wakeAt: null })
  })

  test('[S9] an event of another tenant wakes no run', async () => {
    const run = await harness.createParkedRun({ opensWaits: [aWait(), aWait({ path: 'order', value: '7' })] })
    await harness.written({ events: [anEvent({ tenant: 'other' as TenantId })] })
    expect(await harness.load(run)).toMatchObject({ signal: 0, wakeAt: null })
  })

  test('an event finds the one matching run among many that wait for other values', async () => {
    const runs: RunId[] = []
    for (let i = 0; i < 20; i++)
      runs.push(await harness.createParkedRun({ opensWaits: [aWait({ path: 'order', value: String(i) })] }))
    await harness.written({ events: [anEvent({ data: { order: 13 } })] })
    expect(await harness.claimable(START)).toEqual([runs[13]])
  })
}

const races = (harness: LedgerHarness): void => {
  const park = (run: RunId, wait: Parameters<typeof aWait>[0] = {}) =>
    aWrite(run, { release: true, opensWaits: [aWait(wait)], wakeAt: START + 1e6 })

  test('ledger-5: [V17][Q7] an event before the wait makes the run due at once', async () => {
    const run = await harness.createHeldRun()
    const { base } = await harness.load(run)
    await harness.written({ events: [anEvent()] })
    harness.expectSignalled(await harness.written({ writes: [park(run, { base, seen: 0 })] }), run)
    expect(await harness.isDue(run)).toBe(true)
  })

  test('ledger-5: events that the writer has counted do not wake it', async () => {
    const run = await harness.createHeldRun()
    const { base } = await harness.load(run)
    await harness.written({ events: [anEvent(), anEvent()] })
    await harness.written({ writes: [park(run, { base, seen: 2 })] })
    expect(await harness.load(run)).toMatchObject({ wakeAt: START + 1e6 })
  })

  test('ledger-5: events before the base, of another type or of another tenant do not count', async () => {
    const run = await harness.createHeldRun()
    const { position } = await harness.written({ events: [anEvent()] })
    await harness.written({ events: [anEvent({ type: 'invoice.sent' }), anEvent({ tenant: 'other' as TenantId })] })
    await harness.written({ writes: [park(run, { base: position, seen: 0 })] })
    expect(await harness.load(run)).toMatchObject({ wakeAt: START + 1e6 })
  })

  test('ledger-5: a wait opened too late by a holder that continues makes the run due at its release', async () => {
    const run = await harness.createHeldRun()
    await harness.written({ events: [anEvent()] })
    const { signal } = await harness.load(run)
    harness.expectSignalled(await harness.written({ writes: [aWrite(run, { opensWaits: [aWait()] })] }), run)
    await harness.written({ writes: [aWrite(run, { expectedVersion: 2, release: true, seenSignal: signal })] })
    expect(await harness.isDue(run)).toBe(true)
  })

  test('ledger-5: a wait opened too late by an external command makes the run due at once', async () => {
    const run = await harness.createParkedRun()
    await harness.written({ events: [anEvent()] })
    await harness.written({ writes: [aWrite(run, { expectedVersion: 2, epoch: null, opensWaits: [aWait()] })] })
    expect(await harness.isDue(run)).toBe(true)
  })

  test('ledger-5: a new run that opens a wait too late is due at once', async () => {
    await harness.written({ events: [anEvent()] })
    const run = await harness.createRun({ wakeAt: null, opensWaits: [aWait()] })
    expect(await harness.isDue(run)).toBe(true)
  })

  test.each(['event first', 'wait first'])('ledger-5: event and wait in one batch, %s', async (order) => {
    const run = await harness.createHeldRun()
    const batch = [anAppend({ events: [anEvent()] }), anAppend({ writes: [park(run)] })]
    for (const outcome of await harness.ledger.append(order === 'event first' ? batch : batch.reverse()))
      harness.expectWritten(outcome)
    expect(await harness.isDue(run)).toBe(true)
  })

  test('ledger-5: a run that emits what it waits for is due at once', async () => {
    const [opener, waiter] = [await harness.createHeldRun(), await harness.createHeldRun()]
    await harness.written({ events: [anEvent()], writes: [park(opener)] })
    expect(await harness.isDue(opener)).toBe(true)
    await harness.written({ writes: [aWrite(waiter, { opensWaits: [aWait({ seen: 1 })] })] })
    await harness.written({
      events: [anEvent()],
      writes: [aWrite(waiter, { expectedVersion: 2, release: true, seenSignal: 0 })],
    })
    expect(await harness.isDue(waiter)).toBe(true)
  })

  if (!harness.capabilities.shared) return
  test('ledger-5: [Q7] an event and a wait written concurrently through two ledgers never miss each other', async () => {
    const other = await harness.second()
    for (let round = 0; round < 40; round++) {
      const run = await harness.createHeldRun()
      const { base } = await harness.load(run)
      await Promise.all([
        other.append([anAppend({ events: [anEvent()] })]),
        harness.ledger.append([anAppend({ writes: [park(run, { base })] })]),
      ])
      expect(await harness.isDue(run), `round ${round}`).toBe(true)
    }
  })
}
