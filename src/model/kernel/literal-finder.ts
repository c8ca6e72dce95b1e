/**
 * Tests whether a text may hold one of many literals, in a time that hardly grows with their number.
 *
 * Every text that is written is tested, and almost none holds a literal: three characters at a time are looked up in a table that says how far
 * away the next literal can begin at the earliest (the shift of Wu and Manber), so that most characters are never read.
 *
 * literal-finder-1  A text that holds a literal is never answered with false. A text that holds none may be answered with true.
 */

const TABLE = 1 << 16
const BLOCK = 3

const blockAt = (text: string, end: number): number =>
  (text.charCodeAt(end - 2) * 961 + text.charCodeAt(end - 1) * 31 + text.charCodeAt(end)) & (TABLE - 1)

/** Each literal must have three characters or more. */
export const literalFinder = (literals: readonly string[]): ((text: string) => boolean) => {
  if (literals.length === 0) return () => false
  const window = Math.min(255, ...literals.map(({ length }) => length))
  if (window < BLOCK) throw new RangeError(`a literal of fewer than ${BLOCK} characters`)
  const shifts = new Uint8Array(TABLE).fill(window - BLOCK + 1)
  for (const literal of literals)
    for (let end = BLOCK - 1; end < window; end++) {
      const block = blockAt(literal, end)
      shifts[block] = Math.min(shifts[block] as number, window - 1 - end)
    }
  return (text) => {
    const { length } = text
    for (let end = window - 1; end < length; ) {
      const shift = shifts[blockAt(text, end)] as number
      if (shift === 0) return true
      end += shift
    }
    return false
  }
}
