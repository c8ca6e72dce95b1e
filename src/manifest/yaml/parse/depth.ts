/**
 * How deeply a text nests, measured before any recursive code reads it: a text that nests too deeply ends the process, and that cannot be caught.
 *
 * Owns the limit and the counting over lexemes, which are flat. Counts at least as many levels as the parser will stack. Never parses.
 */

const MAX_DEPTH = 64
/** Outside of brackets each of these may open a level within its line. */
const INDICATORS: ReadonlySet<string> = new Set(['-', '?', ':'])
/** Markers of the lexer itself: the start of a document, of a scalar, an unexpected end of brackets. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u001f', '\u0018', '\ufeff', ''])

const breaksIn = (lexeme: string): number => (lexeme.includes('\n') ? lexeme.split('\n').length - 1 : 0)

class Nesting {
  /** Indentations of the open blocks, from the outermost. */
  readonly #blocks: number[] = []
  #brackets = 0
  #inLine = 0
  #isFresh = true

  get depth(): number {
    return this.#blocks.length + this.#brackets + this.#inLine
  }

  take(lexeme: string): void {
    if (MARKS.has(lexeme)) return
    if (this.#isFresh && this.#brackets === 0 && lexeme !== '\n') this.#begin(lexeme)
    if (lexeme === '[' || lexeme === '{') this.#brackets++
    else if (lexeme === ']' || lexeme === '}') this.#brackets = Math.max(0, this.#brackets - 1)
    else if (this.#brackets === 0 && INDICATORS.has(lexeme)) this.#inLine++
  }

  endLine(): void {
    this.#inLine = 0
    this.#isFresh = true
  }

  /** Deeper lines push levels, shallower ones pop them. */
  #begin(lexeme: string): void {
    const indent = /^ +$/.test(lexeme) ? lexeme.length : 0
    while ((this.#blocks.at(-1) ?? -1) >= indent) this.#blocks.pop()
    this.#blocks.push(indent)
    this.#isFresh = false
  }
}

/** The number of the first line that nests too deeply; null if there is none. */
export const tooDeepAt = (lexemes: readonly string[]): number | null => {
  const nesting = new Nesting()
  let line = 1
  for (const lexeme of lexemes) {
    nesting.take(lexeme)
    if (nesting.depth > MAX_DEPTH) return line
    const breaks = breaksIn(lexeme)
    line += breaks
    if (breaks > 0) nesting.endLine()
  }
  return null
}
