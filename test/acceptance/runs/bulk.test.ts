/** One command to many runs: it reaches each matching run once, across crashes, and the counts are right. */
import { expect, test } from 'vitest'
import { openJobs } from '#compose/bulk.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { LOCAL_TENANT, type RunId, type TenantId } from '#model/kernel/ids.ts'
import { type BulkIntent, failedOf } from '#model/run/bulk.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Ledger } from '#ports/ledger.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore, type TestSystem } from '#testing/system.ts'

/** More than two pages of a job. */
const MANY = 230

const open = async (place: TestStore) => {
  const tries = new Map<RunId, number>()
  let isMended = false
  const source: SystemSource = {
    name: 'many',
    functions: [
      fn('wait', {}, ({ step }) => step.sleep('nap', '30d')),
      fn('other', {}, ({ step }) => step.sleep('nap', '30d')),
      fn('break', { retry: { maxAttempts: 1 } }, ({ run }) => {
        tries.set(run.id, (tries.get(run.id) ?? 0) + 1)
        if (!isMended) throw new Error('it broke')
        return 'whole'
      }),
    ],
  }
  const system = await startTestSystem(source, place)
  const mend = () => {
    isMended = true
  }
  return { system, tries, mend }
}

/** After this many runs have received the command, the append is written but no further append is answered, until the store is reopened. */
const dyingStore = (inner: TestStore) => {
  let left = Number.POSITIVE_INFINITY
  let tell = (): void => {}
  const isStuck = new Promise<void>((resolve) => {
    tell = resolve
  })
  const dying = (ledger: Ledger): Ledger => ({
    append: async (batch) => {
      const outcomes = await ledger.append(batch)
      const facts = batch.flatMap(({ writes }) => writes.flatMap((write) => write.facts))
      left -= facts.filter(({ type }) => type === 'run.retried').length
      if (left > 0) return outcomes
      tell()
      return new Promise(() => {})
    },
    load: (streams, options) => ledger.load(streams, options),
    events: (query) => ledger.events(query),
    claim: (request) => ledger.claim(request),
    beat: (request) => ledger.beat(request),
    retire: (worker, now) => ledger.retire(worker, now),
    close: () => ledger.close(),
  })
  const open: TestStore['open'] = async (clock) => {
    left = Number.POSITIVE_INFINITY
    const store = await inner.open(clock)
    return { ...store, ledger: dying(store.ledger) }
  }
  const after = (words: number): void => {
    left = words
  }
  return { place: { ...inner, open }, after, isStuck }
}

const startMany = async (
  { engine, run, settle }: TestSystem,
  name: string,
  count: number,
): Promise<readonly RunId[]> => {
  const runs = await run(() => Promise.all(Array.from({ length: count }, () => engine.startRun(name, null))))
  await settle()
  return runs
}

const INTENT: BulkIntent = { action: 'cancel', where: null, ids: null, reason: null, by: 'ana' }

const begin = (system: TestSystem, intent: Partial<BulkIntent>, tenant: TenantId = LOCAL_TENANT): Promise<RunId> =>
  system.run(() => openJobs(system.engine.of(tenant), system.store.reader).begin({ ...INTENT, ...intent }))

const jobOf = async (system: TestSystem, id: RunId, tenant: TenantId = LOCAL_TENANT) => {
  const { job, run } = await system.run(() => openJobs(system.engine.of(tenant), system.store.reader).show(id))
  const { total, done, failures, isWhole } = job.progress
  return { status: run.status, total, done, failed: failedOf(job.progress), failures, isWhole, by: job.by }
}

const count = async ({ run, store: { reader } }: TestSystem, status: RunStatus, handler: string): Promise<number> =>
  (await run(() => reader.counts(LOCAL_TENANT, handler))).get(status) ?? 0

onEveryStore('bulk', (store) => {
  test('[G12] every matching run is cancelled, page after page, and no other', async () => {
    const { system } = await open(store())
    await startMany(system, 'wait', MANY)
    await startMany(system, 'other', 3)
    const job = await begin(system, { where: { status: 'waiting', handler: 'wait' }, reason: 'a wrong list' })
    await system.settle()
    expect(await jobOf(system, job)).toEqual({
      ...{ status: 'success', total: MANY, done: MANY, failed: 0, failures: [], isWhole: true, by: 'ana' },
    })
    expect([await count(system, 'cancelled', 'wait'), await count(system, 'waiting', 'other')]).toEqual([MANY, 3])
    const [one] = await system.run(() =>
      system.store.reader.runs({ tenant: LOCAL_TENANT, status: 'cancelled', handler: 'wait', before: null, limit: 1 }),
    )
    expect((await system.look(one?.id as RunId)).error).toEqual({ code: 'RUN_CANCELLED', message: 'a wrong list' })
    await system.close()
  })

  test('[G12] without a status only runs to which the command applies are matched', async () => {
    const { system } = await open(store())
    await startMany(system, 'wait', 3)
    const first = await begin(system, { where: { handler: 'wait' }, action: 'pause' })
    await system.settle()
    await startMany(system, 'wait', 2)
    const again = await begin(system, { where: { handler: 'wait' }, action: 'pause' })
    await system.settle()
    expect([(await jobOf(system, first)).done, (await jobOf(system, again)).done]).toEqual([3, 2])
    const resumed = await begin(system, { where: { status: 'paused' }, action: 'resume' })
    await system.settle()
    expect(await jobOf(system, resumed)).toMatchObject({ done: 5, failed: 0 })
    expect(await count(system, 'waiting', 'wait')).toBe(5)
    await system.close()
  })

  test('bulk-2: a job that is killed in the middle continues, reaches no run twice, and its counts are right', async () => {
    const dying = dyingStore(store())
    const { system, tries, mend } = await open(dying.place)
    const runs = await startMany(system, 'break', MANY)
    expect(await count(system, 'failed', 'break')).toBe(MANY)
    mend()
    dying.after(130)
    void begin(system, { where: { status: 'failed' }, action: 'retry' })
    await dying.isStuck
    await system.crash()
    await system.settle()
    const query = { tenant: LOCAL_TENANT, status: null, handler: 'trihand.bulk', before: null, limit: 2 }
    const [job] = await system.run(() => system.store.reader.runs(query))
    expect(await jobOf(system, job?.id as RunId)).toMatchObject({
      status: 'success',
      total: MANY,
      done: MANY,
      failed: 0,
    })
    expect(await count(system, 'success', 'break')).toBe(MANY)
    const retried = await system.run(() =>
      Promise.all(runs.map((run) => system.store.reader.facts(LOCAL_TENANT, run, { after: 0, limit: 50 }))),
    )
    const words = retried.map((facts) => facts.filter(({ type }) => type === 'run.retried').length)
    expect(words).toEqual(runs.map(() => 1))
    expect([...tries.values()].every((times) => times >= 2)).toBe(true)
    await system.close()
  })

  test('bulk-1: named runs that refuse are counted by error code, with the first of them named', async () => {
    const { system } = await open(store())
    const [open1, open2] = await startMany(system, 'wait', 2)
    const [failed] = await startMany(system, 'break', 1)
    const nobody = 'run_00000000000070008000000000000000' as RunId
    const ids = [open1, failed, nobody, open2, open1] as readonly RunId[]
    const job = await begin(system, { ids, action: 'cancel' })
    await system.settle()
    const { failures, ...sums } = await jobOf(system, job)
    expect(sums).toMatchObject({ total: 4, done: 2, failed: 2, isWhole: true })
    expect(failures).toMatchObject([
      { code: 'RUN_ENDED', count: 1, runs: [failed] },
      { code: 'NOT_FOUND', count: 1, runs: [nobody] },
    ])
    await system.close()
  })

  test('bulk-job-1: what a job records of each page names no run, and the page itself is gone at the end', async () => {
    const { system } = await open(store())
    await startMany(system, 'wait', MANY)
    const job = await begin(system, { where: { handler: 'wait' } })
    await system.settle()
    const { reader } = system.store
    const facts = await system.run(() => reader.facts(LOCAL_TENANT, job, { after: 0, limit: 100 }))
    expect(facts.length).toBeGreaterThan(MANY / 100)
    expect(Math.max(...facts.map(({ body }) => body.length))).toBeLessThan(600)
    expect(await system.run(() => reader.document(LOCAL_TENANT, 'trihand.job.page', job))).toBeNull()
    await system.close()
  })

  test('bulk-job-2: a job that cancels all active runs does not cancel itself', async () => {
    const { system } = await open(store())
    await startMany(system, 'wait', 2)
    const job = await begin(system, { where: { handler: 'trihand.bulk' } })
    await system.settle()
    expect(await jobOf(system, job)).toMatchObject({ status: 'success', total: 0, done: 0 })
    await system.close()
  })

  test('[S9] a job reaches only runs of its own tenant, even if others are named', async () => {
    const { system } = await open(store())
    const other = 'other' as TenantId
    const [mine] = await startMany(system, 'wait', 1)
    const theirs = await system.run(() => system.engine.of(other).startRun('wait', null))
    await system.settle()
    const job = await begin(system, { ids: [mine as RunId, theirs] }, other)
    await system.settle()
    expect(await jobOf(system, job, other)).toMatchObject({ done: 1, failures: [{ code: 'NOT_FOUND', runs: [mine] }] })
    expect((await system.look(mine as RunId)).status).toBe('waiting')
    await system.close()
  })

  test('started by its name it does nothing, because it has no order', async () => {
    const { system } = await open(store())
    const [run] = await startMany(system, 'wait', 1)
    await expect(system.start('trihand.bulk', [run])).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const forged = await system.start('trihand.bulk', [run], { isOwn: true })
    await system.settle()
    expect((await system.look(forged)).status).toBe('failed')
    expect((await system.look(run as RunId)).status).toBe('waiting')
    await system.close()
  })
})
