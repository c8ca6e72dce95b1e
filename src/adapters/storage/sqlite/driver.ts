/**
 * Chooses the SQLite driver: the one in Node if it is new enough, else the package that bundles its own.
 *
 * Owns the choice and the part of DatabaseSync that both drivers share. Never opens a file (connection.ts).
 */
import { createRequire } from 'node:module'

/** The types that may be bound. A Date, an array or an object would be taken for named parameters and bind NULL without an error. */
export type Value = string | number | bigint | null | Uint8Array

export interface Row {
  readonly [column: string]: Value
}

export interface Changes {
  readonly changes: number | bigint
  readonly lastInsertRowid: number | bigint
}

export interface Statement {
  run(...values: Value[]): Changes
  get(...values: Value[]): Row | undefined
  all(...values: Value[]): Row[]
  setReturnArrays(active: boolean): void
}

/** Returns each row as a list of its columns: half the time of an object with names, where rows are many. */
export interface ListStatement {
  all(...values: Value[]): Value[][]
}

export interface Database {
  readonly isTransaction: boolean
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
  /** Missing in some releases of Node 24. */
  enableDefensive?(active: boolean): void
}

export type Preparer = Pick<Database, 'prepare'>

export interface DatabaseOptions {
  readonly timeout: number
  readonly readOnly?: boolean
}

export type DatabaseClass = new (file: string, options: DatabaseOptions) => Database

/** Older versions can corrupt a file when two connections reset the WAL at the same moment. */
export const OLDEST_SQLITE = '3.51.3'
const OLDEST_NODE = '24'
/** Not a literal in the import: Node 20 has no such module, and its types do not know it. */
const BUILT_IN: string = 'node:sqlite'

export const isAtLeast = (version: string, oldest: string): boolean => {
  const parts = version.split('.').map(Number)
  for (const [i, wanted] of oldest.split('.').map(Number).entries()) {
    const found = parts[i] ?? 0
    if (found !== wanted) return found > wanted
  }
  return true
}

export const hasGoodBuiltIn = (versions: { readonly node: string; readonly sqlite?: string | undefined }): boolean =>
  versions.sqlite !== undefined && isAtLeast(versions.node, OLDEST_NODE) && isAtLeast(versions.sqlite, OLDEST_SQLITE)

/** Required, not imported: Node reads an imported CommonJS module twice, and this one is read at every start. */
const carried = (): typeof import('@photostructure/sqlite') => createRequire(import.meta.url)('@photostructure/sqlite')

/**
 * A bound limit. Not a bare `limit ?`: SQLite uses its value as a hint to the planner and prepares the statement anew at every call, which
 * takes three times as long as finding a few rows.
 */
export const LIMIT = 'limit ? + 0'

export const prepareList = (db: Preparer, sql: string): ListStatement => {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement as unknown as ListStatement
}

/** Prepared on first use; behaves like a statement that was prepared at once. */
class LaterStatement implements Statement {
  readonly #db: Preparer
  readonly #sql: string
  #returnsArrays = false
  #prepared: Statement | null = null

  constructor(db: Preparer, sql: string) {
    this.#db = db
    this.#sql = sql
  }

  run(...values: Value[]): Changes {
    return this.#statement().run(...values)
  }

  get(...values: Value[]): Row | undefined {
    return this.#statement().get(...values)
  }

  all(...values: Value[]): Row[] {
    return this.#statement().all(...values)
  }

  setReturnArrays(active: boolean): void {
    this.#returnsArrays = active
    this.#prepared?.setReturnArrays(active)
  }

  #statement(): Statement {
    if (this.#prepared === null) {
      this.#prepared = this.#db.prepare(this.#sql)
      if (this.#returnsArrays) this.#prepared.setReturnArrays(true)
    }
    return this.#prepared
  }
}

/** For statements that most processes never run: preparing all fifty of a reader took 4 ms of each start. */
export const preparingLater = (db: Preparer): Preparer => ({ prepare: (sql) => new LaterStatement(db, sql) })

export const loadDriver = async (): Promise<DatabaseClass> => {
  const { node, sqlite } = process.versions
  const module: unknown = hasGoodBuiltIn({ node, sqlite }) ? await import(BUILT_IN) : carried()
  return (module as { readonly DatabaseSync: DatabaseClass }).DatabaseSync
}
