/**
 * Races of several writers on one Postgres ledger: a concurrent event and wait, overlapping batches, and connections that end in the
 * middle.
 */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type OpenedPostgres, openPostgres } from '#adapters/storage/postgres/open.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Append, Ledger, Outcome } from '#ports/ledger.ts'
import { Random } from '#test/support/random.ts'
import { ask, type FreshSchema, SchemaShelf } from '#test/support/stores/postgres-schema.ts'
import { RowHolder } from '#test/support/stores/row-holder.ts'
import { until } from '#test/support/until.ts'
import {
  aCreation,
  aFact,
  anAppend,
  anEvent,
  aWait,
  aWrite,
  newRun,
  newWorker,
  START,
} from '#testing/ledger/builders.ts'

const url = process.env['TRIHAND_TEST_PG_URL'] ?? ''
const shelf = new SchemaShelf(url)

describe.skipIf(url === '')('writers of one Postgres ledger', () => {
  let fresh: FreshSchema
  let opened: OpenedPostgres[]
  let here: Ledger
  let there: Ledger
  let holders: RowHolder[]

  beforeEach(async () => {
    fresh = await shelf.take()
    opened = []
    holders = []
    for (let i = 0; i < 2; i++)
      opened.push(await openPostgres({ url: fresh.url, clock: 'caller', max: 4, notify: false }))
    ;[here, there] = opened.map(({ ledger }) => ledger) as [Ledger, Ledger]
  })
  afterEach(async () => {
    for (const holder of holders) await holder.release()
    for (const one of opened) await one.close()
    await shelf.giveBack(fresh)
  })
  afterAll(() => shelf.dropAll())

  const createHeld = async (): Promise<RunId> => {
    const run = newRun()
    const outcomes = await here.append([
      anAppend({ writes: [aCreation(run, { lease: newWorker() }, { wakeAt: null })] }),
    ])
    expect(outcomes).toMatchObject([{ kind: 'written' }])
    return run
  }
  test('a claim loads its runs with their events, except those with a long history', async () => {
    const [short, long] = [newRun(), newRun()]
    const facts = Array.from({ length: 101 }, () => aFact())
    const [written] = await here.append([
      anAppend({ events: [anEvent()], writes: [aCreation(short, { event: 0 })] }),
      anAppend({ writes: [aCreation(long, {}, { facts })] }),
    ])
    const { claims, records, events } = await there.claim({ worker: newWorker(), now: START, limit: 9 })
    expect(claims.map(({ stream }) => stream)).toEqual([short, long])
    expect(records).toEqual(await here.load([short]))
    expect(written).toMatchObject({ sequences: events?.map(({ sequence }) => sequence) })
  })

  test('ledger-5: a wait on a type that had only unmatched events before is met by the next one, at its path too', async () => {
    const lonely = (): Append =>
      anAppend({ events: [anEvent({ data: { order: 7 } })], writes: [aCreation(newRun(), { event: 0 })] })
    await here.append([lonely()])
    const [byType, byPath, other] = [await createHeld(), await createHeld(), await createHeld()]
    const waits = [
      aWait({ base: 9 }),
      aWait({ base: 9, path: 'order', value: '7' }),
      aWait({ base: 9, path: 'order', value: '8' }),
    ]
    const parked = [byType, byPath, other].map((run, i) =>
      anAppend({ writes: [aWrite(run, { release: true, opensWaits: waits.slice(i, i + 1), status: 'waiting' })] }),
    )
    await there.append(parked)
    const [outcome] = await here.append([lonely()])
    expect(outcome).toMatchObject({ kind: 'written', signalled: expect.arrayContaining([byType, byPath]) })
    expect(await Promise.all([byType, byPath, other].map(isDue))).toEqual([true, true, false])
  })

  const hold = async (run: RunId): Promise<RowHolder> => {
    const holder = await RowHolder.lock(fresh.url, run)
    holders.push(holder)
    return holder
  }
  const park = (run: RunId, base: number): Append =>
    anAppend({ writes: [aWrite(run, { release: true, opensWaits: [aWait({ base })], status: 'waiting' })] })
  const isDue = async (run: RunId): Promise<boolean> => {
    const { claims } = await here.claim({ worker: newWorker(), now: START, limit: 1, only: [run] })
    return claims.length === 1
  }
  const baseOf = async (run: RunId): Promise<number> => (await here.load([run]))[0]?.base ?? 0
  const OURS = "application_name = current_setting('application_name') and wait_event_type = 'Lock'"
  /** Resolves when a connection of this test waits for a lock of this kind. */
  const untilBlocked = async (kind: 'advisory' | 'row'): Promise<void> => {
    const events = kind === 'advisory' ? "'advisory'" : "'tuple', 'transactionid'"
    const blocked = () => ask(fresh.url, `select pid from pg_stat_activity where ${OURS} and wait_event in (${events})`)
    await until(blocked, (rows) => rows.length > 0)
  }
  const deadlocks = async (): Promise<unknown> =>
    (await ask(fresh.url, 'select deadlocks from pg_stat_database where datname = current_database()'))[0]?.[
      'deadlocks'
    ]

  test('ledger-5: an event waits for a wait that is being opened, and then finds it', async () => {
    const run = await createHeld()
    const base = await baseOf(run)
    const holder = await hold(run)
    const parking = here.append([park(run, base)])
    // The wait already counts for the event: its statement has begun and blocks before the row.
    await untilBlocked('row')
    const emitting = there.append([anAppend({ events: [anEvent()] })])
    await untilBlocked('advisory')
    await holder.release()
    expect(await parking).toMatchObject([{ kind: 'written' }])
    expect(await emitting).toMatchObject([{ kind: 'written', signalled: [run] }])
    expect(await isDue(run)).toBe(true)
  })

  test('ledger-5: a wait waits for an event that is being written, and then counts it', async () => {
    const [run, emitter] = [await createHeld(), await createHeld()]
    const base = await baseOf(run)
    const holder = await hold(emitter)
    const emitting = there.append([anAppend({ events: [anEvent()], writes: [aWrite(emitter)] })])
    await untilBlocked('row')
    const parking = here.append([park(run, base)])
    await untilBlocked('advisory')
    await holder.release()
    expect(await emitting).toMatchObject([{ kind: 'written' }])
    expect(await parking).toMatchObject([{ kind: 'written', signalled: [run] }])
    expect(await isDue(run)).toBe(true)
  })

  test('ledger-5: [V17][Q7] after 500 races between an event and a wait no run is still asleep', async () => {
    const runs = Array.from({ length: 500 }, newRun)
    const held = { lease: newWorker() }
    await here.append(runs.map((run) => anAppend({ writes: [aCreation(run, held, { wakeAt: null })] })))
    let base = 0
    for (const [round, run] of runs.entries()) {
      const emit = () => there.append([anAppend({ events: [anEvent()] })])
      const open = () => here.append([park(run, base)])
      const outcomes = (await Promise.all(round % 2 === 0 ? [emit(), open()] : [open(), emit()])).flat()
      base = Math.max(...outcomes.map((outcome) => (outcome.kind === 'conflict' ? 0 : outcome.position)))
    }
    const { claims } = await here.claim({ worker: newWorker(), now: START, limit: runs.length })
    expect(claims).toHaveLength(runs.length)
  })

  test('ledger-5: a process without known paths finds the waits that use them', async () => {
    const run = await createHeld()
    await here.append([
      anAppend({ writes: [aWrite(run, { release: true, opensWaits: [aWait({ path: 'order', value: '7' })] })] }),
    ])
    expect(await there.append([anAppend({ events: [anEvent({ data: { order: 7 } })] })])).toMatchObject([
      { signalled: [run] },
    ])
  })

  test('ledger-4: [V2] overlapping batches from four connections leave no gap and cause no deadlock', async () => {
    const before = await deadlocks()
    const runs: RunId[] = []
    for (let i = 0; i < 12; i++) runs.push(await createHeld())
    const written = new Map<RunId, number>(runs.map((run) => [run, 1]))
    const writer = async (ledger: Ledger, seed: number): Promise<void> => {
      const random = new Random(seed)
      for (let round = 0; round < 40; round++) {
        const chosen = runs.filter(() => random.chance(0.6)).sort(() => random.roll() - 0.5)
        const loaded = await ledger.load(chosen)
        const batch = chosen.map((run, i) =>
          anAppend({
            writes: [aWrite(run, { expectedVersion: loaded[i]?.version ?? 0, epoch: null })],
            signals: [runs[(i * 7) % runs.length] as RunId],
          }),
        )
        const outcomes: readonly Outcome[] = await ledger.append(batch)
        for (const [i, { kind }] of outcomes.entries()) {
          const run = chosen[i] as RunId
          if (kind === 'written') written.set(run, (written.get(run) ?? 0) + 1)
        }
      }
    }
    await Promise.all([here, there, here, there].map((ledger, seed) => writer(ledger, seed + 1)))
    const records = await here.load(runs)
    expect(records.map((record) => record?.version)).toEqual(runs.map((run) => written.get(run)))
    expect(records.map((record) => record?.facts.length)).toEqual(runs.map((run) => written.get(run)))
    // A connection reports its statistics to the server when it ends.
    for (const one of opened) await one.close()
    expect(await deadlocks()).toEqual(before)
  })

  test('ledger-2: documents that two appends of a batch write to one key do not fail the batch', async () => {
    const [a, b] = [await createHeld(), await createHeld()]
    const { reader } = opened[0] as OpenedPostgres
    const document = (value: number) => ({ tenant: 'local' as never, table: 't', key: 'k', value })
    const outcomes = await here.append([
      anAppend({ writes: [aWrite(a)], documents: [document(1)] }),
      anAppend({ writes: [aWrite(b)], documents: [document(2)] }),
    ])
    expect(outcomes).toMatchObject([{ kind: 'written' }, { kind: 'written' }])
    expect(await reader.document('local' as never, 't', 'k')).toBe(2)
  })

  test('ledger-2: [Q12] an append that the tables refuse costs the others of its batch nothing', async () => {
    const runs = [await createHeld(), await createHeld(), await createHeld()]
    const batch = runs.map((run, i) => anAppend({ writes: [aWrite(run, i === 0 ? { headHash: 'a raw \u0000' } : {})] }))
    await expect(here.append(batch)).rejects.toMatchObject({ code: 'INPUT_INVALID', outcome: 'unknown' })
    expect((await here.load(runs)).map((record) => record?.version)).toEqual([1, 2, 2])
    expect(await here.append(batch.slice(1))).toMatchObject([{ kind: 'already_written' }, { kind: 'already_written' }])
  })

  test('[R1] a connection that ends during an append leaves its outcome unknown, and the append may be sent again', async () => {
    const run = await createHeld()
    const append = anAppend({ writes: [aWrite(run)] })
    const holder = await hold(run)
    const refused = expect(here.append([append])).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      outcome: 'unknown',
    })
    await untilBlocked('row')
    await ask(fresh.url, `select pg_terminate_backend(pid) from pg_stat_activity where ${OURS}`)
    await refused
    await holder.release()
    expect(await here.append([append])).toMatchObject([{ kind: 'written' }])
  })
})
