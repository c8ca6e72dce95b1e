/**
 * The columns of both dialects that hold payloads, so that each can be read and replaced (`trihand rekey`).
 *
 * Owns the SQL, with `?` for values in their order. adapters/system defines a payload and its replacement.
 */
type Dialect = 'sqlite' | 'postgres'

export type PayloadValue = string | number

export type PayloadRow = Readonly<Record<string, PayloadValue | null>>

/** A ledger's database while no process works with it. */
export interface PayloadDatabase {
  readonly dialect: Dialect
  rows(sql: string, values: readonly PayloadValue[]): Promise<readonly PayloadRow[]>
  /** Runs the statement with each of these values, in one transaction. */
  write(sql: string, values: readonly (readonly PayloadValue[])[]): Promise<void>
  /** Workers with a recent heartbeat. */
  living(): Promise<readonly string[]>
  /** Removes overwritten data from the files, where the store does not do so by itself. */
  clean(): Promise<void>
  close(): Promise<void>
}

export interface PayloadTable {
  readonly name: string
  readonly column: string
  /** Columns that define the order and are unique together. A page returns them as `k0`, `k1`, …, and the payload as `payload`. */
  readonly keys: readonly string[]
  /** Values that sort before every key. */
  readonly first: readonly PayloadValue[]
  /** Further columns that identify a payload's place. */
  readonly place: string
  readonly join?: string
  readonly limit: number
}

const ROWS = 200
/** A blob has up to 16 MiB. */
const BLOBS = 2
const BARE = '0'.repeat(32)

const hex = (dialect: Dialect, column: string): string =>
  dialect === 'sqlite' ? `lower(hex(${column}))` : `replace(${column}::text, '-', '')`

export const payloadTables = (dialect: Dialect): readonly PayloadTable[] => {
  const isSqlite = dialect === 'sqlite'
  const task = { name: 'task', keys: ['id'], first: [BARE], place: 't.tenant', limit: ROWS }
  return [
    {
      ...{ name: 'fact', column: 'body', keys: ['stream', 'seq'], first: [isSqlite ? -1 : BARE, -1] },
      place: `s.tenant, s.kind, ${hex(dialect, 's.id')} as stream`,
      join: `join stream s on s.${isSqlite ? 'key' : 'id'} = t.stream`,
      limit: ROWS,
    },
    {
      ...{ name: 'event', column: 'data', keys: ['seq'], first: [-1] },
      ...{ place: 't.tenant, t.source, t.id, t.type', limit: ROWS },
    },
    {
      ...{ name: 'suppressed', column: 'detail', keys: ['event', 'trigger_name'], first: [-1, ''] },
      ...{ place: 'e.tenant', join: 'join event e on e.seq = t.event', limit: ROWS },
    },
    { ...task, column: 'title' },
    { ...task, column: 'summary' },
    {
      ...{ name: 'document', column: 'body', keys: ['tenant', 'table_name', 'key'], first: ['', '', ''] },
      ...{ place: 't.tenant', limit: ROWS },
    },
    { name: 'blob', column: 'body', keys: ['hash'], first: [''], place: "'' as tenant", limit: BLOBS },
  ]
}

/** The ids of tasks are bytes on SQLite; all other keys are compared as they are. */
const isBytes = (dialect: Dialect, { name }: PayloadTable): boolean => dialect === 'sqlite' && name === 'task'

const value = (dialect: Dialect, table: PayloadTable): string => (isBytes(dialect, table) ? 'unhex(?)' : '?')

const shownKey = (dialect: Dialect, table: PayloadTable, key: string): string =>
  table.name === 'task' ? hex(dialect, `t.${key}`) : `t.${key}`

/** Its values are the keys of the row before the page. */
export const pageSql = (dialect: Dialect, table: PayloadTable): string => {
  const { name, column, keys, place, join = '', limit } = table
  const shown = keys.map((key, i) => `${shownKey(dialect, table, key)} as k${i}`).join(', ')
  const list = keys.map((key) => `t.${key}`).join(', ')
  const after = keys.map(() => value(dialect, table)).join(', ')
  return `select ${shown}, ${place}, t.${column} as payload from ${name} t ${join}
    where (${list}) > (${after}) order by ${list} limit ${limit}`
}

/** Its values are the new payload, the keys, the old payload. A payload that changed meanwhile is left alone. */
export const replaceSql = (dialect: Dialect, table: PayloadTable): string => {
  const { name, column, keys } = table
  const same = keys.map((key) => `${key} = ${value(dialect, table)}`).join(' and ')
  return `update ${name} set ${column} = ? where ${same} and ${column} = ?`
}
