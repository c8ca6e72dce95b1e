/**
 * Finds runs by the last digits of their ids, without an index: that would cost every parked run some twenty bytes for a search that
 * people make now and then (docs/decisions/0077).
 *
 * Owns the search. Scans all ids, newest first, in the index that contains nothing else; slice by slice, so that other work waits for
 * one slice at most. Reads only the rows of matching ids.
 */
import type { Preparer } from '#adapters/storage/sqlite/driver.ts'
import { RUN, toRunId } from '#adapters/storage/sqlite/rows.ts'
import type { RunId, TenantId } from '#model/kernel/ids.ts'

/** A slice takes two or three milliseconds. */
const SLICE = 20_000
/** Enough to distinguish none, one or several. */
const MOST = 2
const ID_BYTES = 16
/** Sorts after every id. */
const LAST = Buffer.alloc(ID_BYTES + 1, 0xff)
/** Also excludes the wildcards of `like`. */
const DIGITS = /^[0-9a-f]{0,32}$/

const IDS = `select id from stream indexed by stream_id where id < ? order by id desc`

/** Whole bytes are compared first: of a million ids nearly none remain, and only those are converted to digits. */
export const prepareLastDigits = (db: Preparer) => ({
  idsEndingWith: db.prepare(`select s.id from (${IDS} limit ${SLICE}) i cross join stream s on s.id = i.id
    where substr(i.id, ?) = ? and lower(hex(i.id)) like '%' || ? and s.tenant = ? and s.kind = ${RUN} limit ${MOST}`),
  sliceEnd: db.prepare(`${IDS} limit 1 offset ${SLICE - 1}`),
})

type Queries = ReturnType<typeof prepareLastDigits>
type Read = <Result>(work: (queries: Queries) => Result) => Result

interface Slice {
  readonly found: readonly RunId[]
  /** The oldest id of the slice; null: there are no more. */
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
