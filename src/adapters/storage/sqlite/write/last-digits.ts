/**
 * Runs by the last digits of their ids, without an index of tails: it would cost every parked run some twenty bytes for a question that a
 * person asks now and then (docs/decisions/0077).
 *
 * Owns the search. All ids are looked through, newest first, in the index that has nothing but them; slice by slice, so that nobody else
 * waits longer than for one slice. Never reads a row but those of the ids that end so.
 */
import type { Preparer } from '#adapters/storage/sqlite/driver.ts'
import { RUN, toRunId } from '#adapters/storage/sqlite/rows.ts'
import type { RunId, TenantId } from '#model/kernel/ids.ts'

/** Two or three milliseconds. */
const SLICE = 20_000
/** Enough to tell none, one or several. */
const MOST = 2
const ID_BYTES = 16
/** After every id. */
const LAST = Buffer.alloc(ID_BYTES + 1, 0xff)
/** Also keeps the wildcards of `like` out. */
const DIGITS = /^[0-9a-f]{0,32}$/

const IDS = `select id from stream indexed by stream_id where id < ? order by id desc`

/** Whole bytes are compared first: of a million ids they leave next to none, and only those are spelled out. */
export const prepareLastDigits = (db: Preparer) => ({
  idsEndingWith: db.prepare(`select s.id from (${IDS} limit ${SLICE}) i cross join stream s on s.id = i.id
    where substr(i.id, ?) = ? and lower(hex(i.id)) like '%' || ? and s.tenant = ? and s.kind = ${RUN} limit ${MOST}`),
  sliceEnd: db.prepare(`${IDS} limit 1 offset ${SLICE - 1}`),
})

type Queries = ReturnType<typeof prepareLastDigits>
type Read = <Result>(work: (queries: Queries) => Result) => Result

interface Slice {
  readonly found: readonly RunId[]
  /** Its oldest id; null: there are no more. */
  readonly end: Uint8Array | null
}

const lookThrough = (sql: Queries, tenant: TenantId, digits: string, before: Uint8Array): Slice => {
  const bytes = Buffer.from(digits.slice(digits.length % 2), 'hex')
  const rows = sql.idsEndingWith.all(before, ID_BYTES + 1 - bytes.length, bytes, digits, tenant)
  const end = sql.sliceEnd.get(before)?.['id'] as Uint8Array | undefined
  return { found: rows.map((row) => toRunId(row['id'] as Uint8Array)), end: end ?? null }
}

const othersTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export const runsEndingWith = async (read: Read, tenant: TenantId, text: string): Promise<readonly RunId[]> => {
  const digits = text.toLowerCase()
  if (!DIGITS.test(digits)) return []
  const found: RunId[] = []
  for (let before: Uint8Array | null = LAST; before !== null; ) {
    const from: Uint8Array = before
    const slice = read((sql) => lookThrough(sql, tenant, digits, from))
    found.push(...slice.found)
    if (found.length >= MOST) break
    before = slice.end
    if (before !== null) await othersTurn()
  }
  return found.slice(0, MOST)
}
