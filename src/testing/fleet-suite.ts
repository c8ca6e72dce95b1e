/** What a Reader returns about runs that wait for workers, and about the definitions that open runs are pinned to. Part of the Reader's suite. */
import { expect, test } from 'vitest'
import { LOCAL_TENANT, type TenantId } from '#model/kernel/ids.ts'
import type { Reader } from '#ports/reader.ts'
import { aCreation, newRun, newSession, newWorker, START } from '#testing/ledger/builders.ts'
import type { LedgerHarness } from '#testing/ledger/harness.ts'

const OTHER_TENANT = 'other' as TenantId
const MANY = 100

export const fleetSuite = (harness: LedgerHarness, reader: () => Reader): void => {
  test('due runs without a lease are counted by handler and version, of every tenant and lane, with the oldest instant', async () => {
    const due = (handler: string, wakeAt: number, more: Parameters<typeof aCreation>[1] = {}) =>
      harness.written({ writes: [aCreation(newRun(), { handler, ...more }, { wakeAt })] })
    await due('mail', START + 5)
    await due('mail', START + 3, { tenant: OTHER_TENANT })
    await due('mail', START + 50)
    await due('pay', START + 4, { priority: 5 })
    await due('held', START + 1, { lease: newWorker() })
    await harness.written({ writes: [aCreation(newRun(), { handler: 'asleep' }, { wakeAt: null })] })
    await harness.written({ writes: [aCreation(newSession(), {}, { status: 'session', wakeAt: null })] })
    const lines = await reader().due(START + 10, MANY)
    expect(lines).toEqual([
      { handler: 'mail', version: 'system-1', count: 2, since: START + 3 },
      { handler: 'pay', version: 'system-1', count: 1, since: START + 4 },
    ])
    expect(await reader().due(START + 10, 2)).toEqual([
      { handler: 'mail', version: 'system-1', count: 1, since: START + 3 },
      { handler: 'pay', version: 'system-1', count: 1, since: START + 4 },
    ])
    expect(await reader().due(START, MANY)).toEqual([])
  })

  test('open runs, held ones included, are counted by the definition that they are pinned to; ended ones are not', async () => {
    const pinned = (
      systemHash: string,
      status: 'queued' | 'waiting' | 'success',
      lease = false,
      tenant = LOCAL_TENANT,
    ) =>
      harness.written({
        writes: [
          aCreation(
            newRun(),
            { systemHash, tenant, ...(lease ? { lease: newWorker() } : {}) },
            { status, wakeAt: null },
          ),
        ],
      })
    await pinned('old', 'waiting')
    await pinned('old', 'queued')
    await pinned('new', 'queued', true)
    await pinned('new', 'queued')
    await pinned('gone', 'success')
    await pinned('else', 'queued', false, OTHER_TENANT)
    expect(await reader().pinned(LOCAL_TENANT, MANY)).toEqual([
      { hash: 'new', count: 2, more: false },
      { hash: 'old', count: 2, more: false },
    ])
    const bounded = await reader().pinned(LOCAL_TENANT, 1)
    expect(bounded).toContainEqual({ hash: 'new', count: 2, more: true })
    expect(bounded).toContainEqual({ hash: 'old', count: 1, more: true })
  })
}
