/**
 * The wiring of the stores: opens the ledger that a configuration means.
 *
 * Owns what each kind of store provides. The code of a store is loaded when the store is chosen.
 */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PayloadDatabase } from '#adapters/storage/migrations/payload-tables.ts'
import { InProcessDispatcher } from '#adapters/system/dispatcher.ts'
import type { CommitOptions } from '#engine/core/commit.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { ChangeFeed } from '#ports/change-feed.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import type { LedgerChoice } from './config.ts'

/** What an opened store offers; the same for every kind. */
export interface Store {
  readonly ledger: Ledger
  readonly reader: Reader
  readonly blobs: Blobs
  readonly dispatcher: Dispatcher
  readonly durable: boolean
  readonly description: string
  readonly pollMs: number
  /** How often a worker looks for dead workers; null where this process is the only one on the store. */
  readonly sweepMs: number | null
  readonly commit: CommitOptions
  /** Whether the dispatcher keeps timers outside of this process. */
  readonly keepsInstants?: boolean
  /** Where the dispatcher is an outside service: why it does not wake runs; null: it does. */
  readonly checkDispatcher?: () => Promise<string | null>
  /** What other processes committed, where several processes share the store. */
  readonly changeFeed?: ChangeFeed
}

/** How a ledger is opened. */
export interface StoreOptions {
  /** The Postgres schema that holds the ledger. Default: the first of the connection's search path. */
  readonly schema?: string
  /** False: an older ledger is refused with LEDGER_OLDER instead of being migrated. Default: true. */
  readonly migrate?: boolean
  /**
   * True: V8 settings of this whole process may be changed for the ledger's sake. On two cores a busy SQLite ledger then collects young objects
   * without helper threads. `trihand dev`, `start` and `worker` set it for their own process. Default: false, since an application's process is its own.
   */
  readonly tuneProcess?: boolean
}

export const openStore = async (choice: LedgerChoice, options: StoreOptions, clock: Clock): Promise<Store> => {
  switch (choice.kind) {
    case 'memory':
      return openMemoryStore(clock)
    case 'sqlite':
      return openSqliteStore(choice.file, options, clock)
    case 'postgres':
      return openPostgresStore(choice.url, options, clock)
  }
}

/** Copies a consistent snapshot of a SQLite ledger into another file. */
export const backUp = async (file: string, to: string): Promise<void> =>
  (await import('#adapters/storage/sqlite/backup.ts')).backUpSqlite(file, to)

/** The tables of a store that no process uses, for a change of keys. */
export const openPayloads = async (choice: LedgerChoice, schema: string | undefined): Promise<PayloadDatabase> => {
  switch (choice.kind) {
    case 'sqlite':
      return (await import('#adapters/storage/sqlite/payload-database.ts')).openSqlitePayloads(choice.file)
    case 'postgres':
      return (await import('#adapters/storage/postgres/payload-database.ts')).openPostgresPayloads(choice.url, schema)
    case 'memory':
      throw new TrihandError('CONFIG_INVALID', 'a ledger in memory is not stored and has no keys to change')
  }
}

/** Larger batches make fewer commits, smaller ones leave less for the garbage collector to copy (docs/decisions/0041, 0081). */
const EMBEDDED = { pollMs: 1_000, sweepMs: null, commit: { maxBatch: 384, maxInFlight: 3 } } as const
/** Larger batches, because each is a round trip, and a statement costs the server as much as about ten rows. */
const SHARED = { pollMs: 250, sweepMs: 500, commit: { maxBatch: 512, maxInFlight: 2 } } as const

const POSTGRES = { durable: true, description: 'postgres' } as const

const openMemoryStore = async (clock: Clock): Promise<Store> => {
  const { openMemory } = await import('#adapters/storage/memory/open.ts')
  return {
    ...EMBEDDED,
    ...openMemory(),
    dispatcher: new InProcessDispatcher(clock),
    durable: false,
    description: 'memory (lost when the process stops)',
  }
}

/** Creates a folder that only its owner may read, unless it exists. The error for a folder or file that cannot be written names it. */
export const prepareFolder = (folder: string, file?: string): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK)
    if (file !== undefined && existsSync(file)) accessSync(file, constants.W_OK)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new TrihandError('FOLDER_READ_ONLY', `${file ?? folder} cannot be written: ${reason}`, { cause: error })
  }
}

const openSqliteStore = async (
  file: string,
  { migrate = true, tuneProcess = false }: StoreOptions,
  clock: Clock,
): Promise<Store> => {
  const { openSqlite } = await import('#adapters/storage/sqlite/open.ts')
  prepareFolder(dirname(file), file)
  const { ledger, reader, blobs, relaxed } = await openSqlite({ file, migrate, tuneProcess })
  return {
    ...EMBEDDED,
    ledger,
    reader,
    blobs,
    dispatcher: new InProcessDispatcher(clock),
    durable: !relaxed,
    description: file,
  }
}

const openPostgresStore = async (
  url: string,
  { schema, migrate = true }: StoreOptions,
  clock: Clock,
): Promise<Store> => {
  const { openPostgres } = await import('#adapters/storage/postgres/open.ts')
  const opened = await openPostgres({ url, migrate, ...(schema === undefined ? {} : { schema }) })
  const { ledger, reader, blobs, changeFeed } = opened
  return { ...SHARED, ledger, reader, blobs, changeFeed, ...POSTGRES, dispatcher: opened.dispatcher(clock) }
}

/** Where agents work: beside the ledger; null: the ledger is not a file on this machine. */
export const workspacesOf = (choice: LedgerChoice): string | null =>
  choice.kind === 'sqlite' ? join(dirname(choice.file), 'workspaces') : null
