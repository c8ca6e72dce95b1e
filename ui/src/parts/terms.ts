/** Parses and writes a text filter such as `status:failed handler:greet`. Each term is a query parameter of the list. */
export type Terms = Readonly<Record<string, string>>

export type ReadTerms = { readonly terms: Terms } | { readonly problem: string }

/** A word without spaces, or with quoted parts. */
const WORD = /(?:[^\s"]|"[^"]*")+/g

const plain = (text: string): string => text.replaceAll('"', '')

interface Keys {
  readonly keys: readonly string[]
  /** The key for a word without one. */
  readonly bare: string
}

const readTerm = (word: string, { keys, bare }: Keys): readonly [string, string] | string => {
  const at = word.indexOf(':')
  if (at < 0) return [bare, plain(word)]
  const key = word.slice(0, at).toLowerCase()
  const known = keys.map((one) => `${one}:`).join(' ')
  if (!keys.includes(key)) return `Unknown filter ${key}. Use ${known}`
  const value = plain(word.slice(at + 1))
  return value === '' ? `${key}: needs a value` : [key, value]
}

export const readTerms = (text: string, keys: Keys): ReadTerms => {
  const terms: Record<string, string> = {}
  for (const word of text.match(WORD) ?? []) {
    const term = readTerm(word, keys)
    if (typeof term === 'string') return { problem: term }
    const [key, value] = term
    if (key in terms) return { problem: `${key}: appears twice` }
    terms[key] = value
  }
  return { terms }
}

const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value)

export const writeTerms = (terms: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(terms)
    .filter((term): term is [string, string] => term[1] !== undefined)
    .map(([key, value]) => `${key}:${quoted(value)}`)
    .join(' ')
