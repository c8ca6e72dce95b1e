/** Ledger suite, chapter 6: which worker gets a due run, and when (ledger-7). */
import { expect, test } from 'vitest'
import { gateId, LOCAL_TENANT, type RunId, scheduleId } from '#model/kernel/ids.ts'
import { aCreation, anAppend, anEvent, aWrite, newRun, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

const NEVER = START + 1e9

export const claimsSuite = (harness: LedgerHarness): void => {
  test('ledger-7: a claim leases the run, raises its epoch, takes its wake and leaves its status', async () => {
    const [run, worker] = [await harness.createRun(), newWorker()]
    const { claims } = await harness.ledger.claim({ worker, now: START, limit: 10 })
    expect(claims).toEqual([{ stream: run, tenant: LOCAL_TENANT, version: 1, epoch: 1, signal: 0 }])
    expect(await harness.load(run)).toMatchObject({
      lease: worker,
      epoch: 1,
      wakeAt: null,
      status: 'queued',
      version: 1,
      recoveries: 0,
    })
  })

  test('ledger-7: a claimed run is not claimed again until it is released, then at a higher epoch', async () => {
    const run = await harness.createRun()
    expect(await harness.claimable(NEVER)).toEqual([run])
    expect(await harness.claimable(NEVER)).toEqual([])
    await harness.written({ writes: [aWrite(run, { release: true, wakeAt: START + 5 })] })
    const { claims } = await harness.ledger.claim({ worker: newWorker(), now: START + 5, limit: 1 })
    expect(claims).toMatchObject([{ stream: run, version: 2, epoch: 2 }])
  })

  test('a claim returns the same run as a load right after it', async () => {
    const written = await harness.written({ events: [anEvent()], writes: [aCreation(newRun(), { event: 0 })] })
    const runs = [await harness.createRun(), await harness.createParkedRun({ wakeAt: START })]
    const {
      claims,
      records = [],
      events = [],
    } = await harness.ledger.claim({ worker: newWorker(), now: START, limit: 9 })
    expect(claims).toHaveLength(runs.length + 1)
    const loaded = await harness.ledger.load(claims.map((claim) => claim.stream))
    expect(loaded).toEqual(expect.arrayContaining([...records]))
    const sequences = loaded.flatMap((record) => record?.event ?? [])
    expect(sequences).toEqual(written.sequences)
    const found = await harness.ledger.events({ tenant: LOCAL_TENANT, sequences, limit: 9 })
    expect(found).toEqual(expect.arrayContaining([...events]))
  })

  test('[R9] no run is claimed before its wake', async () => {
    const run = await harness.createRun({ wakeAt: START + 100 })
    expect(await harness.claimable(START + 99)).toEqual([])
    expect(await harness.claimable(START + 99, [run])).toEqual([])
    expect(await harness.claimable(START + 100)).toEqual([run])
  })

  test('coordinators are claimed and woken, and may be parents, like runs, and keep their names', async () => {
    const coordinators = [gateId('a'.repeat(64)), scheduleId('b'.repeat(64))] as const
    for (const coordinator of coordinators) await harness.written({ writes: [aCreation(coordinator)] })
    expect(await harness.claimable(START)).toEqual(coordinators)
    const child = newRun()
    const [gate] = coordinators
    await harness.written({ writes: [aCreation(child, { parent: gate })] })
    expect(await harness.load(child)).toMatchObject({ parent: gate })
    const outcome = await harness.written({ writes: [aWrite(child, { epoch: null })], signals: [gate] })
    harness.expectSignalled(outcome, gate)
    await harness.written({ writes: [aWrite(gate, { release: true, wakeAt: null })] })
    expect(await harness.claimable(START, [gate])).toEqual([gate])
  })

  test('a run without a wake is never claimed', async () => {
    const run = await harness.createParkedRun({ wakeAt: null })
    expect(await harness.claimable(NEVER)).toEqual([])
    expect(await harness.claimable(NEVER, [run])).toEqual([])
  })

  test('the oldest wake is claimed first, then the run that was created first', async () => {
    const wakes = [30, 10, 20, 10, 0, 30]
    const runs: RunId[] = []
    for (const wake of wakes) runs.push(await harness.createRun({ wakeAt: START + wake }))
    const order = [4, 1, 3, 2, 0, 5].map((i) => runs[i])
    expect(await harness.claimable(START + 30)).toEqual(order)
  })

  test('a claim takes no more than its limit and returns when the next run falls due', async () => {
    const runs: RunId[] = []
    for (const wake of [0, 1, 2, 500]) runs.push(await harness.createRun({ wakeAt: START + wake }))
    const claim = (limit: number) => harness.ledger.claim({ worker: newWorker(), now: START + 10, limit })
    expect(await claim(2)).toMatchObject({ claims: [{ stream: runs[0] }, { stream: runs[1] }], nextDueAt: START + 2 })
    expect(await claim(2)).toMatchObject({ claims: [{ stream: runs[2] }], nextDueAt: START + 500 })
    expect(await claim(2)).toEqual({ claims: [], nextDueAt: START + 500 })
  })

  test('no run falls due if all are leased, ended or wait without a time', async () => {
    expect(await harness.ledger.claim({ worker: newWorker(), now: NEVER, limit: 5 })).toEqual({
      claims: [],
      nextDueAt: null,
    })
    await harness.createHeldRun()
    await harness.createParkedRun()
    await harness.createParkedRun({ status: 'success' })
    expect(await harness.ledger.claim({ worker: newWorker(), now: NEVER, limit: 5 })).toEqual({
      claims: [],
      nextDueAt: null,
    })
  })

  test('a claim of named runs takes the due ones among them, and no others', async () => {
    const [due, alsoDue, early, held] = [
      await harness.createRun(),
      await harness.createRun(),
      await harness.createRun({ wakeAt: START + 50 }),
      await harness.createHeldRun(),
    ]
    expect(await harness.claimable(START, [newRun(), held, early, due])).toEqual([due])
    expect(await harness.claimable(START, [])).toEqual([])
    expect(await harness.claimable(START)).toEqual([alsoDue])
  })

  test('a claim of named runs keeps the order of wakes and the limit', async () => {
    const [second, first, third] = [
      await harness.createRun({ wakeAt: START + 5 }),
      await harness.createRun({ wakeAt: START + 1 }),
      await harness.createRun({ wakeAt: START + 9 }),
    ]
    const { claims, nextDueAt } = await harness.ledger.claim({
      worker: newWorker(),
      now: START + 9,
      limit: 2,
      only: [third, second, first],
    })
    expect(claims.map((claim) => claim.stream)).toEqual([first, second])
    expect(nextDueAt).toBe(START + 9)
  })

  test('a moved wake is due only at its new instant', async () => {
    const run = await harness.createRun({ wakeAt: START })
    await harness.written({ writes: [aWrite(run, { epoch: null, wakeAt: START + 100 })] })
    expect(await harness.claimable(START + 99)).toEqual([])
    expect(await harness.claimable(START + 100)).toEqual([run])
  })

  test('a release at a wake in the past is due at once', async () => {
    const run = await harness.createParkedRun({ wakeAt: 0 })
    expect(await harness.load(run)).toMatchObject({ wakeAt: 0 })
    expect(await harness.claimable(START)).toEqual([run])
  })

  test('a wake at the last possible instant is kept', async () => {
    const run = await harness.createRun({ wakeAt: 8.64e15 })
    expect(await harness.load(run)).toMatchObject({ wakeAt: 8.64e15 })
  })

  test('ledger-7: concurrent claims share no run', async () => {
    const runs = Array.from({ length: 200 }, newRun)
    await harness.ledger.append(runs.map((run) => anAppend({ writes: [aCreation(run)] })))
    const other = harness.capabilities.shared ? await harness.second() : harness.ledger
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (i % 2 === 0 ? harness.ledger : other).claim({ worker: newWorker(), now: START, limit: 10 }),
      ),
    )
    const claimed = claims.flatMap((answer) => answer.claims.map((claim) => claim.stream))
    expect(new Set(claimed).size).toBe(claimed.length)
    // Concurrent claimers may skip each other's rows; the skipped rows can still be claimed.
    expect([...claimed, ...(await harness.claimable(START))].sort()).toEqual(runs)
  })

  test('ledger-7: concurrent claims of named runs share no run', async () => {
    const runs = Array.from({ length: 20 }, newRun)
    await harness.ledger.append(runs.map((run) => anAppend({ writes: [aCreation(run)] })))
    const other = harness.capabilities.shared ? await harness.second() : harness.ledger
    const claims = await Promise.all(
      [harness.ledger, other, harness.ledger, other].map((ledger) =>
        ledger.claim({ worker: newWorker(), now: START, limit: 20, only: runs }),
      ),
    )
    const claimed = claims.flatMap((answer) => answer.claims.map((claim) => claim.stream))
    expect(new Set(claimed).size).toBe(claimed.length)
  })

  test('[N5] a claim for some handlers takes only their runs, and reports only their wakes', async () => {
    const create = async (handler: string, wakeAt: number): Promise<RunId> => {
      const run = newRun()
      await harness.written({ writes: [aCreation(run, { handler }, { wakeAt })] })
      return run
    }
    const mail = [await create('mail', START + 1), await create('mail', START)]
    const [invoice] = [await create('invoice', START), await create('invoice', START + 50)]
    await create('report', START + 20)
    const claim = (handlers: readonly string[] | null, limit = 9) =>
      harness.ledger.claim({ worker: newWorker(), now: START + 5, limit, handlers })
    expect(await claim([])).toEqual({ claims: [], nextDueAt: null })
    expect(await claim(['nobody'])).toEqual({ claims: [], nextDueAt: null })
    expect(await claim(['mail', 'nobody'], 1)).toMatchObject({ claims: [{ stream: mail[1] }], nextDueAt: START + 1 })
    expect(await claim(['mail', 'report'])).toMatchObject({ claims: [{ stream: mail[0] }], nextDueAt: START + 20 })
    expect(await claim(['invoice'])).toMatchObject({ claims: [{ stream: invoice }], nextDueAt: START + 50 })
    expect(await claim(null)).toEqual({ claims: [], nextDueAt: START + 20 })
  })

  test('a claim of none takes no run, and returns since when one is due', async () => {
    const run = await harness.createRun({ wakeAt: START })
    const claim = (limit: number) => harness.ledger.claim({ worker: newWorker(), now: START + 5, limit })
    expect(await claim(0)).toEqual({ claims: [], nextDueAt: START })
    expect(await claim(9)).toMatchObject({ claims: [{ stream: run, epoch: 1 }], nextDueAt: null })
    expect(await claim(0)).toEqual({ claims: [], nextDueAt: null })
  })

  test('a claim of named runs takes only those of its handlers', async () => {
    const [mail, invoice] = [newRun(), newRun()]
    await harness.written({
      writes: [aCreation(mail, { handler: 'mail' }), aCreation(invoice, { handler: 'invoice' })],
    })
    const { claims } = await harness.ledger.claim({
      worker: newWorker(),
      now: START,
      limit: 9,
      only: [invoice, mail],
      handlers: ['mail'],
    })
    expect(claims.map((claim) => claim.stream)).toEqual([mail])
  })

  test('a signalled run is claimed in the order of its wake', async () => {
    const parked = await harness.createParkedRun()
    const later = await harness.createRun({ wakeAt: START + 10 })
    await harness.written({ events: [anEvent()], signals: [parked] })
    expect(await harness.claimable(START + 10)).toEqual([parked, later])
  })
}
