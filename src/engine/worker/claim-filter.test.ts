/** Which handlers a worker takes, depending on the other living workers; and what is reported when no worker takes a run. */
import { describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { normalise } from '#manifest/define/define.ts'
import { LATER } from '#manifest/define/delayed-event.ts'
import { type WorkerId, workerId } from '#model/kernel/ids.ts'
import type { WorkerInfo, WorkerPlace } from '#model/worker/worker-info.ts'
import type { WorkerSummary } from '#ports/reader.ts'
import { ClaimFilter, noWorkerFor } from './claim-filter.ts'

const work = (): null => null

const NOW = 1_000_000
const system = normalise(
  {
    name: 'test',
    functions: [
      fn('any', {}, work),
      fn('mail', { pool: 'mail' }, work),
      fn('near', { placement: { prefer: [{ label: 'region=eu' }] } }, work),
    ],
  },
  (text) => text,
)

const place = (given: Partial<WorkerPlace> = {}): WorkerPlace => ({ pool: null, labels: {}, modules: null, ...given })

let drawn = 0
const living = (given: Partial<WorkerInfo> = {}, beatAt = NOW): WorkerSummary => ({
  id: workerId((++drawn).toString(16).padStart(32, '0')),
  beatAt,
  info: { ...place(), name: 'one', slots: 1, startedAt: 0, drains: false, ...given },
  leases: 0,
})

const nobody = (_: WorkerId): boolean => false

describe('claim filter', () => {
  test('[N7] handlers of another pool are not taken', () => {
    const claimFilter = new ClaimFilter(
      place(),
      () => system,
      async () => [],
    )
    expect([claimFilter.takes('any'), claimFilter.takes('mail'), claimFilter.takes('near')]).toEqual([
      true,
      false,
      true,
    ])
    expect(claimFilter.misfit('mail')).toBe('pool mail')
    expect(
      new ClaimFilter(
        place({ pool: 'mail' }),
        () => system,
        async () => [],
      ).current.atOnce,
    ).toBeNull()
  })

  test('[N7] claim-filter-1: a run is left to a better suited worker only while that worker lives and takes runs', async () => {
    let others = [living({ labels: { region: 'eu' } })]
    const claimFilter = new ClaimFilter(
      place(),
      () => system,
      async () => others,
    )
    expect(claimFilter.takes('near')).toBe(true)
    await claimFilter.refresh(nobody)
    expect([claimFilter.takes('near'), claimFilter.current.later]).toEqual([false, ['near']])
    others = [living({ labels: { region: 'eu' }, drains: true })]
    await claimFilter.refresh(nobody)
    expect(claimFilter.takes('near')).toBe(true)
  })

  test('any worker may take a schedule, also one that may not take every handler', () => {
    const timed = { ...system, schedules: new Map([['nightly', {}]]) } as unknown as typeof system
    const claimFilter = new ClaimFilter(
      place(),
      () => timed,
      async () => [],
    )
    expect(claimFilter.current.atOnce).toEqual(['nightly', 'any', 'near', LATER])
  })

  test('claim-filter-5: runs of other versions are taken over for handlers that the system has and that fit here', () => {
    const claimFilter = new ClaimFilter(
      place(),
      () => system,
      async () => [],
    )
    const handlers = claimFilter.taker(true).takesOver?.map(({ handler }) => handler)
    expect([handlers, claimFilter.told.handlers]).toEqual([claimFilter.told.handlers, ['any', 'near', LATER]])
    expect(claimFilter.taker(false)).toEqual({ version: system.hash })
  })

  test('a worker does not count its own names as other workers', async () => {
    const own = living({ labels: { region: 'eu' } })
    const claimFilter = new ClaimFilter(
      place(),
      () => system,
      async () => [own],
    )
    await claimFilter.refresh((id) => id === own.id)
    expect(claimFilter.takes('near')).toBe(true)
  })

  test('a new definition of the system takes effect at once', () => {
    let current = system
    const claimFilter = new ClaimFilter(
      place(),
      () => current,
      async () => [],
    )
    expect(claimFilter.takes('mail')).toBe(false)
    current = normalise({ name: 'test', functions: [fn('mail', {}, work)] }, (text) => text)
    expect(claimFilter.takes('mail')).toBe(true)
  })
})

describe('NO_WORKER', () => {
  const due = { handler: 'mail', leased: false, wakeAt: NOW - 30_000 }
  const lack = (run: typeof due, workers: readonly WorkerSummary[]) =>
    noWorkerFor(run, { system, now: NOW, workers: async () => workers })

  test('[N7] is reported for a run that has been due for 30 s and that no living worker may take', async () => {
    expect(await lack(due, [living()])).toBe('NO_WORKER: none of 1 workers has pool mail')
    expect(await lack(due, [])).toBe('NO_WORKER: no worker is running')
    expect(await lack(due, [living({ pool: 'mail' }, NOW - 30_000)])).toBe('NO_WORKER: no worker is running')
  })

  test('is not reported earlier, nor for a run that a worker has or may take, nor for an unknown handler', async () => {
    expect(await lack({ ...due, wakeAt: NOW - 29_999 }, [])).toBeNull()
    expect(await lack({ ...due, leased: true }, [])).toBeNull()
    expect(await lack(due, [living(), living({ pool: 'mail' })])).toBeNull()
    expect(await lack({ ...due, handler: 'gone' }, [])).toBeNull()
    expect(await lack(due, [{ ...living(), info: null }])).toBeNull()
  })
})
