/**
 * Opens a ledger in a Postgres database: connections that prove they are durable, then the schema, then the parts that stand on it.
 *
 * Owns that order; a failure at any place closes what was opened before it.
 */
import { createHash } from 'node:crypto'
import { PostgresReader } from '#adapters/storage/postgres/read/reader.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { ChangeFeed } from '#ports/change-feed.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { PostgresBlobs } from './blobs.ts'
import { PostgresChangeFeed } from './change-feed.ts'
import { ChangeHints } from './change-hints.ts'
import { PostgresDispatcher } from './dispatcher.ts'
import { PostgresLedger } from './ledger.ts'
import { migratePostgres } from './migrate.ts'
import { Database, type Statement } from './pool.ts'
import { Wire } from './wire.ts'

export interface PostgresOptions {
  readonly url: string
  /** Made if it is missing. Without it: the search_path that the url or the server names. */
  readonly schema?: string
  /** Whose clock decides what is due. The caller's is for tests and the simulator. */
  readonly clock?: 'database' | 'caller'
  /** The most connections at once. */
  readonly max?: number
  /** Whether wakes and changes are told to other processes, over two more connections. Without it they find them when they look. */
  readonly notify?: boolean
  /** Whether an older ledger is brought to this version; if not, it is refused. Default: true. */
  readonly migrate?: boolean
}

export interface OpenedPostgres {
  /** Its `close` ends the reader, the blobs and the news too. */
  readonly ledger: Ledger
  readonly reader: Reader
  readonly blobs: Blobs
  readonly changeFeed: ChangeFeed
  /** The caller starts and stops it. */
  dispatcher(clock: Clock): Dispatcher
  close(): Promise<void>
}

const DEFAULT_MAX = 10
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/
const CURRENT_SCHEMA: Statement = { name: 'current_schema', text: 'select current_schema() as schema' }

export const openPostgres = async (options: PostgresOptions): Promise<OpenedPostgres> => {
  const { url, schema = null, clock = 'database', max = DEFAULT_MAX, notify = true, migrate = true } = options
  if (schema !== null && !SCHEMA.test(schema)) {
    throw new TrihandError('CONFIG_INVALID', `the schema is named ${schema}; expected small letters, digits and _`)
  }
  const database = new Database({ url, schema, max })
  try {
    await migratePostgres(database, schema, migrate)
    const [row] = await database.query<{ schema: string }>(CURRENT_SCHEMA, [])
    const found = row?.schema ?? ''
    const place = { url, schema, channel: `${channelOf(found)}_changes` }
    const hints = notify ? new ChangeHints((onMessage) => new Wire({ ...place, onMessage })) : null
    return {
      ledger: new PostgresLedger(database, { clock, schema: found }, hints),
      reader: new PostgresReader(database),
      blobs: new PostgresBlobs(database),
      changeFeed: new PostgresChangeFeed(database, hints),
      dispatcher: (time) => new PostgresDispatcher({ url, schema, channel: channelOf(found), clock: time, notify }),
      close: async () => {
        await hints?.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** A name of fixed length, so that no schema is too long for it. */
const channelOf = (schema: string): string =>
  `trihand_${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`
