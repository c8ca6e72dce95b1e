/**
 * On Postgres the row of a held stream is not updated while facts are appended (docs/decisions/0070). Readers must not notice, and a
 * release or the loss of the lease updates the row to the last fact, whatever is in progress at that moment.
 */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type OpenedPostgres, openPostgres } from '#adapters/storage/postgres/open.ts'
import { LOCAL_TENANT, type RunId, type WorkerId } from '#model/kernel/ids.ts'
import type { Append, Ledger, StreamWrite } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { ask, type FreshSchema, SchemaShelf } from '#test/support/stores/postgres-schema.ts'
import { RowHolder } from '#test/support/stores/row-holder.ts'
import { until } from '#test/support/until.ts'
import { aCreation, aFact, anAppend, aWrite, newRun, newWorker, START } from '#testing/ledger/builders.ts'

const url = process.env['TRIHAND_TEST_PG_URL'] ?? ''
const shelf = new SchemaShelf(url)

describe.skipIf(url === '')('held runs on Postgres', () => {
  let fresh: FreshSchema
  let opened: OpenedPostgres[]
  let here: Ledger
  let there: Ledger
  let reader: Reader
  let holder: RowHolder | null

  beforeEach(async () => {
    fresh = await shelf.take()
    opened = []
    holder = null
    for (let i = 0; i < 2; i++)
      opened.push(await openPostgres({ url: fresh.url, clock: 'caller', max: 4, notify: false }))
    const [first, second] = opened as [OpenedPostgres, OpenedPostgres]
    ;({ ledger: here, reader } = first)
    there = second.ledger
  })
  afterEach(async () => {
    await holder?.release()
    for (const one of opened) await one.close()
    await shelf.giveBack(fresh)
  })
  afterAll(() => shelf.dropAll())

  const append = (...writes: readonly StreamWrite[]): Append => anAppend({ writes })

  const step = (run: RunId, expectedVersion: number, more: Partial<StreamWrite> = {}): StreamWrite => {
    const fact = aFact()
    return aWrite(run, { expectedVersion, status: 'running', facts: [fact], headHash: fact.hash, ...more })
  }
  const bareRelease = (run: RunId, expectedVersion: number, headHash: string): Append =>
    append(aWrite(run, { expectedVersion, status: 'waiting', facts: [], headHash, release: true }))

  /** A held run with its first fact and two steps after it. */
  const heldRun = async (worker: WorkerId = newWorker()): Promise<{ run: RunId; headHash: string }> => {
    const run = newRun()
    await here.append([append(aCreation(run, { lease: worker }, { status: 'running', wakeAt: null }))])
    await here.append([append(step(run, 1))])
    const last = step(run, 2)
    await here.append([append(last)])
    return { run, headHash: last.headHash }
  }

  const row = async (run: RunId): Promise<unknown> =>
    (
      await ask(
        fresh.url,
        `select version::int, head_hash, epoch::int, recoveries, lease is not null as leased,
      (select count(*)::int from fact where stream = id) as facts from stream where id = '${run.slice(4)}'`,
      )
    )[0]

  const WAITING = `select pid from pg_stat_activity where application_name = current_setting('application_name')
    and wait_event_type = 'Lock' and wait_event in ('tuple', 'transactionid')`
  const untilBlocked = (count: number) =>
    until(
      () => ask(fresh.url, WAITING),
      (rows) => rows.length >= count,
    )

  test('a step appends its fact and leaves the row unchanged', async () => {
    const { run } = await heldRun()
    expect(await row(run)).toMatchObject({ version: 1, facts: 3 })
  })

  test('ledger-4: every reader of a held run sees its facts', async () => {
    const { run, headHash } = await heldRun()
    const all = { version: 3, headHash }
    expect(await there.load([run])).toMatchObject([all])
    expect(await there.load([run], { last: 1 })).toMatchObject([{ ...all, facts: [{ hash: headHash }] }])
    expect(await reader.run(LOCAL_TENANT, run)).toMatchObject({ version: 3 })
    const query = { tenant: LOCAL_TENANT, handler: null, before: null, limit: 9 }
    for (const status of [null, 'running'] as const)
      expect(await reader.runs({ ...query, status })).toMatchObject([{ version: 3 }])
    for (const ledger of [here, there])
      expect(await ledger.append([append(step(run, 1))])).toMatchObject([{ reason: 'version', version: 3, epoch: 1 }])
  })

  test('a release updates the row to the last fact, with a fact of its own and without', async () => {
    const [one, other] = [await heldRun(), await heldRun()]
    const last = step(one.run, 3, { release: true, status: 'waiting' })
    await here.append([append(last), bareRelease(other.run, 3, other.headHash)])
    expect(await row(one.run)).toMatchObject({ version: 4, head_hash: last.headHash, leased: false })
    expect(await row(other.run)).toMatchObject({ version: 3, head_hash: other.headHash, leased: false })
  })

  test('a signal does not change the version of a held run', async () => {
    const { run } = await heldRun()
    await there.append([anAppend({ signals: [run] })])
    expect(await row(run)).toMatchObject({ version: 1, facts: 3 })
    expect(await here.append([append(step(run, 3))])).toMatchObject([{ kind: 'written' }])
    expect(await there.load([run])).toMatchObject([{ version: 4, signal: 1 }])
  })

  test('an external command uses the current version of a held run, and its holder then sees the command', async () => {
    const { run } = await heldRun()
    const [command] = await there.append([append(step(run, 3, { epoch: null, status: 'cancelling' }))])
    expect(command).toMatchObject({ kind: 'written' })
    expect(await row(run)).toMatchObject({ version: 4, facts: 4 })
    expect(await here.append([append(step(run, 3))])).toMatchObject([{ reason: 'version', version: 4 }])
    expect(await here.append([append(step(run, 4, { status: 'cancelling' }))])).toMatchObject([{ kind: 'written' }])
  })

  test('[R1] freeing a run whose holder is silent updates its row to the last fact', async () => {
    const { run, headHash } = await heldRun()
    expect(await there.beat({ worker: newWorker(), now: START, ttlMs: 1_000 })).toBe(1)
    expect(await row(run)).toMatchObject({ version: 3, head_hash: headHash, epoch: 2, recoveries: 1, leased: false })
    const worker = newWorker()
    expect(await there.claim({ worker, now: START, limit: 1 })).toMatchObject({
      claims: [{ stream: run, version: 3, epoch: 3 }],
      records: [{ version: 3, headHash }],
    })
    expect(await here.append([append(step(run, 3))])).toMatchObject([{ reason: 'epoch', version: 3, epoch: 3 }])
    await there.append([append(step(run, 3, { epoch: 3 }))])
    expect(await row(run)).toMatchObject({ version: 4, recoveries: 0 })
  })

  test('a retired worker leaves updated rows, and can write no more', async () => {
    const worker = newWorker()
    const { run, headHash } = await heldRun(worker)
    await there.retire(worker, START)
    expect(await row(run)).toMatchObject({ version: 3, head_hash: headHash, leased: false })
    expect(await here.append([append(step(run, 3))])).toMatchObject([{ reason: 'epoch', version: 3, epoch: 2 }])
  })

  test('ledger-4: [Q21] a worker that lost a run to another is refused, even if it guesses the version', async () => {
    const worker = newWorker()
    const { run } = await heldRun(worker)
    await there.retire(worker, START)
    await there.claim({ worker: newWorker(), now: START, limit: 1 })
    await there.append([append(step(run, 3, { epoch: 3 }))])
    expect(await here.append([append(step(run, 4))])).toMatchObject([{ reason: 'epoch', version: 4, epoch: 3 }])
    expect(await there.append([append(step(run, 4, { epoch: 3 }))])).toMatchObject([{ kind: 'written' }])
  })

  /** Blocks both until they wait for the row, one behind the other. */
  const inThisOrder = async <First, Second>(
    run: RunId,
    first: () => Promise<First>,
    second: () => Promise<Second>,
  ): Promise<readonly [First, Second]> => {
    holder = await RowHolder.lock(fresh.url, run)
    const one = first()
    await untilBlocked(1)
    const other = second()
    await untilBlocked(2)
    await holder.release()
    return [await one, await other]
  }

  test('ledger-4: a step that waits while its lease is taken away is refused', async () => {
    const worker = newWorker()
    const { run } = await heldRun(worker)
    const late = append(step(run, 3))
    const [, outcomes] = await inThisOrder(
      run,
      () => there.retire(worker, START),
      () => here.append([late]),
    )
    expect(outcomes).toMatchObject([{ kind: 'conflict', reason: 'epoch', version: 3, epoch: 2 }])
    expect(await row(run)).toMatchObject({ version: 3, facts: 3 })
  })

  test('ledger-4: taking a lease away counts the step that was appended just before', async () => {
    const worker = newWorker()
    const { run } = await heldRun(worker)
    const last = step(run, 3)
    const [outcomes] = await inThisOrder(
      run,
      () => here.append([append(last)]),
      () => there.retire(worker, START),
    )
    expect(outcomes).toMatchObject([{ kind: 'written' }])
    expect(await row(run)).toMatchObject({ version: 4, head_hash: last.headHash, facts: 4, leased: false })
  })

  test('ledger-4: a release without a fact is refused if a step was appended just before', async () => {
    const { run, headHash } = await heldRun()
    const [, outcomes] = await inThisOrder(
      run,
      () => here.append([append(step(run, 3))]),
      () => there.append([bareRelease(run, 3, headHash)]),
    )
    expect(outcomes).toMatchObject([{ kind: 'conflict', reason: 'version', version: 4 }])
    expect(await row(run)).toMatchObject({ facts: 4, leased: true })
  })

  test('ledger-4: of a step and an external command at one version the first one wins, in either order', async () => {
    for (const order of ['step', 'command'] as const) {
      const { run } = await heldRun()
      const writes = {
        step: () => here.append([append(step(run, 3))]),
        command: () => there.append([append(step(run, 3, { epoch: null, status: 'cancelling' }))]),
      }
      const [won, lost] = await inThisOrder(run, writes[order], writes[order === 'step' ? 'command' : 'step'])
      expect(won).toMatchObject([{ kind: 'written' }])
      expect(lost).toMatchObject([{ kind: 'conflict', reason: 'version', version: 4 }])
      expect(await row(run)).toMatchObject({ facts: 4 })
    }
  })

  test('ledger-3: a step is written once, even if a copy of it is still in progress', async () => {
    const { run } = await heldRun()
    const one = append(step(run, 3))
    const outcomes = await inThisOrder(
      run,
      () => here.append([one]),
      () => here.append([one]),
    )
    expect(outcomes).toMatchObject([[{ kind: 'written' }], [{ kind: 'already_written' }]])
    expect(await row(run)).toMatchObject({ facts: 4 })
  })

  test('ledger-2: steps, releases and new runs of one batch have their own outcomes, in the order of the batch', async () => {
    const steps = Array.from({ length: 30 }, newRun)
    const creation = (run: RunId) => append(aCreation(run, { lease: newWorker() }, { status: 'running', wakeAt: null }))
    await here.append(steps.map(creation))
    const [moved, released] = [await heldRun(), await heldRun()]
    await there.append([append(step(moved.run, 3, { epoch: null }))])
    const batch = [
      creation(newRun()),
      append(step(moved.run, 3)),
      ...steps.map((run) => append(step(run, 1))),
      bareRelease(released.run, 3, released.headHash),
      append(step(newRun(), 3)),
    ]
    const kinds = batch.map((_, i) => (i === 1 || i === batch.length - 1 ? 'conflict' : 'written'))
    expect((await here.append(batch)).map(({ kind }) => kind)).toEqual(kinds)
    expect((await here.append(batch)).map(({ kind }) => kind)).toEqual(
      kinds.map((kind) => (kind === 'written' ? 'already_written' : kind)),
    )
    expect(await row(steps[7] as RunId)).toMatchObject({ version: 1, facts: 2 })
  })

  const creation = (run: RunId) => append(aCreation(run, { lease: newWorker() }, { status: 'running', wakeAt: null }))
  const heldRuns = async (count: number): Promise<readonly RunId[]> => {
    const runs = Array.from({ length: count }, newRun)
    await here.append(runs.map(creation))
    return runs
  }

  test('steps beside a new run are one transaction, with one row in the change feed', async () => {
    const runs = await heldRuns(10)
    const [before] = await ask(fresh.url, 'select count(*)::int as rows from news')
    const born = newRun()
    await here.append([...runs.map((run) => append(step(run, 1))), creation(born)])
    const rows = await ask(fresh.url, 'select array_to_json(streams)::text as streams from news order by xid')
    expect(rows).toHaveLength(Number(before?.['rows']) + 1)
    const reported = JSON.parse(String(rows.at(-1)?.['streams'])) as readonly string[]
    expect(reported.map((id) => `run_${id.replaceAll('-', '')}`).sort()).toEqual([...runs, born].sort())
    expect(await row(runs[3] as RunId)).toMatchObject({ version: 1, facts: 2 })
  })

  test('a batch never waits while it holds locks: it takes the locked row last', async () => {
    const runs = await heldRuns(10)
    const [locked, free, born] = [runs[4] as RunId, runs[5] as RunId, newRun()]
    holder = await RowHolder.lock(fresh.url, locked)
    const appended = here.append([...runs.map((run) => append(step(run, 1))), creation(born)])
    await untilBlocked(1)
    expect(await there.load([free, born, locked])).toMatchObject([{ version: 2 }, { version: 1 }, { version: 1 }])
    await holder.release()
    expect(new Set((await appended).map(({ kind }) => kind))).toEqual(new Set(['written']))
    expect(await there.load([locked])).toMatchObject([{ version: 2 }])
  })

  test('ledger-2: an append that the tables refuse costs only itself among steps, and leaves the batch uncertain', async () => {
    const runs = await heldRuns(10)
    const born = newRun()
    const refused = append(aCreation(newRun(), {}, { headHash: 'a raw \u0000' }))
    const batch = [...runs.map((run) => append(step(run, 1))), refused, creation(born)]
    await expect(here.append(batch)).rejects.toMatchObject({ code: 'INPUT_INVALID', outcome: 'unknown' })
    expect(await there.load([runs[0] as RunId, runs[9] as RunId, born])).toMatchObject([
      { version: 2 },
      { version: 2 },
      { version: 1 },
    ])
  })
})
