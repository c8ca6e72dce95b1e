/** Ledger suite, chapter 2: the same append sent twice is written once (ledger-3). */
import { describe, expect, test } from 'vitest'
import type { StreamId } from '#model/kernel/ids.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Append } from '#ports/ledger.ts'
import { aCreation, aFact, anAppend, anEvent, aWait, aWrite, newRun, newSession, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

/** Builds an append of one kind on a fresh store, and names the streams that it writes. */
type Prepare = (harness: LedgerHarness) => Promise<{ append: Append; streams: readonly StreamId[] }>

const ofHeldRun =
  (write: Parameters<typeof aWrite>[1], append: Partial<Append> = {}): Prepare =>
  async (harness) => {
    const run = await harness.createHeldRun()
    return { append: anAppend({ ...append, writes: [aWrite(run, write)] }), streams: [run] }
  }

const ofNewStream =
  (create: Parameters<typeof aCreation>[1], append: Partial<Append> = {}): Prepare =>
  async () => {
    const run = newRun()
    return { append: anAppend({ ...append, writes: [aCreation(run, create)] }), streams: [run] }
  }

const KINDS: readonly (readonly [string, Prepare])[] = [
  ['one fact', ofHeldRun({})],
  ['several facts', ofHeldRun({ facts: [aFact(), aFact(), aFact()] })],
  ['a fact with the release', ofHeldRun({ release: true, wakeAt: START + 5, status: 'waiting' })],
  [
    'a release without news',
    async (harness) => {
      const run = await harness.createHeldRun()
      const { headHash } = await harness.load(run)
      const write = aWrite(run, { release: true, facts: [], headHash, wakeAt: START + 5, status: 'waiting' })
      return { append: anAppend({ writes: [write] }), streams: [run] }
    },
  ],
  ['a command from outside', ofHeldRun({ epoch: null })],
  ['a fact that opens a wait', ofHeldRun({ release: true, opensWaits: [aWait()], status: 'waiting' })],
  ['a fact with an event', ofHeldRun({}, { events: [anEvent({ type: 'invoice.sent' })] })],
  ['a new run', ofNewStream({})],
  ['a new run with a lease', ofNewStream({ lease: newWorker() })],
  ['an event that starts a run', ofNewStream({ event: 0 }, { events: [anEvent()] })],
  [
    'a new session',
    async () => {
      const session = newSession()
      return {
        append: anAppend({ writes: [aCreation(session, {}, { status: 'session', wakeAt: null })] }),
        streams: [session],
      }
    },
  ],
  ['an event alone', async () => ({ append: anAppend({ events: [anEvent(), anEvent()] }), streams: [] })],
  [
    'two streams and a child',
    async (harness) => {
      const streams = [await harness.createHeldRun(), await harness.createHeldRun(), newRun()] as const
      return { append: anAppend({ writes: [aWrite(streams[0]), aWrite(streams[1]), aCreation(streams[2])] }), streams }
    },
  ],
]

export const idempotenceSuite = (harness: LedgerHarness): void => {
  describe('sent twice', () => {
    test.each(KINDS)('ledger-3: %s is written once', async (_, prepare) => {
      const { append, streams } = await prepare(harness)
      const [first] = await harness.ledger.append([append])
      const written = harness.expectWritten(first)
      const before = await harness.ledger.load(streams)
      const [second] = await harness.ledger.append([append])
      expect(second).toMatchObject({ kind: 'already_written', sequences: written.sequences, signalled: [] })
      expect(await harness.ledger.load(streams)).toEqual(before)
      expect(await harness.ledger.events({ tenant: LOCAL_TENANT, limit: 10 })).toHaveLength(append.events.length)
    })

    test('ledger-3: a repeat does not affect other appends of its batch', async () => {
      const [a, b] = [await harness.createHeldRun(), await harness.createHeldRun()]
      const append = anAppend({ writes: [aWrite(a)] })
      await harness.ledger.append([append])
      const outcomes = await harness.ledger.append([
        anAppend({ writes: [aWrite(b)] }),
        append,
        anAppend({ events: [anEvent()] }),
      ])
      harness.expectWritten(outcomes[0])
      expect(outcomes[1]?.kind).toBe('already_written')
      harness.expectWritten(outcomes[2])
    })
  })

  describe('sent again later', () => laterRepeats(harness))
  if (harness.capabilities.shared) describe('sent by two ledgers', () => parallelRepeats(harness))
}

const laterRepeats = (harness: LedgerHarness): void => {
  test('ledger-3: a repeat is recognised after the stream has continued under another holder', async () => {
    const run = await harness.createHeldRun()
    const append = anAppend({ writes: [aWrite(run, { release: true, wakeAt: START })] })
    await harness.ledger.append([append])
    expect(await harness.isDue(run)).toBe(true)
    await harness.written({
      writes: [aWrite(run, { expectedVersion: 2, epoch: 2, facts: [aFact(), aFact()], status: 'success' })],
    })
    const before = await harness.load(run)
    expect(await harness.ledger.append([append])).toMatchObject([{ kind: 'already_written' }])
    expect(await harness.load(run)).toEqual(before)
  })

  test('ledger-3: another append with the same content is not a repeat', async () => {
    const run = await harness.createHeldRun()
    const write = aWrite(run)
    await harness.written({ writes: [write] })
    expect(await harness.write(write)).toMatchObject({ kind: 'conflict', reason: 'version', version: 2 })
  })

  // Found by a random history: a run without a holder looks as if this release had been written.
  test('ledger-3: a release with an event is recognised by its event, not by the lease', async () => {
    const [run, event] = [await harness.createParkedRun(), anEvent()]
    await harness.written({ events: [event] })
    const { headHash } = await harness.load(run)
    const release = aWrite(run, { expectedVersion: 2, facts: [], headHash, release: true })
    expect(await harness.append({ writes: [release], events: [event] })).toMatchObject({
      kind: 'conflict',
      reason: 'taken',
    })
  })

  test('ledger-3: a repeat sends no signal again', async () => {
    const run = await harness.createParkedRun({ opensWaits: [aWait()] })
    const append = anAppend({ events: [anEvent()], signals: [run] })
    await harness.ledger.append([append])
    const before = await harness.load(run)
    expect(before.signal).toBeGreaterThan(0)
    await harness.ledger.append([append])
    expect(await harness.load(run)).toEqual(before)
  })

  test('ledger-3: a wait opened twice by the same append is closed by one closing', async () => {
    const run = await harness.createHeldRun()
    const append = anAppend({ writes: [aWrite(run, { opensWaits: [aWait()] })] })
    await harness.ledger.append([append])
    await harness.ledger.append([append])
    await harness.written({ writes: [aWrite(run, { expectedVersion: 2, closesWaits: ['payment'], release: true })] })
    await harness.written({ events: [anEvent()] })
    expect(await harness.load(run)).toMatchObject({ signal: 0, wakeAt: null })
  })

  test('ledger-3: a run created without an event has the position of the first answer as its base, also in a repeat', async () => {
    const run = newRun()
    const append = anAppend({ writes: [aCreation(run)] })
    await harness.written({ events: [anEvent()] })
    const [first] = await harness.ledger.append([append])
    await harness.written({ events: [anEvent()] })
    const [second] = await harness.ledger.append([append])
    const { base } = await harness.load(run)
    expect(harness.expectWritten(first).position).toBe(base)
    expect(second).toMatchObject({ kind: 'already_written', position: base })
  })
}

const parallelRepeats = (harness: LedgerHarness): void => {
  test('ledger-3: the same appends sent through two ledgers at once are written once', async () => {
    const other = await harness.second()
    const run = await harness.createHeldRun()
    const batch = [
      anAppend({ writes: [aWrite(run)] }),
      anAppend({ writes: [aCreation(newRun())] }),
      anAppend({ events: [anEvent()], writes: [aCreation(newRun(), { event: 0 })] }),
    ]
    const [here, there] = await Promise.all([harness.ledger.append(batch), other.append(batch)])
    for (const [i] of batch.entries()) {
      expect([here[i]?.kind, there[i]?.kind].sort()).toEqual(
        harness.capabilities.resends ? expect.not.arrayContaining(['conflict']) : ['already_written', 'written'],
      )
    }
    expect(await harness.load(run)).toMatchObject({ version: 2 })
    expect(await harness.ledger.events({ tenant: LOCAL_TENANT, limit: 10 })).toHaveLength(1)
  })
}
