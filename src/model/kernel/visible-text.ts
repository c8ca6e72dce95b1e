/**
 * Text from outside as people may be shown it: what hides, reorders or moves text is spelled out.
 *
 * Owns which characters those are; the command line and the page both ask here. Pure, and imports nothing: the page loads it.
 *
 * visible-1  No character of a text is drawn as nothing, and none changes the place or direction of another.
 */

// Controls and formats (zero-width, direction marks, tags), separators of lines, and letters that are drawn as nothing.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\u034f/gu

const unit = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`

/** As JSON spells them: a character beyond the first plane is two. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => unit(character.charCodeAt(i))).join('')

/** On one line. */
export const visibleText = (text: string): string => text.replace(INVISIBLE, escaped)

/** Line breaks and tabs stay what they are. */
export const visibleLines = (text: string): string =>
  text.replace(INVISIBLE, (character) => (character === '\n' || character === '\t' ? character : escaped(character)))
