/**
 * The gauges: current values, read from the ledger when they are asked for and cached for five seconds.
 *
 * Owns the query behind each gauge. Only reads, through the Reader; each query runs at most once in five seconds.
 */
import { allWorkers, livingWorkers } from '#http/server/all-workers.ts'
import type { Service } from '#http/server/service.ts'
import { unhandledRuns } from '#http/server/unhandled.ts'
import { workerStatus } from '#http/wire/worker.ts'
import type { Instant, TenantId } from '#model/kernel/ids.ts'
import { OPEN_STATUSES } from '#model/run/status.ts'
import { takesRuns } from '#model/worker/worker-info.ts'
import type { Reader } from '#ports/reader.ts'
import type { Reading } from './table.ts'

type Asked = Pick<Service, 'reader' | 'knownTenants' | 'system' | 'ledger' | 'tokens'>

const FRESH_MS = 5_000
const MOST_CIRCUIT_EVENTS = 200
const MOST_DUE = 1_000
const NO_POOL = 'default'
/** In the order in which a circuit breaker passes through them. */
const CIRCUIT_STATES = { closed: 0, half_opened: 1, opened: 2 } as const

const summed = (readings: readonly Reading[]): readonly Reading[] => {
  const sums = new Map<string, Reading>()
  for (const reading of readings) {
    const key = JSON.stringify([reading.metric, reading.labels])
    sums.set(key, { ...reading, value: reading.value + (sums.get(key)?.value ?? 0) })
  }
  return [...sums.values()]
}

const ofRuns = async (reader: Reader, tenant: TenantId): Promise<readonly Reading[]> => {
  const counts = await reader.counts(tenant)
  return OPEN_STATUSES.map((status) => ({ metric: 'runs_open', labels: [status], value: counts.get(status) ?? 0 }))
}

const ofTasks = async (reader: Reader, tenant: TenantId, now: Instant): Promise<readonly Reading[]> =>
  (await reader.openTasks(tenant, now)).map(({ type, isOverdue, count }) => ({
    metric: 'tasks_open',
    labels: [type, `${isOverdue}`],
    value: count,
  }))

/** Reports zero for a pool without workers: a series that disappears raises no alarm. */
const ofWorkers = async (reader: Reader, pools: readonly string[], now: Instant): Promise<readonly Reading[]> => [
  ...[NO_POOL, ...pools].flatMap((pool): readonly Reading[] => [
    { metric: 'workers', labels: [pool, 'working'], value: 0 },
    { metric: 'slots_used', labels: [pool], value: 0 },
    { metric: 'slots_free', labels: [pool], value: 0 },
  ]),
  ...livingWorkers(await allWorkers(reader), now).flatMap(({ info, leases }): readonly Reading[] => {
    const pool = info?.pool ?? NO_POOL
    const state = workerStatus(info)
    const free = info === null || !takesRuns(info) ? 0 : Math.max(0, info.slots - leases)
    return [
      { metric: 'workers', labels: [pool, state], value: 1 },
      { metric: 'slots_used', labels: [pool], value: leases },
      { metric: 'slots_free', labels: [pool], value: free },
    ]
  }),
]

const ofDue = async (reader: Reader, now: Instant): Promise<readonly Reading[]> => {
  const [due, workers] = await Promise.all([reader.due(now, MOST_DUE), allWorkers(reader)])
  const oldest = Math.min(now, ...due.map(({ since }) => since))
  const unhandled = unhandledRuns(due, livingWorkers(workers, now))
  return [
    { metric: 'oldest_due_seconds', labels: [], value: (now - oldest) / 1_000 },
    { metric: 'runs_no_handler', labels: [], value: unhandled?.count ?? 0 },
  ]
}

const ofTokens = async (tokens: Pick<Service['tokens'], 'list'>, now: Instant): Promise<readonly Reading[]> => {
  const live = (await tokens.list(null)).filter(({ revokedAt, expiresAt }) => revokedAt === null && expiresAt > now)
  if (live.length === 0) return []
  const first = Math.min(...live.map(({ expiresAt }) => expiresAt))
  return [{ metric: 'token_expiry_seconds', labels: [], value: (first - now) / 1_000 }]
}

/** The last event of each circuit breaker, among the last events of each state. */
const ofCircuits = async (reader: Reader, tenant: TenantId): Promise<readonly Reading[]> => {
  const last = new Map<string, { readonly sequence: number; readonly value: number }>()
  for (const [word, value] of Object.entries(CIRCUIT_STATES)) {
    const query = { tenant, type: `trihand.circuit.${word}`, before: null, limit: MOST_CIRCUIT_EVENTS }
    for (const { subject, sequence } of await reader.events(query))
      if (subject !== null && (last.get(subject)?.sequence ?? -1) < sequence) last.set(subject, { sequence, value })
  }
  return [...last].map(([key, { value }]) => ({ metric: 'circuit_state', labels: [key], value }))
}

const hasCircuits = ({ functions }: Service['system']): boolean =>
  [...functions.values()].some(({ circuit }) => circuit !== null)

const readAll = async (
  { reader, knownTenants, system, ledger, tokens }: Asked,
  now: Instant,
): Promise<readonly Reading[]> => {
  const ofTenant = (tenant: TenantId): Promise<readonly (readonly Reading[])[]> =>
    Promise.all([
      ofRuns(reader, tenant),
      ofTasks(reader, tenant, now),
      hasCircuits(system) ? ofCircuits(reader, tenant) : [],
    ])
  const found = await Promise.all([
    ofWorkers(reader, [...system.pools.keys()], now),
    ofDue(reader, now),
    ofTokens(tokens, now),
    ...(await Promise.all(knownTenants.map(ofTenant))).flat(),
  ])
  return [...summed(found.flat()), { metric: 'durable', labels: [], value: ledger.durable ? 1 : 0 }]
}

/** Returns what was read less than five seconds ago, or reads again. */
export const gaugesOf = (service: Asked): ((now: Instant) => Promise<readonly Reading[]>) => {
  let last: { readonly at: Instant; readonly readings: Promise<readonly Reading[]> } | null = null
  return (now) => {
    if (last === null || now - last.at >= FRESH_MS) {
      const readings = readAll(service, now)
      const next = { at: now, readings }
      last = next
      // A failed read is not cached.
      readings.catch(() => {
        if (last === next) last = null
      })
    }
    return last.readings
  }
}
