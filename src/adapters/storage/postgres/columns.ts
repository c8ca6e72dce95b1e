/**
 * Passes many rows as a few parameters: one array per column, so that one prepared statement serves a batch of any size.
 *
 * Owns the notation of arrays on the wire and of `unnest` in SQL. Does not know what the rows mean.
 */
export type ColumnType = 'bigint' | 'bool' | 'int' | 'smallint' | 'text' | 'uuid'
export type Columns = Readonly<Record<string, ColumnType>>

type Cell<Type extends ColumnType> = Type extends 'bool' ? boolean : Type extends 'text' | 'uuid' ? string : number

export type Row<Shape extends Columns> = { readonly [Name in keyof Shape]: Cell<Shape[Name]> | null }

/** `unnest($3::uuid[], $4::text[]) as name(stream, step)`, counting parameters from `first`. */
export const unnest = (name: string, columns: Columns, first: number): string => {
  const arrays = Object.values(columns).map((type, i) => `$${first + i}::${type}[]`)
  return `unnest(${arrays.join(', ')}) as ${name}(${Object.keys(columns).join(', ')})`
}

/** The arrays of these rows, in the order of the columns. */
export const toArrays = (columns: Columns, rows: readonly Readonly<Record<string, unknown>>[]): string[] =>
  Object.entries(columns).map(([name, type]) => arrayLiteral(rows, name, type === 'text'))

/** Builds the same arrays cell by cell, without row objects in between. Texts must be quoted already. */
export class ColumnTexts {
  readonly #texts: string[]
  #next = 0
  #separator = '{'

  constructor(columns: Columns) {
    this.#texts = Object.keys(columns).map(() => '')
  }

  /** Adds the next cells of a row; the last one ends the row. */
  add(...cells: readonly (string | number | boolean | null)[]): void {
    for (const cell of cells) this.#texts[this.#next++] += this.#separator + (cell ?? 'NULL')
    if (this.#next < this.#texts.length) return
    this.#next = 0
    this.#separator = ','
  }

  literals(): string[] {
    return this.#texts.map((text) => `${text || '{'}}`)
  }
}

const arrayLiteral = (rows: readonly Readonly<Record<string, unknown>>[], name: string, isText: boolean): string => {
  let literal = '{'
  for (const row of rows) {
    const cell = row[name]
    if (literal.length > 1) literal += ','
    if (cell === null || cell === undefined) literal += 'NULL'
    else literal += isText ? quote(String(cell)) : String(cell)
  }
  return `${literal}}`
}

const SPECIAL = /["\\]/
const ALL_SPECIAL = /["\\]/g
/** Characters that JSON escapes differently from an array: control characters and lone surrogates. */
const ONLY_IN_JSON = /[^ -\ud7ff\ue000-\uffff]/

/** JSON quotes as an array does, and faster than a replacement; most texts need no escapes, and bodies are JSON themselves. */
export const quote = (text: string): string => {
  if (!SPECIAL.test(text)) return `"${text}"`
  return ONLY_IN_JSON.test(text) ? `"${text.replace(ALL_SPECIAL, '\\$&')}"` : JSON.stringify(text)
}
