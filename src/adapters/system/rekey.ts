/**
 * Changes every payload of a ledger to the first key, so that the others can be discarded.
 *
 * Owns the order of work. No state is kept between pages: the key id in a payload says whether it was changed, so that interrupted work
 * continues by starting again.
 *
 * rekey-1  At every moment each payload opens with one of the keys that the ledger's record names.
 * rekey-2  The record drops the old keys only after a pass that has found nothing encrypted with them.
 * rekey-3  A payload that does not open is left unchanged, is counted, and keeps the old keys in the record.
 */
import {
  type PayloadDatabase,
  type PayloadRow,
  type PayloadTable,
  type PayloadValue,
  pageSql,
  payloadTables,
  replaceSql,
} from '#adapters/storage/migrations/payload-tables.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { claimableId, sessionId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Cipher } from './cipher.ts'
import { KEY_RECORD } from './key-document.ts'
import { CONTENT, documentPlace, eventPlace, factPlace, suppressionPlace, taskPlace } from './payloads.ts'

export interface RekeyProgress {
  readonly table: string
  readonly changed: number
  /** The number of payloads that do not open. */
  readonly broken: number
}

/** The `kind` of a session in the table of streams. */
const SESSION = 1

/** Works table by table and page by page, so that memory is limited to one page. */
export const rekeyPayloads = async function* (
  database: PayloadDatabase,
  cipher: Cipher,
): AsyncGenerator<RekeyProgress, void> {
  for (const table of payloadTables(database.dialect)) yield* rekeyTable(database, cipher, table)
}

const rekeyTable = async function* (
  database: PayloadDatabase,
  cipher: Cipher,
  table: PayloadTable,
): AsyncGenerator<RekeyProgress, void> {
  const [page, replace] = [pageSql(database.dialect, table), replaceSql(database.dialect, table)]
  let after: readonly PayloadValue[] = table.first
  for (;;) {
    const rows = await database.rows(page, after)
    const last = rows.at(-1)
    if (last === undefined) return
    after = keysOf(table, last)
    const changes: (readonly PayloadValue[])[] = []
    let broken = 0
    for (const row of rows) {
      const renewed = renew(cipher, table, row)
      if (renewed === BROKEN) broken += 1
      else if (renewed !== null) changes.push([renewed, ...keysOf(table, row), String(row['payload'])])
    }
    if (changes.length > 0) await database.write(replace, changes)
    if (changes.length + broken > 0) yield { table: table.name, changed: changes.length, broken }
  }
}

const keysOf = ({ keys }: PayloadTable, row: PayloadRow): readonly PayloadValue[] =>
  keys.map((_, i) => row[`k${i}`] as PayloadValue)

const BROKEN = Symbol('a payload that does not open')

/** The column's text with the payload encrypted with the first key; null: it is encrypted with it already, or there is no payload. */
const renew = (cipher: Cipher, table: PayloadTable, row: PayloadRow): string | null | typeof BROKEN => {
  const place = placeOf(table, row)
  if (place === null) return null
  const stored = String(row['payload'])
  try {
    const hidden = IN_JSON.has(`${table.name}.${table.column}`) ? contentOf(JSON.parse(stored) as Json) : stored
    const renewed = cipher.renew(String(row['tenant']), place, hidden)
    return renewed === null ? null : stored.replace(hidden, () => renewed)
  } catch (error) {
    if (error instanceof TrihandError || error instanceof SyntaxError) return BROKEN
    throw error
  }
}

const IN_JSON: ReadonlySet<string> = new Set(['event.data', 'task.summary', 'document.body'])

/** The ciphertext is the whole value, or a member beside tokens. */
const contentOf = (stored: Json): string =>
  typeof stored === 'string' ? stored : String((stored as { readonly [CONTENT]?: Json } | null)?.[CONTENT])

const placeOf = ({ name, column }: PayloadTable, row: PayloadRow): string | null => {
  const text = (key: string): string => String(row[key])
  switch (name) {
    case 'fact': {
      const stream = row['kind'] === SESSION ? sessionId(text('stream')) : claimableId(text('stream'))
      return factPlace(stream, Number(row['k1']))
    }
    case 'event':
      return eventPlace({ source: text('source'), id: text('id'), type: text('type') })
    case 'suppressed':
      return suppressionPlace(text('k1'))
    case 'task':
      return taskPlace(claimableId(text('k0')), column as 'title' | 'summary')
    case 'document':
      return text('k1') === KEY_RECORD.table ? null : documentPlace(text('k1'), text('k2'))
    default:
      return `blob\n${text('k0')}`
  }
}
