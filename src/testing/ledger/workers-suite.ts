/** Ledger suite, chapter 7: workers that are alive, fall silent or stop, and what happens to their leases. */
import { expect, test } from 'vitest'
import type { WorkerId } from '#model/kernel/ids.ts'
import { aFact, aWrite, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

const TTL = 15_000

export const workersSuite = (harness: LedgerHarness): void => {
  const beat = (worker: WorkerId, now: number): Promise<number> => harness.ledger.beat({ worker, now, ttlMs: TTL })
  const claimedBy = async (worker: WorkerId) => {
    const run = await harness.createRun()
    await harness.ledger.claim({ worker, now: START, limit: 1, only: [run] })
    return run
  }

  test('[R11] a worker that is silent for longer than the ttl loses its leases, one that is silent for just the ttl keeps them', async () => {
    const [silent, alive] = [newWorker(), newWorker()]
    await beat(silent, START)
    const run = await claimedBy(silent)
    const held = await harness.load(run)
    expect(await beat(alive, START + TTL)).toBe(0)
    expect(await harness.load(run)).toEqual(held)
    expect(await beat(alive, START + TTL + 1)).toBe(1)
    expect(await harness.load(run)).toEqual({ ...held, lease: null, epoch: 2, wakeAt: START + TTL + 1, recoveries: 1 })
  })

  test('[V12] a worker that lost its lease is fenced, and the next holder continues', async () => {
    const [silent, alive] = [newWorker(), newWorker()]
    await beat(silent, START)
    const run = await claimedBy(silent)
    await beat(alive, START + TTL + 1)
    expect(await harness.write(aWrite(run, { epoch: 1 }))).toMatchObject({
      kind: 'conflict',
      reason: 'epoch',
      epoch: 2,
    })
    const { claims } = await harness.ledger.claim({ worker: alive, now: START + TTL + 1, limit: 1 })
    expect(claims).toMatchObject([{ stream: run, version: 1, epoch: 3 }])
    await harness.written({ writes: [aWrite(run, { epoch: 3 })] })
  })

  test('a worker that keeps sending heartbeats keeps its leases', async () => {
    const [steady, other] = [newWorker(), newWorker()]
    await beat(steady, START)
    const run = await claimedBy(steady)
    for (let now = START; now < START + 5 * TTL; now += TTL / 3) {
      expect(await beat(steady, now)).toBe(0)
      expect(await beat(other, now)).toBe(0)
    }
    expect(await harness.load(run)).toMatchObject({ lease: steady, epoch: 1, recoveries: 0 })
  })

  test('a heartbeat after a long silence keeps the leases that were not freed', async () => {
    const late = newWorker()
    await beat(late, START)
    const run = await claimedBy(late)
    expect(await beat(late, START + 10 * TTL)).toBe(0)
    expect(await harness.load(run)).toMatchObject({ lease: late, epoch: 1 })
  })

  test('the leases of a worker that never sent a heartbeat are freed by the next heartbeat of another', async () => {
    const run = await claimedBy(newWorker())
    expect(await beat(newWorker(), START)).toBe(1)
    expect(await harness.load(run)).toMatchObject({ lease: null, epoch: 2, wakeAt: START, recoveries: 1 })
  })

  test('a heartbeat returns the number of leases that it freed, of all silent workers', async () => {
    const [first, second, alive] = [newWorker(), newWorker(), newWorker()]
    for (const worker of [first, second, alive]) await beat(worker, START)
    for (const worker of [first, first, second, alive]) await claimedBy(worker)
    expect(await beat(alive, START + TTL + 1)).toBe(3)
    expect(await beat(alive, START + TTL + 2)).toBe(0)
  })

  test('the count of recoveries is the number of lost leases since the last fact', async () => {
    const alive = newWorker()
    const run = await harness.createRun()
    for (const life of [1, 2, 3]) {
      await harness.ledger.claim({ worker: newWorker(), now: START, limit: 1 })
      await beat(alive, START)
      expect(await harness.load(run)).toMatchObject({ recoveries: life, epoch: 2 * life })
    }
    const { claims } = await harness.ledger.claim({ worker: alive, now: START, limit: 1 })
    expect(await harness.load(run)).toMatchObject({ recoveries: 3 })
    await harness.written({ writes: [aWrite(run, { epoch: claims[0]?.epoch ?? 0 })] })
    expect(await harness.load(run)).toMatchObject({ recoveries: 0 })
  })

  test('a release without facts keeps the count of recoveries, an external command resets it', async () => {
    const run = await claimedBy(newWorker())
    const alive = newWorker()
    await beat(alive, START)
    await harness.ledger.claim({ worker: alive, now: START, limit: 1 })
    const { headHash } = await harness.load(run)
    await harness.written({ writes: [aWrite(run, { epoch: 3, facts: [], headHash, release: true, wakeAt: START })] })
    expect(await harness.load(run)).toMatchObject({ recoveries: 1, version: 1, lease: null })
    await harness.written({ writes: [aWrite(run, { epoch: null, facts: [aFact()] })] })
    expect(await harness.load(run)).toMatchObject({ recoveries: 0, version: 2 })
  })

  test('a worker that stops releases its leases at once, and that is no recovery', async () => {
    const [worker, other] = [newWorker(), newWorker()]
    for (const one of [worker, other]) await beat(one, START)
    const [run, kept] = [await claimedBy(worker), await claimedBy(other)]
    await harness.ledger.retire(worker, START + 3)
    expect(await harness.load(run)).toMatchObject({ lease: null, epoch: 2, wakeAt: START + 3, recoveries: 0 })
    expect(await harness.load(kept)).toMatchObject({ lease: other, epoch: 1 })
    expect(await harness.claimable(START + 3)).toEqual([run])
  })

  test('retiring a worker twice, or an unknown worker, does nothing', async () => {
    const worker = newWorker()
    await beat(worker, START)
    await harness.ledger.retire(worker, START)
    await harness.ledger.retire(worker, START)
    await harness.ledger.retire(newWorker(), START)
    expect(await beat(newWorker(), START + 10 * TTL)).toBe(0)
  })

  test('a worker that retired and returns is unknown until its heartbeat', async () => {
    const [worker, other] = [newWorker(), newWorker()]
    await beat(worker, START)
    await harness.ledger.retire(worker, START)
    await claimedBy(worker)
    expect(await beat(other, START)).toBe(1)
    await beat(worker, START)
    await claimedBy(worker)
    expect(await beat(other, START)).toBe(0)
  })

  test('a parked run has no worker and survives all of them', async () => {
    const run = await harness.createParkedRun({ wakeAt: START + 1e6 })
    const before = await harness.load(run)
    expect(await beat(newWorker(), START + 1e5)).toBe(0)
    expect(await harness.load(run)).toEqual(before)
  })
}
