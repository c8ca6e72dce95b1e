/** A ledger when the disk is full or fails: real errors, made with limits of the process and of SQLite. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Append } from '#ports/ledger.ts'
import { aCreation, aFact, anAppend, newRun } from '#testing/ledger/builders.ts'
import { Connection } from './connection.ts'
import { type Database, loadDriver } from './driver.ts'
import { type OpenedSqlite, openSqlite } from './open.ts'
import { openForWriting } from './settings.ts'

let directory: string
let file: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'trihand-connection-'))
  file = join(directory, 'ledger.db')
})

afterEach(() => rmSync(directory, { recursive: true }))

const KILOBYTE = 1024
const text = (kilobytes: number): string => 'x'.repeat(kilobytes * KILOBYTE)

/** Limits the size of files of this process. */
const limitFiles = (bytes: number | 'unlimited'): void => {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`])
}
const canLimitFiles = spawnSync('prlimit', ['--version']).status === 0

/** Runs the work while no file can grow: a write beyond the end fails as on a broken disk. */
const onFailingDisk = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  limitFiles(statSync(`${file}-wal`).size)
  try {
    return await work()
  } finally {
    limitFiles('unlimited')
  }
}

describe('a connection', () => {
  let db: Database
  let forgotten: number
  let reopened: number
  let connection: Connection<{ add: ReturnType<Database['prepare']>; count: ReturnType<Database['prepare']> }>

  beforeEach(async () => {
    const driver = await loadDriver()
    forgotten = 0
    reopened = 0
    db = openForWriting(driver, file, 'full')
    db.exec('create table note (body text not null unique)')
    connection = new Connection({
      db,
      reopen: () => {
        reopened += 1
        return openForWriting(driver, file, 'full')
      },
      prepare: (opened) => ({
        add: opened.prepare('insert into note values (?)'),
        count: opened.prepare('select count(*) as count from note'),
      }),
      forget: () => {
        forgotten += 1
      },
    })
  })

  afterEach(() => connection.close())

  const count = (): unknown => connection.read(({ count }) => count.get()?.['count'])

  test('connection-1: work that throws is rolled back, and the cache is cleared', () => {
    const bug = new Error('a bug')
    const write = () =>
      connection.write(({ add }) => {
        add.run('a')
        throw bug
      })
    expect(write).toThrow(expect.objectContaining({ code: 'INTERNAL', outcome: 'not_done', cause: bug }))
    expect(count()).toBe(0)
    expect(forgotten).toBe(1)
  })

  test('connection-1: work that returns null is rolled back, any other result is committed', () => {
    const add = (body: string, answer: string | null) =>
      connection.writeUnlessNull((sql) => {
        sql.add.run(body)
        return answer
      })
    expect(add('a', null)).toBeNull()
    expect(count()).toBe(0)
    expect(forgotten).toBe(1)
    expect(add('b', 'kept')).toBe('kept')
    expect(count()).toBe(1)
  })

  test('connection-1: a full disk is reported as STORAGE_FULL, and writes succeed again when there is room', () => {
    db.exec('pragma max_page_count = 40')
    const fill = () => connection.write(({ add }) => add.run(text(400)))
    expect(fill).toThrow(expect.objectContaining({ code: 'STORAGE_FULL', outcome: 'not_done' }))
    expect(count()).toBe(0)
    db.exec('pragma max_page_count = 4000')
    fill()
    expect(count()).toBe(1)
  })

  test.runIf(canLimitFiles)(
    'connection-2: after an I/O error the database is opened again before the next call',
    async () => {
      const add = () => connection.write((sql) => sql.add.run(text(400)))
      await onFailingDisk(async () => expect(add).toThrow(expect.objectContaining({ outcome: 'unknown' })))
      expect(forgotten).toBe(1)
      expect(reopened).toBe(0)
      add()
      expect(reopened).toBe(1)
      expect(count()).toBe(1)
    },
  )

  test('a value that cannot be bound is an INTERNAL error, not an error of the disk', () => {
    const write = () => connection.write(({ add }) => add.run(undefined as unknown as string))
    expect(write).toThrow(expect.objectContaining({ code: 'INTERNAL', outcome: 'not_done' }))
  })
})

describe.runIf(canLimitFiles)('a disk that fails', () => {
  let opened: OpenedSqlite

  beforeEach(async () => {
    opened = await openSqlite({ file })
  })

  afterEach(async () => {
    await opened.ledger.close()
  })

  const bigAppend = (): Append =>
    anAppend({ writes: [aCreation(newRun(), {}, { facts: [aFact({ body: text(256) })] })] })

  const sendInVain = (append: Append): Promise<void> =>
    onFailingDisk(async () => {
      const answer = opened.ledger.append([append])
      await expect(answer).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE', outcome: 'unknown' })
    })

  test('connection-2: [R1] after an I/O error the outcome is unknown, and the same append is written once when sent again', async () => {
    const append = bigAppend()
    await sendInVain(append)
    expect(await opened.ledger.append([append])).toMatchObject([{ kind: 'written' }])
    expect(await opened.ledger.append([append])).toMatchObject([{ kind: 'already_written' }])
  })

  test('connection-3: three I/O errors within a minute stop writes but not reads', async () => {
    const append = bigAppend()
    for (let i = 0; i < 3; i++) await sendInVain(append)
    await expect(opened.ledger.append([append])).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      outcome: 'not_done',
    })
    const [write] = append.writes
    expect(await opened.ledger.load(write ? [write.stream] : [])).toEqual([null])
    await opened.ledger.close()
    opened = await openSqlite({ file })
    expect(await opened.ledger.append([append])).toMatchObject([{ kind: 'written' }])
  })
})
