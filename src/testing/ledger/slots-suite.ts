/** Ledger suite, chapter 8: runs that share a limited resource, and runs with priority (ledger-8). */
import { expect, test } from 'vitest'
import type { Slot } from '#model/flow/lane.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { NewStream, StreamWrite } from '#ports/ledger.ts'
import { aCreation, anAppend, aWrite, newRun, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

const LATER = START + 1_000
const TTL = 15_000

const aSlot = (slot: Partial<Slot> = {}): Slot => ({ key: 'printer', limit: 1, weight: 1, ...slot })

export const slotsSuite = (harness: LedgerHarness): void => {
  const create = async (stream: Partial<NewStream>, write: Partial<StreamWrite> = {}): Promise<RunId> => {
    const run = newRun()
    await harness.written({ writes: [aCreation(run, stream, write)] })
    return run
  }
  const slotted = (count: number, ...slots: readonly Slot[]): Promise<readonly RunId[]> =>
    Array.from({ length: count }).reduce<Promise<RunId[]>>(
      async (made) => [...(await made), await create({ slots })],
      Promise.resolve([]),
    )
  const claim = (limit = 100, now = START) => harness.ledger.claim({ worker: newWorker(), now, limit })

  test('ledger-8: no more runs than the limit of a shared slot have a lease', async () => {
    const [a, b, c] = await slotted(3, aSlot({ limit: 2 }))
    expect(await harness.claimable(START)).toEqual([a, b])
    expect(await harness.claimable(LATER)).toEqual([])
    expect(await harness.claimable(LATER, [c as RunId])).toEqual([])
  })

  test('ledger-8: a run that ends makes room for the next, and the append names it', async () => {
    const [first, second] = await slotted(3, aSlot())
    await claim()
    const ended = await harness.written({ writes: [aWrite(first as RunId, { release: true, status: 'success' })] })
    harness.expectSignalled(ended, second as RunId)
    expect(await harness.claimable(START)).toEqual([second])
  })

  test('ledger-8: a run that parks makes room for the next, and waits for room itself when it wakes', async () => {
    const [first, second] = await slotted(2, aSlot())
    await claim()
    const parked = await harness.written({
      writes: [aWrite(first as RunId, { release: true, status: 'waiting', wakeAt: START + 5 })],
    })
    harness.expectSignalled(parked, second as RunId)
    expect(await harness.claimable(START)).toEqual([second])
    expect(await harness.claimable(START + 5)).toEqual([])
    await harness.written({ writes: [aWrite(second as RunId, { release: true, status: 'success' })] })
    expect(await harness.claimable(START + 5)).toEqual([first])
  })

  test('ledger-8: [R11] the slots of a worker that died or stopped are free with its leases', async () => {
    await slotted(2, aSlot())
    const [silent, alive] = [newWorker(), newWorker()]
    await harness.ledger.beat({ worker: silent, now: START, ttlMs: TTL })
    await harness.ledger.claim({ worker: silent, now: START, limit: 9 })
    await harness.ledger.beat({ worker: alive, now: START + TTL + 1, ttlMs: TTL })
    const next = await harness.ledger.claim({ worker: alive, now: START + TTL + 1, limit: 9 })
    expect(next.claims).toHaveLength(1)
    await harness.ledger.retire(alive, START + TTL + 2)
    expect(await harness.claimable(START + TTL + 2)).toHaveLength(1)
  })

  test('every slot of a run must have room, whichever run has taken it', async () => {
    const [printer, paper] = [aSlot({ key: 'printer', limit: 2 }), aSlot({ key: 'paper', limit: 1 })]
    const both = await create({ slots: [printer, paper] })
    const hungry = await create({ handler: 'other', slots: [paper] })
    const printing = await create({ slots: [printer] })
    const waiting = await create({ slots: [printer, paper] })
    expect(await harness.claimable(START)).toEqual([both, printing])
    await harness.written({ writes: [aWrite(printing, { release: true, status: 'success' })] })
    expect(await harness.claimable(START)).toEqual([])
    await harness.written({ writes: [aWrite(both, { release: true, status: 'success' })] })
    expect(await harness.claimable(START)).toEqual([hungry])
    await harness.written({ writes: [aWrite(hungry, { release: true, status: 'success' })] })
    expect(await harness.claimable(START)).toEqual([waiting])
  })

  test('a run takes its weight of a slot', async () => {
    const light = aSlot({ limit: 4 })
    const heavy = aSlot({ limit: 4, weight: 3 })
    const [first, second] = [await create({ slots: [heavy] }), await create({ slots: [heavy] })]
    const [third, fourth] = [await create({ slots: [light] }), await create({ slots: [light] })]
    expect(await harness.claimable(START)).toEqual([first, third])
    await harness.written({ writes: [aWrite(first, { release: true, status: 'success' })] })
    expect(new Set(await harness.claimable(START))).toEqual(new Set([second]))
    expect(await harness.claimable(LATER, [fourth])).toEqual([])
  })

  test('runs that wait for a full slot block no other runs', async () => {
    await slotted(50, aSlot())
    const [free, other] = [await harness.createRun(), await create({ slots: [aSlot({ key: 'scanner' })] })]
    await claim(1)
    expect(new Set(await harness.claimable(START))).toEqual(new Set([free, other]))
  })

  test('the next due time ignores runs that wait for a slot, and includes runs that wait for a time', async () => {
    await slotted(2, aSlot())
    expect((await claim()).nextDueAt).toBeNull()
    await create({ slots: [aSlot()] }, { wakeAt: START + 70 })
    await harness.createRun({ wakeAt: START + 90 })
    expect(await claim()).toEqual({ claims: [], nextDueAt: START + 70 })
  })

  test('a claim takes no more than its limit of runs with slots, and reports that there are more', async () => {
    const runs = await slotted(3, aSlot({ limit: 9 }))
    expect(await claim(2)).toMatchObject({ claims: [{ stream: runs[0] }, { stream: runs[1] }], nextDueAt: START })
    expect(await claim(2)).toMatchObject({ claims: [{ stream: runs[2] }], nextDueAt: null })
  })

  test('a claim for some handlers skips the lanes of others', async () => {
    const mail = await create({ handler: 'mail', slots: [aSlot()] })
    await create({ handler: 'print', slots: [aSlot()] }, { wakeAt: START - 5 })
    await create({ handler: 'print', slots: [aSlot()] }, { wakeAt: START + 5 })
    const plain = await create({ handler: 'mail' })
    const request = { worker: newWorker(), now: START, limit: 9, handlers: ['mail'] }
    const { claims, nextDueAt } = await harness.ledger.claim(request)
    expect(claims.map((one) => one.stream)).toEqual([mail, plain])
    expect(nextDueAt).toBeNull()
  })

  test('under contention the keys take turns, however long one of them has waited', async () => {
    const shared = aSlot({ key: 'all', limit: 4 })
    const many = await slotted(10, aSlot({ key: 'customer a', limit: 9 }), shared)
    const few = await slotted(3, aSlot({ key: 'customer b', limit: 9 }), shared)
    expect(await harness.claimable(START)).toEqual([many[0], few[0], many[1], few[1]])
    await harness.written({ writes: [aWrite(few[0] as RunId, { release: true, status: 'success' })] })
    expect(await harness.claimable(START)).toEqual([few[2]])
    await harness.written({ writes: [aWrite(many[0] as RunId, { release: true, status: 'success' })] })
    expect(await harness.claimable(START)).toEqual([many[2]])
  })

  test('the priority of a run counts as extra seconds of waiting, and no run waits forever', async () => {
    const plain = await harness.createRun({ wakeAt: START })
    const urgent = await create({ priority: 60 }, { wakeAt: START + 59_000 })
    const tooLate = await create({ priority: 60 }, { wakeAt: START + 61_000 })
    const patient = await create({ priority: -60 }, { wakeAt: START - 59_500 })
    expect(await harness.claimable(START + 61_000)).toEqual([urgent, plain, patient, tooLate])
  })

  test('[R9] no priority makes a run due before its wake', async () => {
    const run = await create({ priority: 86_400 }, { wakeAt: START + 10 })
    expect(await claim()).toEqual({ claims: [], nextDueAt: START + 10 })
    expect(await harness.claimable(START + 10)).toEqual([run])
  })

  test('among runs that share a slot the higher priority goes first', async () => {
    const low = await create({ slots: [aSlot()] })
    const high = await create({ slots: [aSlot()], priority: 5 }, { wakeAt: START + 1 })
    expect(await harness.claimable(START + 1)).toEqual([high])
    await harness.written({ writes: [aWrite(high, { release: true, status: 'success' })] })
    expect(await harness.claimable(START + 1)).toEqual([low])
  })

  test('ledger-8: concurrent claims never exceed a limit', async () => {
    const keys = ['a', 'b', 'c']
    const runs = Array.from({ length: 60 }, (_, i) => ({
      run: newRun(),
      slots: [aSlot({ key: keys[i % 3] as string, limit: 2 })],
    }))
    await harness.ledger.append(runs.map(({ run, slots }) => anAppend({ writes: [aCreation(run, { slots })] })))
    const other = harness.capabilities.shared ? await harness.second() : harness.ledger
    const done = new Set<RunId>()
    while (done.size < runs.length) {
      const answers = await Promise.all(
        [harness.ledger, other, other, harness.ledger].map((ledger) =>
          ledger.claim({ worker: newWorker(), now: START, limit: 5 }),
        ),
      )
      const claimed = answers.flatMap(({ claims }) => claims.map(({ stream }) => stream as RunId))
      for (const key of keys) {
        const holders = runs.filter(({ run, slots }) => claimed.includes(run) && slots[0]?.key === key)
        expect(holders.length).toBeLessThanOrEqual(2)
      }
      expect(claimed.length).toBeGreaterThan(0)
      expect(claimed.filter((run) => done.has(run))).toEqual([])
      for (const run of claimed) {
        done.add(run)
        await harness.written({ writes: [aWrite(run, { release: true, status: 'success' })] })
      }
    }
  })
}
