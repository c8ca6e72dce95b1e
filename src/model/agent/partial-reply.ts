/**
 * The text of an answer that is still being written as JSON: the value of its member `reply` so far.
 *
 * Owns the reading of a text that may end anywhere. Total: a text that is not JSON, or has no such member yet, gives an empty text.
 *
 * partial-reply-1  The text that it reads from a beginning is a beginning of the text that it reads from the whole.
 */
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
const UNICODE_DIGITS = 4
const SPACE = /\s/

interface Read {
  readonly text: string
  /** The place after the closing quote; null: the text ended before it. */
  readonly end: number | null
}

const isHalf = (text: string): boolean => /[\ud800-\udbff]$/.test(text)

/** Reads a JSON string whose opening quote is before `from`. Half a character is left out. */
const readString = (source: string, from: number): Read => {
  let text = ''
  for (let i = from; i < source.length; i++) {
    const char = source.charAt(i)
    if (char === '"') return { text, end: i + 1 }
    if (char !== '\\') {
      text += char
      continue
    }
    const letter = source.charAt(i + 1)
    const digits = source.slice(i + 2, i + 2 + UNICODE_DIGITS)
    if (letter === '' || (letter === 'u' && digits.length < UNICODE_DIGITS)) break
    text += letter === 'u' ? String.fromCharCode(Number.parseInt(digits, 16)) : (ESCAPES[letter] ?? '')
    i += letter === 'u' ? 1 + UNICODE_DIGITS : 1
  }
  return { text: isHalf(text) ? text.slice(0, -1) : text, end: null }
}

const skipSpace = (source: string, from: number): number => {
  let i = from
  while (i < source.length && SPACE.test(source.charAt(i))) i++
  return i
}

/** The place after a value that begins here; null: the text ends inside it. */
const skipValue = (source: string, from: number): number | null => {
  let depth = 0
  for (let i = from; i < source.length; i++) {
    const char = source.charAt(i)
    if (char === '"') {
      const { end } = readString(source, i + 1)
      if (end === null) return null
      i = end - 1
    } else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') {
      if (depth === 0) return i
      depth--
    } else if (char === ',' && depth === 0) return i
  }
  return null
}

export const replySoFar = (source: string): string => {
  const start = source.indexOf('{')
  let i = start < 0 ? source.length : start + 1
  while (i < source.length) {
    i = skipSpace(source, i)
    if (source.charAt(i) !== '"') return ''
    const key = readString(source, i + 1)
    if (key.end === null) return ''
    const colon = skipSpace(source, key.end)
    const value = skipSpace(source, colon + 1)
    if (source.charAt(colon) !== ':') return ''
    if (key.text === 'reply' && source.charAt(value) === '"') return readString(source, value + 1).text
    const after = skipValue(source, value)
    if (after === null || source.charAt(after) !== ',') return ''
    i = after + 1
  }
  return ''
}
