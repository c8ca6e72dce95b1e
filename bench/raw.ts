/**
 * The raw limits of the disk and the driver, which every figure is compared with.
 *
 * Owns the smallest programs with the same guarantee: a row is on disk before the next one begins.
 */
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import pg from 'pg'
import { median } from './report.ts'

const { DatabaseSync } = createRequire(import.meta.url)(
  '@photostructure/sqlite',
) as typeof import('@photostructure/sqlite')

const COMMITS = 400
/** A hundred rows for each of a thousand runs: an empty table takes rows faster than any ledger in use. */
const ROWS = 100_000
const BATCH = 1_000
const BODY = JSON.stringify({ step: 's1', attempt: 1, result: { value: 1 } })

export interface RawLimits {
  /** One row per commit: the median in ms. */
  readonly commitMs: number
  /** Rows per second in batches of 1,000 with a unique (run, seq) index. */
  readonly rowsPerSecond: number
}

export const rawSqlite = (folder: string): RawLimits => {
  const file = join(folder, 'raw.db')
  const db = new DatabaseSync(file)
  db.exec('pragma journal_mode=WAL; pragma synchronous=FULL; pragma wal_autocheckpoint=1000')
  db.exec(
    'create table fact (run integer not null, seq integer not null, body text not null); create unique index address on fact (run, seq)',
  )
  const insert = db.prepare('insert into fact values (?, ?, ?)')
  // The WAL file keeps its length once it has grown, and a serving ledger overwrites it.
  rawRows(db, insert, 1, 5_000)
  const times: number[] = []
  for (let i = 0; i < COMMITS; i++) {
    const from = performance.now()
    insert.run(0, i, BODY)
    times.push(performance.now() - from)
  }
  const from = performance.now()
  rawRows(db, insert, 2, ROWS)
  const seconds = (performance.now() - from) / 1_000
  db.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  return { commitMs: median(times), rowsPerSecond: ROWS / seconds }
}

interface Insert {
  run(run: number, seq: number, body: string): unknown
}

const rawRows = (db: { exec(sql: string): unknown }, insert: Insert, run: number, rows: number): void => {
  for (let from = 0; from < rows; from += BATCH) {
    db.exec('begin immediate')
    for (let i = from; i < from + BATCH; i++) insert.run(run * 1_000 + (i % 1_000), Math.floor(i / 1_000), BODY)
    db.exec('commit')
  }
}

export const rawPostgres = async (url: string): Promise<RawLimits> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('drop table if exists raw_fact')
  await client.query(
    'create table raw_fact (run bigint not null, seq bigint not null, body text not null, primary key (run, seq))',
  )
  const times: number[] = []
  for (let i = 0; i < COMMITS; i++) {
    const from = performance.now()
    await client.query({ name: 'one', text: 'insert into raw_fact values ($1, $2, $3)', values: [0, i, BODY] })
    times.push(performance.now() - from)
  }
  const from = performance.now()
  for (let at = 0; at < ROWS; at += BATCH) {
    const runs = Array.from({ length: BATCH }, (_, i) => i + 1)
    const values = [runs, runs.map(() => at / BATCH), runs.map(() => BODY)]
    await client.query({
      name: 'many',
      text: 'insert into raw_fact select * from unnest($1::bigint[], $2::bigint[], $3::text[])',
      values,
    })
  }
  const seconds = (performance.now() - from) / 1_000
  await client.query('drop table raw_fact')
  await client.end()
  return { commitMs: median(times), rowsPerSecond: ROWS / seconds }
}
