/**
 * A ledger to measure on: a new folder or schema, opened as users open it, and removed afterwards.
 *
 * Owns opening, waiting for a state, and child processes. Never measures.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import { dispatcherAsked } from './dispatcher.ts'
import { type RawLimits, rawPostgres, rawSqlite } from './raw.ts'
import type { LedgerKind } from './report.ts'
import { benchSystem, type Probe } from './system.ts'

const { DatabaseSync } = createRequire(import.meta.url)(
  '@photostructure/sqlite',
) as typeof import('@photostructure/sqlite')

export interface BenchLedger {
  readonly kind: LedgerKind
  readonly raw: RawLimits
  /** Creates an empty ledger for one measurement. */
  fresh(): Place
}

export interface Place {
  readonly database: string
  readonly schema: string | null
  /** Bytes on disk, including the log and indexes. */
  size(): Promise<number>
  remove(): Promise<void>
}

/** Measures the raw limit again. */
export const sqliteLedger = async (): Promise<BenchLedger> => {
  const folder = mkdtempSync(join(tmpdir(), 'trihand-bench-'))
  const raw = rawSqlite(folder)
  rmSync(folder, { recursive: true, force: true })
  return { kind: 'sqlite', raw, fresh: sqlitePlace }
}

const sqlitePlace = (): Place => {
  const folder = mkdtempSync(join(tmpdir(), 'trihand-bench-'))
  const database = join(folder, 'ledger.db')
  return {
    database,
    schema: null,
    size: async () => sqliteBytes(database),
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The number of pages times their size as a reader sees them, so that data still in the log counts too. */
const sqliteBytes = (file: string): number => {
  const db = new DatabaseSync(file, { readOnly: true })
  const ask = (name: string): number => Number((db.prepare(`pragma ${name}`).get() as Record<string, unknown>)[name])
  const bytes = ask('page_count') * ask('page_size')
  db.close()
  return bytes
}

/** Measures the raw limit again. */
export const postgresLedger = async (url: string): Promise<BenchLedger> => ({
  kind: 'postgres',
  raw: await rawPostgres(url),
  fresh: () => postgresPlace(url),
})

let schemas = 0

const postgresPlace = (url: string): Place => {
  const schema = `bench_${process.pid}_${schemas++}`
  const ask = async (sql: string): Promise<number> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(sql)
    await client.end()
    return Number(rows[0]?.['n'] ?? 0)
  }
  return {
    database: url,
    schema,
    size: () =>
      ask(
        `select sum(pg_total_relation_size(c.oid)) as n from pg_class c join pg_namespace s on s.oid = c.relnamespace where s.nspname = '${schema}' and c.relkind = 'r'`,
      ),
    remove: async () => {
      await ask(`drop schema if exists "${schema}" cascade`)
    },
  }
}

export const open = (
  place: Place,
  probe: Probe = { mark: () => {} },
  extra: {
    readonly system?: SystemSource
    readonly work?: boolean
    readonly slots?: number
    readonly ledgerKey?: string
    readonly tuneProcess?: boolean
  } = {},
): Promise<Trihand> =>
  createTrihand({
    system: benchSystem(probe),
    database: place.database,
    ...(place.schema === null ? {} : { schema: place.schema }),
    drain: 0,
    ...dispatcherAsked(),
    ...extra,
  })

/** Settles when this many runs were reported with this status. */
export const untilReported = (app: Trihand, status: RunStatus, count: number): Promise<void> =>
  new Promise((resolve) => {
    let seen = 0
    const off = app.subscribe('runs', (notice) => {
      if (notice.status !== status || ++seen < count) return
      off()
      resolve()
    })
  })

/** Polls until this many runs have this status. */
export const untilCount = async (app: Trihand, status: RunStatus, count: number, everyMs = 5): Promise<void> => {
  while (((await app.reader.counts(LOCAL_TENANT)).get(status) ?? 0) < count)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
}

/** Settings of the machine for Node itself, such as a list of certificates that every start reads; they are not part of the measurement. */
const OF_THE_MACHINE = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS']

const plainEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_THE_MACHINE.includes(name)))

export interface Child {
  readonly process: ChildProcess
  /** The next line that begins with this text, and when it arrived. */
  line(word: string): Promise<{ readonly text: string; readonly at: number }>
  kill(): Promise<void>
  readonly startedAt: number
}

/** Starts one of bench/children as a process, bundled like the published package. */
export const startChild = (
  name: string,
  place: Place,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Child => {
  const script = fileURLToPath(new URL(`../joined/bench/children/${name}.js`, import.meta.url))
  const startedAt = performance.now()
  const child = spawn(process.execPath, [script, place.database, place.schema ?? '', ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...plainEnvironment(), ...env },
  })
  const lines: { text: string; at: number }[] = []
  const waiting: { word: string; resolve: (line: { text: string; at: number }) => void }[] = []
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = { text, at: performance.now() }
    const index = waiting.findIndex(({ word }) => text.startsWith(word))
    if (index < 0) lines.push(line)
    else waiting.splice(index, 1)[0]?.resolve(line)
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    process: child,
    startedAt,
    line: (word) => {
      const index = lines.findIndex(({ text }) => text.startsWith(word))
      if (index >= 0) return Promise.resolve(lines.splice(index, 1)[0] as { text: string; at: number })
      return new Promise((resolve) => waiting.push({ word, resolve }))
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
