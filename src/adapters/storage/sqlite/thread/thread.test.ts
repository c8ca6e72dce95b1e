/** A SQLite ledger whose file changes hands between two sessions: the suites, and the loss of one of the two. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type OpenedSqlite, openSqlite } from '#adapters/storage/sqlite/open.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import type { Append, Ledger, Outcome } from '#ports/ledger.ts'
import { fastFolder } from '#test/support/places.ts'
import type { BlobsUnderTest } from '#testing/blobs-suite.ts'
import { blobsSuite } from '#testing/blobs-suite.ts'
import { aCreation, aFact, anAppend, anEvent, aWrite, newRun, newWorker } from '#testing/ledger/builders.ts'
import { ledgerSuite } from '#testing/ledger-suite.ts'
import type { ReaderUnderTest } from '#testing/reader-suite.ts'
import { type ServeOptions, serveFile } from './serve.ts'
import { ThreadSession } from './thread.ts'

/** Runs the other session in this thread, behind a real channel: sources are not compiled here, and a thread needs compiled code. */
const startBeside =
  (ports: MessagePort[] = []) =>
  async (options: ServeOptions): Promise<ThreadSession> => {
    const { port1, port2 } = new MessageChannel()
    await serveFile(port2, options)
    const session = new ThreadSession(port1)
    port1.on('close', () => session.die('the channel is closed'))
    ports.push(port1)
    return session
  }

/** Two appends at once move the file to the other session, a single one brings it back. */
const RESTLESS = { many: 2, busy: 1, quiet: 1 }
/** Any append moves the file to the other session, and it stays there. */
const EAGER = { many: 1, busy: 1, quiet: 1 }

let fillers = 0
const filler = (): Append =>
  anAppend({ documents: [{ tenant: LOCAL_TENANT, table: 'fillers', key: String(fillers++), value: null }] })

/** Adds a second append to every other batch, so that the file changes hands all the time. */
const restless = (ledger: Ledger): Ledger => {
  let hasCompany = false
  const append = async (batch: readonly Append[]): Promise<readonly Outcome[]> => {
    hasCompany = !hasCompany
    const outcomes = await ledger.append(hasCompany ? [...batch, filler(), filler()] : batch)
    return outcomes.slice(0, batch.length)
  }
  return {
    append,
    load: (...asked) => ledger.load(...asked),
    events: (query) => ledger.events(query),
    claim: (request) => ledger.claim(request),
    beat: (request) => ledger.beat(request),
    retire: (...asked) => ledger.retire(...asked),
    close: () => ledger.close(),
  }
}

const openTemporary = async (limits = RESTLESS): Promise<ReaderUnderTest & Pick<OpenedSqlite, 'blobs'>> => {
  const { path, remove } = fastFolder('thread')
  const open = () => openSqlite({ file: join(path, 'ledger.db'), threads: { start: startBeside(), limits } })
  let current = await open()
  return {
    ...current,
    ledger: restless(current.ledger),
    reopen: async () => {
      await current.ledger.close()
      current = await open()
      return restless(current.ledger)
    },
    close: async () => {
      await current.ledger.close()
      remove()
    },
  }
}

const openBlobs = async (): Promise<BlobsUnderTest> => {
  const { ledger, blobs, close } = await openTemporary(EAGER)
  await inTheOther(ledger)
  return { blobs, reopen: async () => blobs, close }
}

/** Appends until the other session is started and has the file. */
const inTheOther = async (ledger: Ledger): Promise<void> => {
  for (let i = 0; i < 3; i++) {
    await ledger.append([anAppend({ events: [anEvent()] })])
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const FEW = 8

ledgerSuite('sqlite, two desks', () => openTemporary(), { reopens: true, histories: FEW })
blobsSuite('sqlite, the other desk', openBlobs)

let directory: string
let ports: MessagePort[]
let opened: OpenedSqlite

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'trihand-thread-'))
  ports = []
  opened = await openSqlite({
    file: join(directory, 'ledger.db'),
    threads: { start: startBeside(ports), limits: EAGER },
  })
})

afterEach(async () => {
  await opened.ledger.close()
  rmSync(directory, { recursive: true })
})

const started = (run: RunId): Append =>
  anAppend({ writes: [aCreation(run, { lease: newWorker() }, { status: 'running', wakeAt: null })] })

const step = (run: RunId, expectedVersion: number): Append => {
  const fact = aFact()
  return anAppend({
    writes: [aWrite(run, { expectedVersion, status: 'running', facts: [fact], headHash: fact.hash })],
  })
}

const lose = async (port: MessagePort | undefined): Promise<void> => {
  const closed = new Promise((resolve) => port?.once('close', resolve))
  port?.close()
  await closed
}

test('ledger-a: the session that takes the file over continues what the other has written', async () => {
  await opened.ledger.close()
  const { ledger, close } = await openTemporary()
  await inTheOther(ledger)
  const run = newRun()
  await ledger.append([started(run)])
  for (let version = 1; version <= 6; version++)
    expect((await ledger.append([step(run, version)]))[0]).toMatchObject({ kind: 'written' })
  await close()
})

test('thread-2, ledger-c: an append in progress when the other session dies has an unknown outcome, and is written once when sent again', async () => {
  const { ledger } = opened
  const run = newRun()
  await ledger.append([started(run)])
  await inTheOther(ledger)
  await ledger.append([step(run, 1)])
  const under = [step(run, 2)]
  const lost = expect(ledger.append(under)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE', outcome: 'unknown' })
  await lose(ports[0])
  await lost
  const [outcome] = await ledger.append(under)
  expect(['written', 'already_written']).toContain(outcome?.kind)
  expect((await ledger.append([step(run, 3)]))[0]).toMatchObject({ kind: 'written' })
  expect((await ledger.load([run]))[0]).toMatchObject({ version: 4 })
})

test('thread-1: concurrent calls are done in the order in which they were made', async () => {
  const { ledger } = opened
  const run = newRun()
  await ledger.append([started(run)])
  await inTheOther(ledger)
  const versions = Array.from({ length: 40 }, (_, i) => i + 1)
  const outcomes = await Promise.all(versions.map((version) => ledger.append([step(run, version)])))
  expect(outcomes.map(([outcome]) => outcome?.kind)).toEqual(versions.map(() => 'written'))
})

test('ledger-a: a version that the other session has written fences a writer here', async () => {
  const { ledger } = opened
  const run = newRun()
  await ledger.append([started(run)])
  await inTheOther(ledger)
  await ledger.append([step(run, 1)])
  await lose(ports[0])
  expect((await ledger.append([step(run, 1)]))[0]).toMatchObject({ kind: 'conflict', reason: 'version', version: 2 })
})

test('an error keeps its code and its outcome between threads', async () => {
  const { ledger, blobs } = opened
  await inTheOther(ledger)
  const refusal = blobs.put('hash', {} as unknown as string)
  await expect(refusal).rejects.toMatchObject({ code: 'INTERNAL', outcome: 'not_done' })
})
