/** A flood of events on a ledger that answers when the test lets it: what is accepted, what waits, and that nothing is dropped. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { fn } from '#executors/workflow/function.ts'
import { plainSeals } from '#model/kernel/seal.ts'
import type { Ledger } from '#ports/ledger.ts'
import { engineOf, HOUR } from '#test/support/engine.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

const EVENTS = 2_000
const SLOTS = 5
/** How many callers intake serves at a time (intake-3). */
const INSIDE = 512

const begin = async () => {
  const clock = new VirtualClock(1_000_000)
  const ids = new SystemIds()
  const inner = new MemoryLedger(new MemoryStore())
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let offered = 0
  const ledger: Ledger = {
    append: async (batch) => {
      offered += batch.length
      await opened
      return inner.append(batch)
    },
    load: (streams, query) => inner.load(streams, query),
    events: (query) => inner.events(query),
    claim: (request) => inner.claim(request),
    beat: (request) => inner.beat(request),
    retire: (worker, now) => inner.retire(worker, now),
    close: () => inner.close(),
  }
  let atWork = 0
  let most = 0
  let born = 0
  const work = fn('work', { trigger: 'go' }, ({ step }) =>
    step.run('hard', async () => {
      most = Math.max(most, ++atWork)
      await new Promise<void>((resolve) => {
        clock.at(clock.now() + 10, resolve)
      })
      atWork--
    }),
  )
  const counting = {
    uuid: () => {
      born++
      return ids.uuid()
    },
    roll: () => ids.roll(),
    digest: (text: string) => ids.digest(text),
    ...plainSeals((text) => ids.digest(text)),
  }
  const source = { name: 'test', events: { go: null }, functions: [work] }
  const engine = engineOf({ ledger, clock, source, ids: counting, worker: { slots: SLOTS, pollMs: 1_000 } })
  await engine.start()
  return { engine, clock, open, count: () => ({ offered, born, most }) }
}

test('[M4] a flood of events waits at intake while the ledger is slow, and in the ledger while the workers are slow: nothing is dropped', async () => {
  const { engine, clock, open, count } = await begin()
  let ended = 0
  engine.subscribe(({ status }) => {
    if (status === 'success') ended++
  })
  let answered = 0
  const receipts = Array.from({ length: EVENTS }, (_, n) =>
    engine.send({ type: 'go', id: `e${n}`, data: { n } }).then(() => answered++),
  )
  await clock.advance(1)
  // The ledger does not answer: one batch is under way, a bounded number has been routed, the other callers wait.
  expect(answered).toBe(0)
  expect(count().offered).toBeLessThanOrEqual(64)
  expect(count().born).toBeLessThanOrEqual(2 * INSIDE)
  open()
  await clock.advance(HOUR)
  await Promise.all(receipts)
  expect(answered).toBe(EVENTS)
  expect(ended).toBe(EVENTS)
  expect(count().most).toBe(SLOTS)
}, 60_000)
