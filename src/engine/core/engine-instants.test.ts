/** The instants that the engine passes to a dispatcher that keeps them. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { openMemory } from '#adapters/storage/memory/open.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { fn } from '#executors/workflow/function.ts'
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import { engineOf, HOUR } from '#test/support/engine.ts'
import { startTestSystem } from '#testing/system.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

/** An external dispatcher that only records what it receives. */
const noting = () => {
  const heard: [ClaimableId, Instant][] = []
  const outside: Dispatcher = {
    wake: (run, at) => void heard.push([run, at]),
    start: async () => {},
    stop: async () => {},
  }
  return { heard, outside }
}

test('a dispatcher that keeps instants gets the instant at which a parked run falls due, and none for a run that only waits for an event', async () => {
  const { heard, outside } = noting()
  const functions = [
    fn('sleeper', {}, ({ step }) => step.sleep('nap', '1h')),
    fn('waiter', {}, ({ step }) => step.waitForEvent('answer', { event: 'ping' })),
  ]
  const clock = new VirtualClock(1_000)
  const engine = engineOf({
    ledger: new MemoryLedger(new MemoryStore()),
    clock,
    source: { name: 'test', events: { ping: null }, functions },
    worker: { slots: 10, leaseTtlMs: 1_000 * HOUR, tellsInstants: true },
    deps: { dispatcher: outside },
  })
  await engine.start()
  const runs = Promise.all([engine.startRun('sleeper', null), engine.startRun('waiter', null)])
  await clock.advance(0)
  const [sleeper] = await runs
  expect(heard).toEqual([[sleeper, 1_000 + HOUR]])
})

test('a dispatcher that keeps instants gets the instant at which a coordinator falls due', async () => {
  const { heard, outside } = noting()
  const calm = fn('calm', { trigger: 'ping', debounce: { period: '1h' } }, () => null)
  const commit = { maxBatch: 256, maxInFlight: 1 }
  const rest = { durable: true, description: 'memory', pollMs: HOUR, sweepMs: null, commit }
  const system = await startTestSystem(
    { name: 'calm', events: { ping: null }, functions: [calm] },
    {
      name: 'memory',
      open: async () => ({ ...rest, ...openMemory(), dispatcher: outside, keepsInstants: true }),
      ids: () => new SystemIds(),
      remove: async () => {},
    },
  )
  const sentAt = system.clock.now()
  await system.send({ type: 'ping', data: {} })
  await system.advance('1m')
  expect(heard).toEqual([[expect.stringMatching(/^gat_/), sentAt + HOUR]])
  await system.close()
})
