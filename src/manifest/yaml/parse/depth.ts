/**
 * How deep a text nests, found before anything recursive reads it: too deep a text ends the process, and nobody can catch that.
 *
 * Owns the bound and the counting over lexemes, which are flat. Counts at least what the parser will stack up. Never parses.
 */

const MAX_DEPTH = 64
/** Outside of brackets each of these may open a level within its line. */
const INDICATORS: ReadonlySet<string> = new Set(['-', '?', ':'])
/** Marks of the lexer itself: the begin of a document, of a scalar, an unexpected end of brackets. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u001f', '\u0018', '\ufeff', ''])

const breaksIn = (lexeme: string): number => (lexeme.includes('\n') ? lexeme.split('\n').length - 1 : 0)

class Nesting {
  /** Indentations of the blocks that are open, from the outside. */
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

  /** Deeper lines stack up, shallower ones take levels off. */
  #begin(lexeme: string): void {
    const indent = /^ +$/.test(lexeme) ? lexeme.length : 0
    while ((this.#blocks.at(-1) ?? -1) >= indent) this.#blocks.pop()
    this.#blocks.push(indent)
    this.#isFresh = false
  }
}

/** The number of the first line that nests too deep; null if none does. */
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
