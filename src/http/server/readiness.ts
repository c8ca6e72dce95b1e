/**
 * Readiness of this process: gathers the input of model/kernel/readiness.ts, and tries to write where nothing else writes.
 *
 * Owns when the ledger is tried: once a second while it refuses, every five seconds while nothing else writes. `GET /health/ready` itself
 * never writes.
 */
import { type LoopDelay, loopDelay } from '#http/metrics/process.ts'
import { type Readiness, readinessOf, type Seen } from '#model/kernel/readiness.ts'
import { isServed, noHandlerFor } from '#model/worker/pin.ts'
import { ANYWHERE, misfit, type Placement } from '#model/worker/placement.ts'
import { takesRuns } from '#model/worker/worker-info.ts'
import type { DueRuns, WorkerSummary } from '#ports/reader.ts'
import { allWorkers, livingWorkers } from './all-workers.ts'
import { problemOf } from './problem.ts'
import type { Service } from './service.ts'
import { unhandledRuns } from './unhandled.ts'

const LOOK_MS = 1_000
const TRY_AFTER_MS = 5_000
const MOST_DUE = 1_000

type Asked = Pick<Service, 'reader' | 'tenant' | 'fleet' | 'vitals' | 'system' | 'tasks'>

const isTaking = ({ info }: WorkerSummary): boolean => info === null || takesRuns(info)

const hasRoom = ({ info, leases }: WorkerSummary): boolean => info === null || leases < info.slots

/** Null: its runs may wait for something else than a worker (their own concurrency limit), or the handler is unknown here. */
const placementOf = ({ functions, schedules }: Service['system'], handler: string): Placement | null => {
  const found = functions.get(handler)
  if (found === undefined) return schedules.has(handler) ? ANYWHERE : null
  return (found.flow?.concurrency.length ?? 0) > 0 ? null : found.placement
}

const overdueOf = (
  { system }: Asked,
  workers: readonly WorkerSummary[],
  due: readonly DueRuns[],
  now: number,
): Seen['overdue'] => {
  const free = workers.filter((worker) => isTaking(worker) && hasRoom(worker))
  if (free.length === 0) return null
  let worst: Seen['overdue'] = null
  const infos = workers.flatMap(({ info }) => info ?? [])
  for (const { handler, version, since } of due) {
    const placement = placementOf(system, handler)
    if (placement === null || (worst !== null && now - since <= worst.ms)) continue
    // A run whose version is still served waits for the workers of that version.
    const isLeft = isServed(infos, version, handler)
    const mayCome = ({ info }: WorkerSummary): boolean =>
      info === null ||
      ((!isLeft || info.version === version) &&
        misfit(info, placement) === null &&
        noHandlerFor({ handler, version }, [info]) === null)
    if (free.some(mayCome)) worst = { handler, ms: now - since }
  }
  return worst
}

const seenNow = async (service: Asked, delay: () => LoopDelay): Promise<Seen> => {
  const { reader, vitals, fleet } = service
  const { now } = service.tasks
  const { trouble, wroteAt } = vitals
  const own = {
    writeTrouble: trouble === null ? null : { code: trouble.code, detail: trouble.detail },
    sinceWriteMs: wroteAt === null ? null : now - wroteAt,
    loopDelayMs: delay().p99Ms,
  }
  try {
    await reader.events({ tenant: service.tenant, type: null, before: null, limit: 1 })
    const [workers, stop, dispatcherTrouble] = await Promise.all([
      allWorkers(reader).then((all) => livingWorkers(all, now)),
      fleet.stopped(),
      vitals.dispatcherTrouble(),
    ])
    const due = await reader.due(now, MOST_DUE)
    return {
      ...own,
      readTrouble: null,
      workers: { living: workers.length, taking: workers.filter(isTaking).length },
      isStopped: stop !== null,
      overdue: overdueOf(service, workers, due, now),
      unhandled: unhandledRuns(due, workers),
      dispatcherTrouble,
    }
  } catch (error) {
    const unknown = { workers: null, isStopped: false, overdue: null, unhandled: null, dispatcherTrouble: null }
    return { ...own, ...unknown, readTrouble: problemOf(error).code }
  }
}

/** `delay`: the event loop delay of this process, unless the embedding program measures it elsewhere. */
export const readinessNow = async (service: Asked, delay: () => LoopDelay = loopDelay): Promise<Readiness> =>
  readinessOf(await seenNow(service, delay))

/** Calls `changed` when the result of a check changes, until `ending`. Never keeps a process alive. */
export const followReadiness = (service: Asked, ending: AbortSignal, changed: (now: Readiness) => void): void => {
  let last = ''
  const look = async (): Promise<void> => {
    const now = await readinessNow(service)
    const checks = JSON.stringify(now.checks)
    if (checks !== last && !ending.aborted) changed(now)
    last = checks
  }
  const timer = setInterval(() => void look().catch(() => {}), TRY_AFTER_MS).unref()
  ending.addEventListener('abort', () => clearInterval(timer), { once: true })
}

/** Runs until `ending`. Never keeps a process alive. */
export const tryLedger = ({ vitals, tasks }: Pick<Service, 'vitals' | 'tasks'>, ending: AbortSignal): void => {
  let isTrying = false
  const look = (): void => {
    const { trouble, wroteAt } = vitals
    if (isTrying || (trouble === null && wroteAt !== null && tasks.now - wroteAt < TRY_AFTER_MS)) return
    isTrying = true
    void vitals.probe().finally(() => {
      isTrying = false
    })
  }
  const timer = setInterval(look, LOOK_MS).unref()
  ending.addEventListener('abort', () => clearInterval(timer), { once: true })
}
