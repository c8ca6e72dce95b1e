/**
 * The tables of a ledger as an attacker reaches them: through a separate connection, with no code of the engine in between.
 *
 * Knows the public format of seals without a key, and can therefore recompute them.
 */
import { createHash } from 'node:crypto'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import type { Target } from '#cli/verify/verify.ts'

export interface RawFact {
  readonly seq: number
  readonly type: string
  readonly recorded_at: number
  body: string
  hash: string
}

/** With `$1`, `$2`, … in both dialects. */
type Query = (sql: string, ...values: readonly (string | number)[]) => Promise<readonly Record<string, unknown>[]>

export interface RawLedger {
  readonly query: Query
  /** How facts refer to a run, as SQL. */
  readonly key: (run: string) => string
}

const sqlite = (file: string): { readonly raw: RawLedger; readonly close: () => Promise<void> } => {
  const db = new DatabaseSync(file)
  const query: Query = async (sql, ...values) =>
    db.prepare(sql).all(Object.fromEntries(values.map((value, i) => [`$${i + 1}`, value]))) as Record<string, unknown>[]
  const key = (run: string): string => `(select key from stream where id = unhex('${run.slice(4)}'))`
  return { raw: { query, key }, close: async () => db.close() }
}

const postgres = async (url: string, schema: string | undefined) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`set search_path to "${schema ?? 'public'}"`)
  const query: Query = async (sql, ...values) => (await client.query(sql, [...values])).rows
  return { raw: { query, key: (run: string) => `'${run.slice(4)}'::uuid` }, close: () => client.end() }
}

export const tamper = async (target: Target, attack: (raw: RawLedger) => Promise<void>): Promise<void> => {
  const { raw, close } = 'file' in target ? sqlite(target.file) : await postgres(target.url, target.schema)
  try {
    await attack(raw)
  } finally {
    await close()
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')
const idColumn = (raw: RawLedger, run: string): string => (raw.key(run).startsWith('(') ? 'key' : 'id')

const factsOf = async (raw: RawLedger, run: string): Promise<readonly RawFact[]> =>
  (await raw.query(
    `select seq, type, recorded_at, body, hash from fact where stream = ${raw.key(run)} order by seq`,
  )) as unknown as readonly RawFact[]

/** Replaces a text in the bodies of a run's facts. */
export const changeFacts = async (raw: RawLedger, run: string, from: string, to: string): Promise<void> => {
  for (const { seq, body } of await factsOf(raw, run))
    await raw.query(`update fact set body = $1 where stream = ${raw.key(run)} and seq = ${seq}`, body.replace(from, to))
}

/** Recomputes every hash of a run over its current content. */
export const recompute = async (raw: RawLedger, run: string): Promise<void> => {
  let head = ''
  for (const { seq, type, recorded_at, body } of await factsOf(raw, run)) {
    head = digest([head, run, seq, type, recorded_at, body].join('\n'))
    await raw.query(`update fact set hash = $1 where stream = ${raw.key(run)} and seq = ${seq}`, head)
  }
  await raw.query(`update stream set head_hash = $1 where ${idColumn(raw, run)} = ${raw.key(run)}`, head)
}

/** Deletes all rows of a run. */
export const deleteRun = async (raw: RawLedger, run: string): Promise<void> => {
  const key = raw.key(run)
  await raw.query(`delete from fact where stream = ${key}`)
  await raw.query(`delete from wait where stream = ${key}`)
  await raw.query(`delete from stream where ${idColumn(raw, run)} = ${key}`)
}

/** Swaps some columns of two events. */
export const swapEvents = async (raw: RawLedger, type: string, columns: readonly string[]): Promise<void> => {
  const rows = await raw.query(`select seq, ${columns.join(', ')} from event where type = $1 order by seq`, type)
  const [a, b] = rows
  if (a === undefined || b === undefined) throw new Error('there are no two events')
  for (const [to, from] of [
    [a, b],
    [b, a],
  ] as const)
    for (const column of columns)
      await raw.query(`update event set ${column} = $1 where seq = ${to['seq']}`, String(from[column]))
}
