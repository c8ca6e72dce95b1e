/** Opening a ledger file: its owner, which files are accepted, and its settings. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { aCreation, aFact, anAppend, aTask, newRun, newTask, newWorker, START } from '#testing/ledger/builders.ts'
import { type DatabaseClass, loadDriver } from './driver.ts'
import { type OpenedSqlite, openSqlite, type SqliteOptions } from './open.ts'
import { OwnerLock } from './owner-lock.ts'
import { openForWriting, readSetting } from './settings.ts'

let directory: string
let file: string
let opened: OpenedSqlite[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'trihand-open-'))
  file = join(directory, 'ledger.db')
  opened = []
})

afterEach(async () => {
  for (const { ledger } of opened) await ledger.close()
  rmSync(directory, { recursive: true })
})

const open = async (options: Partial<SqliteOptions> = {}): Promise<OpenedSqlite> => {
  const one = await openSqlite({ file, ...options })
  opened.push(one)
  return one
}

const openAndClose = async (): Promise<void> => {
  const { ledger } = await openSqlite({ file })
  await ledger.close()
}

describe('the owner', () => {
  /** Opens the ledger in another process and resolves when it is open. */
  const openElsewhere = async (): Promise<ChildProcess> => {
    const module = fileURLToPath(new URL('./open.ts', import.meta.url))
    const script = `
      import { createJiti } from 'jiti'
      const { openSqlite } = await createJiti(import.meta.url).import(${JSON.stringify(module)})
      globalThis.opened = await openSqlite({ file: ${JSON.stringify(file)} })
      process.stdout.write('open')
      process.stdin.resume()`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    return child
  }

  test('[R1] a ledger that another process has open is refused until that process is dead, even if it is stopped', async () => {
    const owner = await openElsewhere()
    try {
      await expect(open()).rejects.toMatchObject({ code: 'LEDGER_IN_USE' })
      owner.kill('SIGSTOP')
      await expect(open()).rejects.toMatchObject({ code: 'LEDGER_IN_USE' })
    } finally {
      owner.kill('SIGKILL')
      await once(owner, 'exit')
    }
    await expect(open()).resolves.toMatchObject({ relaxed: expect.any(Boolean) })
  }, 20_000)

  const kill = async (owner: ChildProcess): Promise<void> => {
    owner.kill('SIGKILL')
    await once(owner, 'exit')
  }

  test('owner-lock-1: [R1] deleting the lock file never lets a second owner in (13.3.4)', async () => {
    const owner = await openElsewhere()
    try {
      for (let i = 0; i < 3; i++) {
        rmSync(`${file}.lock`, { force: true })
        await expect(open()).rejects.toMatchObject({ code: 'LEDGER_IN_USE' })
        await expect(open()).rejects.toMatchObject({ code: 'LEDGER_IN_USE' })
      }
    } finally {
      await kill(owner)
    }
    await open()
    rmSync(`${file}.lock`)
    await expect(open()).rejects.toMatchObject({ code: 'LEDGER_IN_USE' })
  }, 20_000)

  test('owner-lock-1: a reader keeps an owner out only while the lock file is unmarked (13.3.4)', async () => {
    await kill(await openElsewhere())
    const driver = await loadDriver()
    const reader = new driver(file, { timeout: 0 })
    reader.exec('select count(*) from trihand_migration')
    await kill(await openElsewhere())
    rmSync(`${file}.lock`)
    await expect(open()).rejects.toMatchObject({ code: 'LEDGER_IN_USE' })
    reader.close()
    await open()
  }, 20_000)

  test('owner-lock-2: opening fails if the lock file is deleted meanwhile (13.3.4)', async () => {
    await kill(await openElsewhere())
    const driver = await loadDriver()
    const lock = new OwnerLock(driver, file)
    lock.requireKept()
    rmSync(`${file}.lock`)
    expect(() => lock.requireKept()).toThrow('deleted or replaced')
    const second = new OwnerLock(driver, file)
    expect(() => lock.requireKept()).toThrow('deleted or replaced')
    second.requireKept()
    lock.release()
    second.release()
  }, 20_000)

  test('a ledger cannot be opened twice in one process, not even under another name', async () => {
    await open()
    const alias = join(directory, 'alias.db')
    symlinkSync(file, alias)
    await expect(open()).rejects.toMatchObject({ code: 'LEDGER_IN_USE' })
    await expect(open({ file: alias })).rejects.toMatchObject({ code: 'LEDGER_IN_USE' })
  })

  test('a refused opening does not release the lock of the owner', async () => {
    await open()
    for (let i = 0; i < 3; i++) await expect(open()).rejects.toMatchObject({ code: 'LEDGER_IN_USE' })
  })

  test('a ledger can be opened after it was closed, and after an opening that failed', async () => {
    await openAndClose()
    await plantMigration({ version: 99, breaking: true })
    await expect(open()).rejects.toMatchObject({ code: 'LEDGER_NEWER' })
    await expect(open()).rejects.toMatchObject({ code: 'LEDGER_NEWER' })
  })

  test('[R11] the first heartbeat frees the leases of workers of a dead process, without waiting for their ttl', async () => {
    const [run, worker] = [newRun(), newWorker()]
    const { ledger } = await openSqlite({ file })
    await ledger.beat({ worker, now: START, ttlMs: 15_000 })
    await ledger.append([anAppend({ writes: [aCreation(run, { lease: worker })] })])
    await ledger.close()
    const reopened = (await open()).ledger
    expect(await reopened.beat({ worker: newWorker(), now: START + 1, ttlMs: 15_000 })).toBe(1)
    expect(await reopened.claim({ worker: newWorker(), now: START + 1, limit: 9 })).toMatchObject({
      claims: [{ stream: run }],
    })
  })
})

const plantMigration = async ({ version, breaking }: { version: number; breaking: boolean }): Promise<void> => {
  const driver = await loadDriver()
  const db = new driver(file, { timeout: 0 })
  db.prepare('insert into trihand_migration values (?, ?, ?, 0)').run(version, 'planted', breaking ? 1 : 0)
  db.close()
}

describe('the schema', () => {
  test('a ledger with a newer, breaking schema is refused', async () => {
    await openAndClose()
    await plantMigration({ version: 99, breaking: true })
    await expect(open()).rejects.toMatchObject({ code: 'LEDGER_NEWER' })
  })

  test('a ledger with a newer schema that is not breaking opens', async () => {
    await openAndClose()
    await plantMigration({ version: 99, breaking: false })
    await expect(open()).resolves.toBeDefined()
  })

  test('a ledger from before the last indexes gets them, and they contain its rows', async () => {
    const [run, task] = [newRun(), newTask()]
    const older = await openSqlite({ file })
    const writes = [aCreation(run), aCreation(task, { parent: run }, { status: 'waiting', task: aTask({ run }) })]
    await older.ledger.append([anAppend({ writes })])
    await older.ledger.close()
    const driver = await loadDriver()
    const db = new driver(file, { timeout: 0 })
    db.exec(`drop index task_type; create index task_type on task (tenant, type, id) where is_open = 1;
      drop index stream_handler; create index stream_handler on stream (tenant, handler, key) where kind = 0;
      delete from trihand_migration where version = 10`)
    db.close()
    const { reader } = await open()
    expect(await reader.openTasks(LOCAL_TENANT, 0)).toMatchObject([{ isOverdue: false, count: 1 }])
    const page = { tenant: LOCAL_TENANT, status: null, handler: 'send-invoice', before: null, limit: 9 }
    expect(await reader.runs(page)).toMatchObject([{ id: run }])
    const after = new driver(file, { timeout: 0 })
    expect(after.prepare("select sql from sqlite_schema where name = 'task_type'").get()).toMatchObject({
      sql: expect.stringContaining('id, deadline'),
    })
    after.close()
  })

  test('a ledger from before the list of model calls gets it, with its earlier calls', async () => {
    const run = newRun()
    const facts = [aFact(), aFact({ body: '{"result":{"value":{"modelUsed":"m"}}}' }), aFact({ body: '{}' })]
    const older = await openSqlite({ file })
    await older.ledger.append([anAppend({ writes: [aCreation(run, {}, { facts })] })])
    await older.ledger.close()
    const driver = await loadDriver()
    const db = new driver(file, { timeout: 0 })
    db.exec(`drop table model_call; delete from trihand_migration where version = 11;
      create index fact_model_call on fact (recorded_at, stream, seq) where stream < 0`)
    db.close()
    const { reader } = await open()
    const found = await reader.modelCalls({ tenant: LOCAL_TENANT, from: 0, to: START + 1, after: null, limit: 9 })
    expect(found.map((call) => [call.run, call.seq])).toEqual([[run, 1]])
  })

  test('a failed change of the schema leaves no trace', async () => {
    const driver = await loadDriver()
    const db = new driver(file, { timeout: 0 })
    db.exec('create table wait (planted)')
    db.close()
    await expect(open()).rejects.toMatchObject({ code: 'INTERNAL' })
    const after = new driver(file, { timeout: 0 })
    expect(after.prepare('select count(*) as count from trihand_migration').get()).toMatchObject({ count: 0 })
    expect(after.prepare("select name from sqlite_schema where name = 'stream'").get()).toBeUndefined()
    after.close()
  })
})

describe('the file', () => {
  test('a file that is not a database is refused and not changed', async () => {
    writeFileSync(file, 'Dear diary, '.repeat(1000), { mode: 0o644 })
    await expect(open()).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    expect(readFileSync(file, 'utf8')).toBe('Dear diary, '.repeat(1000))
    expect(statSync(file).mode & 0o777).toBe(0o644)
  })

  test.each([
    ['in a directory that does not exist', () => join(directory, 'missing', 'ledger.db')],
    ['that is a directory', () => directory],
    ['below a file', () => join('/dev/null', 'ledger.db')],
    ['in memory', () => ':memory:'],
    ['without a name', () => ''],
  ])('a ledger %s is refused as CONFIG_INVALID', async (_, place) => {
    await expect(open({ file: place() })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  test('a read-only file is refused and stays read-only', async ({ skip }) => {
    skip(process.getuid?.() === 0, 'root may write every file: run the tests as another user to see this one')
    await openAndClose()
    chmodSync(file, 0o400)
    await expect(open()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(statSync(file).mode & 0o777).toBe(0o400)
  })

  test('[S16] only its owner may read any file of a ledger', async () => {
    await open()
    for (const ending of ['', '-wal', '-shm', '.lock']) expect(statSync(file + ending).mode & 0o777, ending).toBe(0o600)
  })

  test('a closed ledger is complete in its main file', async () => {
    await openAndClose()
    expect(statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0)
  })

  test('a ledger on a disk is durable, and one with relaxed durability reports it', async () => {
    mkdirSync(join(directory, 'other'))
    expect(await open({ file: join(directory, 'other', 'ledger.db'), durability: 'relaxed' })).toMatchObject({
      relaxed: true,
    })
    expect(await open()).toMatchObject({ relaxed: false, sqliteVersion: expect.stringMatching(/^3\.\d+\.\d+$/) })
  })

  test.runIf(existsSync('/dev/shm'))('a ledger on a disk in memory is relaxed', async () => {
    const memory = mkdtempSync('/dev/shm/trihand-open-')
    const { ledger, relaxed } = await openSqlite({ file: join(memory, 'ledger.db') })
    await ledger.close()
    rmSync(memory, { recursive: true })
    expect(relaxed).toBe(true)
  })
})

describe('the settings', () => {
  /** A driver that ignores one setting. */
  const deafTo = (driver: DatabaseClass, setting: string): DatabaseClass =>
    class extends driver {
      override exec(sql: string): void {
        if (!sql.includes(setting)) super.exec(sql)
      }
    }

  /** A driver that reports an older version of SQLite. */
  const outdated = (driver: DatabaseClass): DatabaseClass =>
    class extends driver {
      override prepare(sql: string) {
        return super.prepare(sql.replace('sqlite_version()', "'3.51.2'"))
      }
    }

  test('[R1] every commit is synced, also after the file was reopened', async () => {
    const driver = await loadDriver()
    for (let i = 0; i < 3; i++) {
      const db = openForWriting(driver, file, 'full')
      expect(readSetting(db, 'synchronous')).toBe(2)
      expect(readSetting(db, 'journal_mode')).toBe('wal')
      db.close()
    }
  })

  test.each(['journal_mode', 'cell_size_check', 'journal_size_limit'])(
    'a driver that ignores %s is refused',
    async (setting) => {
      const driver = deafTo(await loadDriver(), setting)
      expect(() => openForWriting(driver, file, 'full')).toThrow(
        expect.objectContaining({ code: 'LEDGER_NOT_DURABLE' }),
      )
    },
  )

  test('an old SQLite is refused', async () => {
    const driver = await loadDriver()
    expect(() => openForWriting(outdated(driver), file, 'full')).toThrow(
      expect.objectContaining({ code: 'SQLITE_TOO_OLD' }),
    )
  })
})
