/** Ledger suite, chapter 3: a worker that lost its lease cannot write any more; commands from outside need no lease (ledger-4, ledger-7). */
import { expect, test } from 'vitest'
import { aFact, anAppend, aWrite, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

export const fencingSuite = (harness: LedgerHarness): void => {
  test('ledger-4: [R4][V12] a write at a stale epoch is refused even if its version is right', async () => {
    const run = await harness.createRun()
    await harness.ledger.claim({ worker: newWorker(), now: START, limit: 1 })
    const before = await harness.load(run)
    expect(await harness.write(aWrite(run, { epoch: 0 }))).toEqual({
      kind: 'conflict',
      reason: 'epoch',
      stream: run,
      version: 1,
      epoch: 1,
    })
    expect(await harness.load(run)).toEqual(before)
  })

  test('ledger-4: a write with a wrong epoch and version is refused for its epoch: its writer is fenced', async () => {
    const run = await harness.createHeldRun()
    const outcome = await harness.write(aWrite(run, { expectedVersion: 5, epoch: 5 }))
    expect(outcome).toEqual({ kind: 'conflict', reason: 'epoch', stream: run, version: 1, epoch: 1 })
  })

  test('ledger-4: a future epoch is refused like a past one', async () => {
    const run = await harness.createHeldRun()
    expect(await harness.write(aWrite(run, { epoch: 2 }))).toMatchObject({ kind: 'conflict', reason: 'epoch' })
  })

  test('ledger-4: a holder whose lease was given to another can neither write nor release', async () => {
    const [worker, run] = [newWorker(), await harness.createParkedRun({ wakeAt: START })]
    const first = await harness.ledger.claim({ worker, now: START, limit: 1 })
    expect(first.claims).toMatchObject([{ stream: run, version: 2, epoch: 2 }])
    await harness.ledger.retire(worker, START)
    const second = await harness.ledger.claim({ worker: newWorker(), now: START, limit: 1 })
    expect(second.claims).toMatchObject([{ stream: run, version: 2, epoch: 4 }])
    const before = await harness.load(run)
    for (const facts of [[aFact()], []]) {
      const outcome = await harness.write(aWrite(run, { expectedVersion: 2, epoch: 2, facts, release: true }))
      expect(outcome).toEqual({ kind: 'conflict', reason: 'epoch', stream: run, version: 2, epoch: 4 })
    }
    expect(await harness.load(run)).toEqual(before)
  })

  test('an external command is written to a leased run, and its holder then gets a version conflict', async () => {
    const run = await harness.createHeldRun()
    const { lease } = await harness.load(run)
    const command = aWrite(run, { epoch: null, status: 'cancelling', wakeAt: START + 7 })
    await harness.written({ writes: [command] })
    expect(await harness.load(run)).toMatchObject({
      version: 2,
      status: 'cancelling',
      headHash: command.headHash,
      lease,
      epoch: 1,
      wakeAt: null,
    })
    expect(await harness.write(aWrite(run))).toMatchObject({
      kind: 'conflict',
      reason: 'version',
      version: 2,
      epoch: 1,
    })
  })

  test('an external command does not take the lease away, whatever it requests', async () => {
    const run = await harness.createHeldRun()
    const { lease } = await harness.load(run)
    await harness.written({ writes: [aWrite(run, { epoch: null, release: true, wakeAt: START })] })
    expect(await harness.load(run)).toMatchObject({ lease, wakeAt: null })
  })

  test('the holder decides at its release when a commanded run is woken', async () => {
    const run = await harness.createHeldRun()
    await harness.written({ writes: [aWrite(run, { epoch: null, wakeAt: START })] })
    await harness.written({ writes: [aWrite(run, { expectedVersion: 2, release: true, wakeAt: START + 50 })] })
    expect(await harness.load(run)).toMatchObject({ lease: null, wakeAt: START + 50 })
  })

  test('an external command sets the wake of a parked run', async () => {
    const run = await harness.createParkedRun({ wakeAt: START + 100 })
    await harness.written({ writes: [aWrite(run, { expectedVersion: 2, epoch: null, wakeAt: START + 3 })] })
    expect(await harness.load(run)).toMatchObject({ version: 3, lease: null, epoch: 1, wakeAt: START + 3 })
    await harness.written({ writes: [aWrite(run, { expectedVersion: 3, epoch: null, wakeAt: null })] })
    expect(await harness.load(run)).toMatchObject({ version: 4, wakeAt: null })
  })

  test('of many writers at one version exactly one wins', async () => {
    const run = await harness.createHeldRun()
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => harness.ledger.append([anAppend({ writes: [aWrite(run, { epoch: null })] })])),
    )
    const kinds = outcomes.map(([outcome]) => outcome?.kind)
    expect(kinds.filter((kind) => kind === 'conflict')).toHaveLength(19)
    expect((await harness.load(run)).version).toBe(2)
  })
}
