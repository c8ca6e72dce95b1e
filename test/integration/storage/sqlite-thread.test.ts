/** The thread of a SQLite ledger as it is published: compiled, bundled, and started as a thread. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { openSqlite as OpenSqlite } from '#adapters/storage/sqlite/open.ts'
import type { startThread as StartThread } from '#adapters/storage/sqlite/thread/thread.ts'
import { aCreation, aFact, anAppend, aWrite, newRun, newWorker } from '#testing/ledger/builders.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const ADAPTER = `${ROOT}src/adapters/storage/sqlite`

let compiled: string
let data: string
let openSqlite: typeof OpenSqlite
let startThread: typeof StartThread

beforeAll(async () => {
  // Inside node_modules, where the driver is found.
  compiled = mkdtempSync(`${ROOT}node_modules/.trihand-thread-`)
  data = mkdtempSync(join(tmpdir(), 'trihand-thread-'))
  const input = {
    open: `${ADAPTER}/open.ts`,
    thread: `${ADAPTER}/thread/thread.ts`,
    'sqlite-thread': `${ADAPTER}/thread/sqlite-thread.ts`,
  }
  const build = await rolldown({ input, external: /^(node:|@)/, platform: 'node' })
  await build.write({ dir: compiled, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' })
  await build.close()
  const load = (name: string) => import(pathToFileURL(join(compiled, name)).href)
  ;({ openSqlite } = await load('open.js'))
  ;({ startThread } = await load('thread.js'))
})

afterAll(() => {
  rmSync(compiled, { recursive: true })
  rmSync(data, { recursive: true })
})

const aStep = (run: ReturnType<typeof newRun>, expectedVersion: number) => {
  const fact = aFact()
  return anAppend({
    writes: [aWrite(run, { expectedVersion, status: 'running', facts: [fact], headHash: fact.hash })],
  })
}

test('a thread writes what its owner reads, and ends on request', async () => {
  const file = join(data, 'beside.db')
  const owner = await openSqlite({ file })
  const session = await startThread({ file, durability: 'full', identity: null })
  const run = newRun()
  const creation = aCreation(run, { lease: newWorker() }, { status: 'running', wakeAt: null })
  expect((await session.append([anAppend({ writes: [creation] })]))[0]).toMatchObject({ kind: 'written' })
  const steps = await Promise.all([session.append([aStep(run, 1)]), session.append([aStep(run, 2)])])
  expect(steps.flat().map(({ kind }) => kind)).toEqual(['written', 'written'])
  expect((await owner.ledger.load([run]))[0]?.facts).toHaveLength(3)
  expect((await session.append([aStep(run, 2)]))[0]).toMatchObject({ kind: 'conflict', version: 3 })
  await session.close()
  expect(session.isDead).toBe(true)
  await owner.ledger.close()
})

test('a ledger under load starts its thread, hands it the file, and takes it back completely', async () => {
  const file = join(data, 'load.db')
  const started: Awaited<ReturnType<typeof startThread>>[] = []
  const start: typeof startThread = async (options) => {
    const session = await startThread(options)
    started.push(session)
    return session
  }
  const threads = { start, limits: { many: 8, busy: 1, quiet: 4 } }
  const { ledger } = await openSqlite({ file, threads })
  const runs = Array.from({ length: 16 }, newRun)
  const lease = newWorker()
  const spawned = runs.map((run) =>
    anAppend({ writes: [aCreation(run, { lease }, { status: 'running', wakeAt: null })] }),
  )
  await ledger.append(spawned)
  let version = 1
  const stepAll = async (): Promise<void> => {
    const outcomes = await ledger.append(runs.map((run) => aStep(run, version)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(runs.map(() => 'written'))
    version++
  }
  while (started.length === 0) {
    await stepAll()
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (let i = 0; i < 20; i++) await stepAll()
  const [run] = runs
  if (run === undefined) throw new Error('there are runs')
  for (let i = 0; i < 20; i++) expect((await ledger.append([aStep(run, version + i)]))[0]?.kind).toBe('written')
  expect((await ledger.load([run]))[0]?.facts).toHaveLength(version + 20)
  await ledger.close()
  expect(started[0]?.isDead).toBe(true)
})
