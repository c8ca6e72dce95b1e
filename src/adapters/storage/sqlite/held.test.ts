/** The row of a held stream is not updated while facts are added: no reader may notice, whatever happens to its holder. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LOCAL_TENANT, type RunId, type WorkerId } from '#model/kernel/ids.ts'
import type { Append, Ledger, StreamWrite } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { aCreation, aFact, anAppend, aWrite, newRun, newWorker, START } from '#testing/ledger/builders.ts'
import { type Database, loadDriver, type Row } from './driver.ts'
import { openSqlite } from './open.ts'

let directory: string
let ledger: Ledger
let reader: Reader
let beside: Database

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'trihand-held-'))
  const file = join(directory, 'ledger.db')
  ;({ ledger, reader } = await openSqlite({ file }))
  beside = new (await loadDriver())(file, { timeout: 1_000 })
})

afterEach(async () => {
  beside.close()
  await ledger.close()
  rmSync(directory, { recursive: true })
})

const reopen = async (): Promise<void> => {
  await ledger.close()
  ;({ ledger, reader } = await openSqlite({ file: join(directory, 'ledger.db') }))
}

const append = (...writes: readonly StreamWrite[]): Append => anAppend({ writes })

/** Creates a held run with its first fact and two steps after it. */
const heldRun = async (worker: WorkerId = newWorker()): Promise<{ run: RunId; headHash: string }> => {
  const run = newRun()
  await ledger.append([append(aCreation(run, { lease: worker }, { status: 'running', wakeAt: null }))])
  await ledger.append([append(step(run, 1))])
  const last = step(run, 2)
  await ledger.append([append(last)])
  return { run, headHash: last.headHash }
}

const step = (run: RunId, expectedVersion: number, more: Partial<StreamWrite> = {}): StreamWrite => {
  const fact = aFact()
  return aWrite(run, { expectedVersion, status: 'running', facts: [fact], headHash: fact.hash, ...more })
}

const row = (): Row | undefined => beside.prepare('select version, head_hash, recoveries from stream').get()

test('a step writes its fact and does not update the row', async () => {
  await heldRun()
  expect(row()).toMatchObject({ version: 1 })
  expect(beside.prepare('select count(*) as facts from fact').get()).toEqual({ facts: 3 })
})

test('ledger-4: every read of a held run includes its latest facts', async () => {
  const { run, headHash } = await heldRun()
  const all = { version: 3, headHash }
  expect(await ledger.load([run])).toMatchObject([all])
  expect(await ledger.load([run], { after: Number.MAX_SAFE_INTEGER })).toMatchObject([{ ...all, facts: [] }])
  expect(await reader.run(LOCAL_TENANT, run)).toMatchObject({ version: 3 })
  expect(await ledger.append([append(step(run, 1))])).toMatchObject([{ reason: 'version', version: 3, epoch: 1 }])
})

test('a release updates the row to the last fact', async () => {
  const { run } = await heldRun()
  const last = step(run, 3, { release: true, status: 'waiting' })
  await ledger.append([append(last)])
  expect(row()).toMatchObject({ version: 4, head_hash: last.headHash })
})

test('an external command uses the current version of a held run, and its holder sees the command', async () => {
  const { run } = await heldRun()
  const [command] = await ledger.append([append(step(run, 3, { epoch: null, status: 'cancelling' }))])
  expect(command).toMatchObject({ kind: 'written' })
  expect(await ledger.append([append(step(run, 3))])).toMatchObject([{ reason: 'version', version: 4 }])
  expect(await ledger.append([append(step(run, 4, { status: 'cancelling' }))])).toMatchObject([{ kind: 'written' }])
})

test('[R1] after a crash the facts of a held run remain, and freeing it updates its row', async () => {
  const { run, headHash } = await heldRun()
  await reopen()
  expect(await ledger.load([run])).toMatchObject([{ version: 3, headHash }])
  await ledger.beat({ worker: newWorker(), now: START, ttlMs: 1_000 })
  expect(row()).toEqual({ version: 3, head_hash: headHash, recoveries: 1 })
  expect(await ledger.claim({ worker: newWorker(), now: START, limit: 1 })).toMatchObject({
    claims: [{ stream: run, version: 3, epoch: 3 }],
  })
})

test('a worker that retires leaves up-to-date rows, and can write no more', async () => {
  const worker = newWorker()
  const { run, headHash } = await heldRun(worker)
  await ledger.retire(worker, START)
  expect(row()).toMatchObject({ version: 3, head_hash: headHash })
  expect(await ledger.append([append(step(run, 3))])).toMatchObject([{ reason: 'epoch', version: 3, epoch: 2 }])
})

test('the first fact after lost leases resets their count', async () => {
  const worker = newWorker()
  const { run } = await heldRun()
  await reopen()
  await ledger.beat({ worker, now: START, ttlMs: 1_000 })
  await ledger.claim({ worker, now: START, limit: 1 })
  await ledger.append([append(step(run, 3, { epoch: 3 }))])
  expect(row()).toMatchObject({ recoveries: 0, version: 4 })
})

test('a step whose batch is rolled back is not written, and is written when it is sent again', async () => {
  const { run } = await heldRun()
  const again = append(step(run, 3))
  const broken = append(aCreation(newRun(), {}, { facts: [aFact({ body: undefined as unknown as string })] }))
  await expect(ledger.append([again, broken])).rejects.toMatchObject({ code: 'INTERNAL', outcome: 'not_done' })
  expect(await ledger.append([again])).toMatchObject([{ kind: 'written' }])
  expect(await ledger.load([run])).toMatchObject([{ version: 4 }])
})

test('a step whose place is taken by another fact is refused, and the other appends are written', async () => {
  const runs = [await heldRun(), await heldRun(), await heldRun()].map(({ run }) => run)
  const many = Array.from({ length: 20 }, () => newRun())
  for (const run of many) await ledger.append([append(aCreation(run, { lease: newWorker() }, { status: 'running' }))])
  beside.exec(
    "insert into fact select 2, 3, 'stranger', 1, type, recorded_at, body, hash from fact where stream = 2 and seq = 2",
  )
  const steps = [...runs.map((run) => step(run, 3)), ...many.map((run) => step(run, 1))]
  const outcomes = await ledger.append(steps.map((one) => append(one)))
  expect(outcomes.map(({ kind }) => kind)).toEqual(steps.map((_, i) => (i === 1 ? 'conflict' : 'written')))
  expect(outcomes[1]).toMatchObject({ reason: 'version', version: 4 })
})
