/** The row cache must never outlive a transaction that was rolled back. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqlite } from '#adapters/storage/sqlite/open.ts'
import type { Append, Ledger } from '#ports/ledger.ts'
import {
  aCreation,
  aFact,
  anAppend,
  anEvent,
  aWait,
  aWrite,
  newRun,
  newWorker,
  START,
} from '#testing/ledger/builders.ts'

let directory: string
let ledger: Ledger

const open = async (): Promise<void> => {
  ledger = (await openSqlite({ file: join(directory, 'ledger.db') })).ledger
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'trihand-known-'))
  await open()
})

afterEach(async () => {
  await ledger.close()
  rmSync(directory, { recursive: true })
})

/** Sends the appends in one batch with another that no driver can bind, so that all of it is rolled back. */
const loseInBatch = async (...appends: readonly Append[]): Promise<void> => {
  const broken = aCreation(newRun(), {}, { facts: [aFact({ body: undefined as unknown as string })] })
  const answer = ledger.append([...appends, anAppend({ writes: [broken] })])
  await expect(answer).rejects.toMatchObject({ code: 'INTERNAL', outcome: 'not_done' })
}

const held = (run = newRun(), worker = newWorker()): Append =>
  anAppend({ writes: [aCreation(run, { lease: worker }, { status: 'running', wakeAt: null })] })

test('ledger-4: a run whose creation was rolled back is not confused with the run that got its key', async () => {
  const [lost, other] = [newRun(), newRun()]
  await loseInBatch(held(lost))
  await ledger.append([held(other)])
  const [outcome] = await ledger.append([anAppend({ writes: [aWrite(lost)] })])
  expect(outcome).toEqual({ kind: 'conflict', reason: 'version', stream: lost, version: 0, epoch: 0 })
  expect(await ledger.load([lost, other])).toMatchObject([null, { version: 1 }])
})

test('the position does not count an event that was rolled back', async () => {
  await loseInBatch(anAppend({ events: [anEvent()] }))
  expect(await ledger.append([held()])).toMatchObject([{ kind: 'written', position: 0 }])
})

test('ledger-5: a path that was new in a rolled-back batch is stored when a wait uses it again', async () => {
  const [run, parked] = [newRun(), { release: true, status: 'waiting' } as const]
  await ledger.append([held(run)])
  const park = (): Append =>
    anAppend({ writes: [aWrite(run, { ...parked, opensWaits: [aWait({ path: 'order', value: '7' })] })] })
  await loseInBatch(park())
  await ledger.append([park()])
  await ledger.close()
  await open()
  await ledger.append([anAppend({ events: [anEvent({ data: { order: 7 } })] })])
  expect(await ledger.claim({ worker: newWorker(), now: START, limit: 9 })).toMatchObject({ claims: [{ stream: run }] })
})

test('ledger-7: a worker that was new in a rolled-back batch holds the leases that it gets later', async () => {
  const [worker, run] = [newWorker(), newRun()]
  await loseInBatch(held(newRun(), worker), held(newRun(), worker))
  await ledger.append([held(newRun()), held(run, worker)])
  expect(await ledger.load([run])).toMatchObject([{ lease: worker }])
})

test('a batch that is written again, append by append, writes the other appends completely', async () => {
  const [first, last, child, event] = [newRun(), newRun(), newRun(), anEvent()]
  await ledger.append([held(first), held(last), anAppend({ events: [event] })])
  const outcomes = await ledger.append([
    anAppend({ writes: [aWrite(first)] }),
    anAppend({ events: [anEvent(), event], writes: [aCreation(child)] }),
    anAppend({ writes: [aWrite(last)] }),
  ])
  expect(outcomes).toMatchObject([
    { kind: 'written' },
    { kind: 'conflict', reason: 'taken' },
    { kind: 'written', position: 1 },
  ])
  expect(await ledger.load([first, child, last])).toMatchObject([{ version: 2 }, null, { version: 2 }])
})

test('ledger-2: only the append that conflicts with itself is refused', async () => {
  const [run, twin, event] = [newRun(), newRun(), anEvent()]
  await ledger.append([held(run)])
  const outcomes = await ledger.append([
    anAppend({ events: [anEvent()], writes: [aCreation(twin, { event: 0 }), aCreation(newRun(), { event: 0 })] }),
    anAppend({ events: [event, event] }),
    anAppend({ writes: [aWrite(run)] }),
  ])
  expect(outcomes).toMatchObject([
    { kind: 'conflict', reason: 'version', stream: twin, version: 0 },
    { kind: 'conflict', reason: 'taken', dataHash: event.dataHash },
    { kind: 'written' },
  ])
})
