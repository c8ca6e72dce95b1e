/**
 * Counts what a ledger contains, directly from its tables, and compares it with what was acknowledged (V1).
 *
 * Owns the definitions of "lost" and "doubled". Uses the driver, not our adapter: the judge must not share the bugs of the code under test. The
 * consistency of the rows with each other is left to the checker (src/cli/verify).
 */
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import type { Receipt } from '#test/support/traffic/traffic.ts'

export interface Census {
  /** How many facts and events each append has. */
  readonly appends: ReadonlyMap<string, number>
  /** A fact's hash seals its stream, its position and its content. */
  readonly facts: ReadonlySet<string>
  readonly events: ReadonlySet<string>
  readonly blobs: ReadonlySet<string>
}

type Row = Readonly<Record<string, unknown>>

interface Rows {
  readonly facts: readonly Row[]
  readonly events: readonly Row[]
  readonly blobs: readonly Row[]
}

const FACTS = 'select append_id, hash from fact'
const EVENTS = 'select append_id, seq, source, id from event'
const BLOBS = 'select hash from blob'

const eventName = (sequence: unknown, source: unknown, id: unknown): string => `${sequence} ${source} ${id}`

const countOf = ({ facts, events, blobs }: Rows): Census => {
  const appends = new Map<string, number>()
  for (const row of [...facts, ...events]) {
    const append = String(row['append_id'])
    appends.set(append, (appends.get(append) ?? 0) + 1)
  }
  return {
    appends,
    facts: new Set(facts.map((row) => String(row['hash']))),
    events: new Set(events.map((row) => eventName(row['seq'], row['source'], row['id']))),
    blobs: new Set(blobs.map((row) => String(row['hash']))),
  }
}

export const sqliteCensus = (file: string): Census => {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const all = (sql: string): readonly Row[] => db.prepare(sql).all() as readonly Row[]
    return countOf({ facts: all(FACTS), events: all(EVENTS), blobs: all(BLOBS) })
  } finally {
    db.close()
  }
}

/** SQLite's own integrity check of the file; null if it is sound. */
export const damage = (file: string): string | null => {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const answer = String(Object.values(db.prepare('pragma integrity_check').get() ?? {})[0])
    return answer === 'ok' ? null : answer
  } finally {
    db.close()
  }
}

export const sqliteVersion = (): string => {
  const db = new DatabaseSync(':memory:')
  try {
    return String(Object.values(db.prepare('select sqlite_version()').get() ?? {})[0])
  } finally {
    db.close()
  }
}

export const postgresVersion = async (url: string): Promise<string> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ server_version: string }>('show server_version').finally(() => client.end())
  return rows[0]?.server_version ?? ''
}

export const postgresCensus = async (pool: pg.Pool): Promise<Census> => {
  const all = async (sql: string): Promise<readonly Row[]> => (await pool.query<Row>(sql)).rows
  return countOf({ facts: await all(FACTS), events: await all(EVENTS), blobs: await all(BLOBS) })
}

/** One sentence per acknowledged entry that is missing, or present more than once. */
export const compare = (census: Census, receipts: Iterable<Receipt>): readonly string[] => {
  const wrong: string[] = []
  for (const { append, facts, events, blobs } of receipts) {
    const found = census.appends.get(append) ?? 0
    const expected = facts.length + events.length
    if (found < expected) wrong.push(`V1 lost: append ${append} has ${found} of its ${expected} rows`)
    else if (found > expected) wrong.push(`V1 doubled: append ${append} has ${found} rows instead of ${expected}`)
    else if (!facts.every((hash) => census.facts.has(hash))) wrong.push(`V1 a fact of append ${append} has changed`)
    else if (!events.every((event) => census.events.has(eventName(...event))))
      wrong.push(`V1 an event of append ${append} has moved`)
    else if (!blobs.every((hash) => census.blobs.has(hash))) wrong.push(`V1 lost: a blob of append ${append}`)
  }
  return wrong
}
