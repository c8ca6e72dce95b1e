/** Which workers and runs count for which pool. */
import { expect, test } from 'vitest'
import { type PoolWorld, poolLoads } from './pool-load.ts'
import type { WorkerInfo } from './worker-info.ts'

const info = (given: Partial<WorkerInfo>): WorkerInfo => ({
  ...{ name: 'one', pool: null, labels: {}, modules: null, slots: 4, startedAt: 0, drains: false },
  ...given,
})

const world = (given: Partial<PoolWorld>): PoolWorld => ({
  pools: ['mail'],
  workers: [],
  due: [],
  poolOf: (handler) => (handler === 'send' ? 'mail' : null),
  ...given,
})

test('[N4] a worker counts for its pool, and its slots only while it claims runs', () => {
  const workers = [
    { info: info({ pool: 'mail' }), leases: 3 },
    { info: info({ pool: 'mail', halt: 'paused' }), leases: 1 },
    { info: info({ pool: 'mail', drains: true }), leases: 2 },
    { info: info({ slots: 10 }), leases: 0 },
    { info: null, leases: 5 },
  ]
  expect(poolLoads(world({ workers }))).toMatchObject([
    { pool: 'mail', workers: 3, taking: 1, capacity: 4, used: 6 },
    { pool: null, workers: 2, taking: 1, capacity: 10, used: 5 },
  ])
})

test('[N4] due runs count for the pool of their handler, or for no pool, with the instant of the oldest', () => {
  const due = [
    { handler: 'send', count: 2, since: 50 },
    { handler: 'tidy', count: 1, since: 40 },
    { handler: 'gone', count: 3, since: 30 },
  ]
  expect(poolLoads(world({ due }))).toMatchObject([
    { pool: 'mail', queued: 2, oldestAt: 50 },
    { pool: null, queued: 4, oldestAt: 30 },
  ])
  expect(poolLoads(world({}))).toMatchObject([
    { queued: 0, oldestAt: null },
    { queued: 0, oldestAt: null },
  ])
})
