/** Ledger suite, chapter 1: streams and versions, and that each append succeeds or fails alone (ledger-2, ledger-4). */
import { describe, expect, test } from 'vitest'
import type { RunId } from '#model/kernel/ids.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Append } from '#ports/ledger.ts'
import { aCreation, aFact, anAppend, anEvent, aWrite, newRun, newSession, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

export const appendSuite = (harness: LedgerHarness): void => {
  describe('streams', () => streams(harness))
  describe('versions', () => versions(harness))
  describe('all or nothing', () => wholeness(harness))
  describe('several conflicts', () => precedence(harness))
  describe('batches', () => batches(harness))
}

const streams = (harness: LedgerHarness): void => {
  test('a created run is loaded as it was written', async () => {
    const [run, parent, session] = [newRun(), newRun(), newSession()]
    const facts = [aFact({ recordedAt: START + 1 }), aFact({ recordedAt: START + 2 })]
    const outcome = await harness.written({
      writes: [
        aCreation(
          run,
          { parent, session, handler: 'zähler', systemHash: 'h' },
          { facts, status: 'waiting', wakeAt: START + 9 },
        ),
      ],
    })
    expect(await harness.load(run)).toEqual({
      stream: run,
      tenant: LOCAL_TENANT,
      handler: 'zähler',
      systemHash: 'h',
      bornHash: null,
      session,
      parent,
      event: null,
      base: outcome.position,
      version: 2,
      epoch: 0,
      signal: 0,
      status: 'waiting',
      wakeAt: START + 9,
      lease: null,
      recoveries: 0,
      headHash: facts[1]?.hash,
      createdAt: START,
      facts,
    })
  })

  test('a run created for a worker is leased to it at epoch 1 and is not due', async () => {
    const [run, worker] = [newRun(), newWorker()]
    await harness.written({ writes: [aCreation(run, { lease: worker })] })
    expect(await harness.load(run)).toMatchObject({ lease: worker, epoch: 1, wakeAt: null })
    expect(await harness.claimable(START + 1000)).toEqual([])
  })

  test('a run created without a worker has epoch 0 and is due at its wake', async () => {
    const run = await harness.createRun({ wakeAt: START + 5 })
    expect(await harness.load(run)).toMatchObject({ lease: null, epoch: 0, wakeAt: START + 5 })
    expect(await harness.isDue(run, START + 4)).toBe(false)
    expect(await harness.isDue(run, START + 5)).toBe(true)
  })

  test('a session is a stream like any other and is never claimed', async () => {
    const session = newSession()
    await harness.written({ writes: [aCreation(session, {}, { status: 'session', wakeAt: null })] })
    await harness.written({ writes: [aWrite(session, { epoch: null, status: 'session' })] })
    expect(await harness.load(session)).toMatchObject({ stream: session, version: 2, status: 'session', wakeAt: null })
    expect(await harness.claimable(START + 1e9)).toEqual([])
  })

  test('streams are loaded in the requested order, null for those that do not exist', async () => {
    const [first, second] = [await harness.createRun(), await harness.createRun()]
    const loaded = await harness.ledger.load([second, newRun(), first, newSession()])
    expect(loaded.map((record) => record?.stream ?? null)).toEqual([second, null, first, null])
    expect(await harness.ledger.load([])).toEqual([])
  })

  test('a load after a seq leaves out the facts up to it, and the record stays whole', async () => {
    const facts = [aFact(), aFact(), aFact(), aFact()]
    const run = await harness.createRun({ facts })
    const loadAfter = async (after: number) => (await harness.ledger.load([run], { after }))[0]
    expect(await loadAfter(2)).toMatchObject({ version: 4, facts: facts.slice(2) })
    expect(await loadAfter(0)).toMatchObject({ version: 4, facts })
    expect(await loadAfter(4)).toMatchObject({ version: 4, facts: [] })
    expect(await loadAfter(9)).toMatchObject({ version: 4, facts: [] })
  })

  test('many streams are loaded in one call', async () => {
    const runs = Array.from({ length: 300 }, newRun)
    await harness.ledger.append(runs.map((run) => anAppend({ writes: [aCreation(run)] })))
    const loaded = await harness.ledger.load(runs)
    expect(loaded.map((record) => record?.stream)).toEqual(runs)
    expect(loaded.every((record) => record?.facts.length === 1)).toBe(true)
  })
}

const versions = (harness: LedgerHarness): void => {
  test('ledger-4: facts are numbered without a gap, and the version counts them', async () => {
    const first = [aFact(), aFact()]
    const run = await harness.createRun({ facts: first })
    const second = [aFact(), aFact(), aFact()]
    await harness.written({
      writes: [aWrite(run, { expectedVersion: 2, epoch: null, facts: second, status: 'waiting' })],
    })
    const record = await harness.load(run)
    expect(record).toMatchObject({ version: 5, status: 'waiting', headHash: second[2]?.hash })
    expect(record.facts).toEqual([...first, ...second])
  })

  test.each([0, 1, 3, 2 ** 31])(
    'ledger-4: a write at version %d of a stream at version 2 is refused',
    async (expectedVersion) => {
      const run = await harness.createHeldRun()
      await harness.written({ writes: [aWrite(run)] })
      const before = await harness.load(run)
      expect(await harness.write(aWrite(run, { expectedVersion, status: 'failed', release: true, wakeAt: 1 }))).toEqual(
        {
          kind: 'conflict',
          reason: 'version',
          stream: run,
          version: 2,
          epoch: 1,
        },
      )
      expect(await harness.load(run)).toEqual(before)
    },
  )

  test('ledger-4: a write to a stream that does not exist is refused at version 0', async () => {
    const run = newRun()
    for (const expectedVersion of [0, 1]) {
      const outcome = await harness.write(aWrite(run, { expectedVersion }))
      expect(outcome).toEqual({ kind: 'conflict', reason: 'version', stream: run, version: 0, epoch: 0 })
    }
    expect(await harness.exists(run)).toBe(false)
  })

  test('ledger-4: a stream is created once', async () => {
    const run = await harness.createHeldRun()
    const before = await harness.load(run)
    const outcome = await harness.write(aCreation(run, { handler: 'another' }))
    expect(outcome).toEqual({ kind: 'conflict', reason: 'version', stream: run, version: 1, epoch: 1 })
    expect(await harness.load(run)).toEqual(before)
  })
}

const wholeness = (harness: LedgerHarness): void => {
  test('ledger-2: two streams written by one append change together', async () => {
    const [a, b, child] = [await harness.createHeldRun(), await harness.createHeldRun(), newRun()]
    await harness.written({ writes: [aWrite(a), aCreation(child, { parent: a }), aWrite(b)] })
    const loaded = await harness.ledger.load([a, b, child])
    expect(loaded.map((record) => record?.version)).toEqual([2, 2, 1])
  })

  test.each([
    ['version', { expectedVersion: 9 }],
    ['epoch', { epoch: 9 }],
  ])('ledger-2: a stale %s in one write of an append writes nothing of it', async (reason, stale) => {
    const [a, b, child, parked] = [
      await harness.createHeldRun(),
      await harness.createHeldRun(),
      newRun(),
      await harness.createParkedRun(),
    ]
    const before = await harness.ledger.load([a, b, parked])
    for (const writes of [
      [aWrite(a), aWrite(b, stale)],
      [aWrite(b, stale), aWrite(a)],
    ]) {
      const outcome = await harness.append({
        writes: [...writes, aCreation(child)],
        events: [anEvent()],
        signals: [parked],
      })
      expect(outcome).toEqual({ kind: 'conflict', reason, stream: b, version: 1, epoch: 1 })
    }
    expect(await harness.ledger.load([a, b, parked])).toEqual(before)
    expect(await harness.exists(child)).toBe(false)
    expect(await harness.ledger.events({ tenant: LOCAL_TENANT, limit: 10 })).toEqual([])
  })

  test('ledger-2: an event that exists already prevents everything of the append that repeats it', async () => {
    const [run, child, event] = [await harness.createHeldRun(), newRun(), anEvent()]
    await harness.written({ events: [event] })
    const before = await harness.load(run)
    const outcome = await harness.append({ writes: [aWrite(run), aCreation(child)], events: [anEvent(), event] })
    expect(outcome).toMatchObject({ kind: 'conflict', reason: 'taken' })
    expect(await harness.load(run)).toEqual(before)
    expect(await harness.exists(child)).toBe(false)
    expect(await harness.ledger.events({ tenant: LOCAL_TENANT, limit: 10 })).toHaveLength(1)
  })
}

const precedence = (harness: LedgerHarness): void => {
  test('a stale write is reported before an event that exists already', async () => {
    const [run, created, event] = [await harness.createHeldRun(), await harness.createRun(), anEvent()]
    await harness.written({ events: [event] })
    const writes = [aCreation(created), aWrite(run, { expectedVersion: 7 })]
    const outcome = await harness.append({ events: [event], writes })
    expect(outcome).toMatchObject({ kind: 'conflict', reason: 'version', stream: run, version: 1 })
  })

  test('an event that exists already is reported before a stream that does', async () => {
    const [run, event] = [newRun(), anEvent()]
    await harness.written({ events: [event], writes: [aCreation(run, { event: 0 })] })
    const outcome = await harness.append({ events: [event], writes: [aCreation(run, { event: 0 })] })
    expect(outcome).toMatchObject({ kind: 'conflict', reason: 'taken', runs: [run] })
  })
}

const batches = (harness: LedgerHarness): void => {
  test('an empty batch has an empty answer', async () => {
    expect(await harness.ledger.append([])).toEqual([])
  })

  test.each(['version', 'epoch', 'taken', 'created'])(
    'ledger-2: [Q12] if one append of 64 conflicts (%s), only that one fails',
    async (kind) => {
      const held: RunId[] = []
      for (let i = 0; i < 64; i++) held.push(await harness.createHeldRun())
      const event = anEvent()
      await harness.written({ events: [event] })
      const bad: Record<string, Partial<Append>> = {
        version: { writes: [aWrite(held[40] as RunId, { expectedVersion: 7 })] },
        epoch: { writes: [aWrite(held[40] as RunId, { epoch: 7 })] },
        taken: { events: [event], writes: [aCreation(newRun(), { event: 0 })] },
        created: { writes: [aCreation(held[40] as RunId)] },
      }
      const batch = held.map((run, i) => anAppend(i === 40 ? bad[kind] : { writes: [aWrite(run)] }))
      const outcomes = await harness.ledger.append(batch)
      expect(outcomes.map((outcome) => outcome.kind === 'conflict')).toEqual(held.map((_, i) => i === 40))
      const loaded = await harness.ledger.load(held)
      expect(loaded.map((record) => record?.version)).toEqual(held.map((_, i) => (i === 40 ? 1 : 2)))
    },
  )

  test('a batch of every kind of append is answered in order', async () => {
    const [held, parked, created, child] = [
      await harness.createHeldRun(),
      await harness.createParkedRun(),
      newRun(),
      newRun(),
    ]
    const event = anEvent()
    const outcomes = await harness.ledger.append([
      anAppend({ writes: [aWrite(held)] }),
      anAppend({ writes: [aWrite(parked)] }),
      anAppend({ events: [event], writes: [aCreation(created, { event: 0 })] }),
      anAppend({ writes: [aCreation(child)], signals: [parked] }),
      anAppend({ events: [event] }),
    ])
    harness.expectWritten(outcomes[0])
    expect(outcomes[1]).toEqual({ kind: 'conflict', reason: 'version', stream: parked, version: 2, epoch: 1 })
    expect(harness.expectWritten(outcomes[2]).sequences).toHaveLength(1)
    expect(harness.expectWritten(outcomes[3]).sequences).toEqual([])
    expect(outcomes[4]).toMatchObject({ kind: 'conflict', reason: 'taken', runs: [created] })
  })
}
