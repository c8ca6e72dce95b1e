/** The bounded queue before the ledger. */
import { expect, test } from 'vitest'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { WaitingRoom } from './waiting-room.ts'

const open = (queue: number, waitMs: number) => {
  const clock = new VirtualClock(1_000)
  const room = new WaitingRoom(clock, 1, { queue, waitMs })
  const ends: (() => void)[] = []
  const order: string[] = []
  const call = (name: string, isPatient = false): Promise<void> =>
    room.serve(
      () =>
        new Promise<void>((resolve) => {
          order.push(name)
          ends.push(resolve)
        }),
      isPatient,
    )
  return { clock, room, ends, order, call }
}

test('[M4] waiting-room-1: a new call is refused when the queue is full', async () => {
  const { room, call } = open(2, 1_000)
  void call('a')
  void call('b')
  void call('c')
  await expect(call('d')).rejects.toMatchObject({ code: 'OVERLOADED', outcome: 'not_done', status: 429 })
  expect(room.waiting).toBe(2)
})

test('waiting-room-1: a new call is refused when the first call in the queue has waited too long', async () => {
  const { clock, room, call } = open(100, 1_000)
  void call('a')
  void call('b')
  await clock.advance(999)
  void call('c')
  await clock.advance(1)
  await expect(call('d')).rejects.toMatchObject({ code: 'OVERLOADED' })
  expect([room.waiting, room.oldestMs]).toEqual([2, 1_000])
})

test('waiting-room-2: waiting calls are served in the order of arrival, and a patient call is never refused', async () => {
  const { ends, order, call, room } = open(1, 1_000)
  void call('a')
  void call('b')
  void call('own', true)
  for (let served = 0; served < 3; served++) {
    ends[served]?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(order).toEqual(['a', 'b', 'own'])
  expect(room.waiting).toBe(0)
})

test('ten thousand waiting calls are all served', async () => {
  const clock = new VirtualClock()
  const room = new WaitingRoom(clock, 4, { queue: 20_000, waitMs: 1_000 })
  let served = 0
  await Promise.all(Array.from({ length: 10_000 }, () => room.serve(async () => void served++)))
  expect([served, room.waiting, room.oldestMs]).toEqual([10_000, 0, 0])
})
