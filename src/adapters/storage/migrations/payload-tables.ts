/**
 * Where payloads stand in the tables of both dialects, so that each can be read and replaced (`trihand rekey`).
 *
 * Owns the SQL, with `?` for values in their order. What a payload is and what it is replaced by is adapters/system.
 */
type Dialect = 'sqlite' | 'postgres'

export type PayloadValue = string | number

export type PayloadRow = Readonly<Record<string, PayloadValue | null>>

/** A database while no process works with it. */
export interface PayloadDatabase {
  readonly dialect: Dialect
  rows(sql: string, values: readonly PayloadValue[]): Promise<readonly PayloadRow[]>
  /** The statement with each of these values, in one transaction. */
  write(sql: string, values: readonly (readonly PayloadValue[])[]): Promise<void>
  /** Workers that have lately said that they live. */
  living(): Promise<readonly string[]>
  /** Takes what was written over out of the files, where the store does not do so by itself. */
  clean(): Promise<void>
  close(): Promise<void>
}

export interface PayloadTable {
  readonly name: string
  readonly column: string
  /** Columns that are ordered and unique together. A page answers them as `k0`, `k1`, …, and the payload as `payload`. */
  readonly keys: readonly string[]
  /** Before every key. */
  readonly first: readonly PayloadValue[]
  /** What else tells a payload's place. */
  readonly place: string
  readonly join?: string
  readonly limit: number
}

const ROWS = 200
/** Up to 16 MiB each. */
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

/** The ids of tasks are bytes on SQLite; everything else is compared as it is. */
const isBytes = (dialect: Dialect, { name }: PayloadTable): boolean => dialect === 'sqlite' && name === 'task'

const value = (dialect: Dialect, table: PayloadTable): string => (isBytes(dialect, table) ? 'unhex(?)' : '?')

const shownKey = (dialect: Dialect, table: PayloadTable, key: string): string =>
  table.name === 'task' ? hex(dialect, `t.${key}`) : `t.${key}`

/** Values: the keys of the row before. */
export const pageSql = (dialect: Dialect, table: PayloadTable): string => {
  const { name, column, keys, place, join = '', limit } = table
  const shown = keys.map((key, i) => `${shownKey(dialect, table, key)} as k${i}`).join(', ')
  const list = keys.map((key) => `t.${key}`).join(', ')
  const after = keys.map(() => value(dialect, table)).join(', ')
  return `select ${shown}, ${place}, t.${column} as payload from ${name} t ${join}
    where (${list}) > (${after}) order by ${list} limit ${limit}`
}

/** Values: the new payload, the keys, the old payload. What was changed meanwhile is left alone. */
export const replaceSql = (dialect: Dialect, table: PayloadTable): string => {
  const { name, column, keys } = table
  const same = keys.map((key) => `${key} = ${value(dialect, table)}`).join(' and ')
  return `update ${name} set ${column} = ? where ${same} and ${column} = ?`
}
