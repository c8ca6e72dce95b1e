/**
 * Makes text from outside safe to show to people: characters that hide, reorder or move text are escaped.
 *
 * Owns which characters those are; the command line and the page both use it. Pure, and imports nothing, because the page loads it.
 *
 * visible-1  Every character of a text is drawn, and none changes the place or direction of another.
 */

// Controls and formats (zero-width, direction marks, tags), line separators, and letters that are drawn as nothing.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\u034f/gu

const unit = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`

/** Escapes like JSON: a character beyond the first plane becomes two escapes. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => unit(character.charCodeAt(i))).join('')

/** For text on one line. */
export const visibleText = (text: string): string => text.replace(INVISIBLE, escaped)

/** For text of several lines: keeps line breaks and tabs. */
export const visibleLines = (text: string): string =>
  text.replace(INVISIBLE, (character) => (character === '\n' || character === '\t' ? character : escaped(character)))
