/**
 * Removes secrets from text: known values in every encoding in which they travel, and keys that are known by their form.
 *
 * Owns what is found and what replaces it. The known values come from manifest/define/secrets.ts; every writer receives the result.
 *
 * redaction-1  No known value of 8 characters or more is left, plain, JSON-escaped, URL-encoded or in base64 at any offset.
 * redaction-2  Redacted JSON is JSON of the same shape: only strings change, each in its parsed form, never in its escaped form.
 * redaction-3  In a stream of text no chunk is emitted while it may be the beginning of a secret, however the chunks are cut.
 */
import { isJsonRecord, type Json } from './json.ts'
import { literalFinder } from './literal-finder.ts'

export interface Secret {
  readonly name: string
  readonly value: string
}

export interface Redaction {
  text(text: string): string
  /** Returns the same value, unless it holds a secret. `written`: its JSON text, if the caller has it already. */
  value(value: Json, written?: string): Json
  /** JSON text in, JSON text out. */
  json(written: string): string
  /** For text that arrives in chunks. */
  stream(): RedactedStream
}

export interface RedactedStream {
  /** Returns the text that can be emitted now. */
  push(piece: string): string
  /** Returns the rest. */
  end(): string
}

/** Shorter values are ordinary words, which would then be removed from every text. */
const MIN_LENGTH = 8

/**
 * Keys by their form. A prefix such as `sk-` counts at the beginning of a word only; a JSON escape such as `\n` may precede it.
 */
const AFTER_WORD = String.raw`(?<=(?:^|[^A-Za-z0-9]|\\[nrtbf]|\\u[0-9a-f]{4})`
const KEY_FORMS: readonly (readonly [name: string, form: string])[] = [
  [
    'private_key',
    String.raw`-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|$)`,
  ],
  ['anthropic_key', 'sk-ant-[A-Za-z0-9_-]{20,}'],
  ['openai_key', `sk-${AFTER_WORD}sk-)(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}`],
  ['stripe_key', '[rs]k_(?:live|test)_[A-Za-z0-9]{16,}'],
  ['github_token', 'gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}'],
  ['slack_token', 'xox[abeoprs]-[A-Za-z0-9-]{10,}'],
  ['aws_key', `A[KS]IA${AFTER_WORD}A[KS]IA)[0-9A-Z]{16}(?![0-9A-Za-z])`],
  ['google_key', 'AIza[0-9A-Za-z_-]{35}'],
  ['webhook_secret', 'whsec_[A-Za-z0-9+/=]{24,}'],
  ['trihand_token', `th_${AFTER_WORD}th_)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])`],
]

const NAMED_FORMS = KEY_FORMS.map(([name, form]) => ({ name, form: new RegExp(`^(?:${form})`) }))
const ANY_FORM = KEY_FORMS.map(([, form]) => form).join('|')
const HAS_FORM = new RegExp(ANY_FORM)

/** The prefixes of keys, and text that ends inside a key. */
const KEY_STARTS = [
  ...['sk-', 'sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
  ...[
    'xoxa-',
    'xoxb-',
    'xoxe-',
    'xoxo-',
    'xoxp-',
    'xoxr-',
    'xoxs-',
    'AKIA',
    'ASIA',
    'AIza',
    'whsec_',
    'th_',
    '-----BEGIN ',
  ],
]
const WITHIN_KEY = new RegExp(`(?:${KEY_STARTS.join('|')})[A-Za-z0-9_+/=-]*$`)
const WITHIN_PRIVATE_KEY =
  /-----BEGIN [A-Z -]*$|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?![\s\S]*-----END [A-Z ]{0,20}PRIVATE KEY-----)/
const LONGEST_START = Math.max(...KEY_STARTS.map(({ length }) => length))
/** No key is longer; a match that is longer than this is emitted. */
const MAX_HELD = 16_384

const utf8 = new TextEncoder()
const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** In base64 a value looks different at each of three offsets; characters that also depend on the neighbouring bytes are left out. */
const base64Forms = (value: string): readonly string[] => {
  const bytes = utf8.encode(value)
  return [0, 1, 2].flatMap((offset) => {
    const padded = new Uint8Array(offset + bytes.length)
    padded.set(bytes, offset)
    const from = offset === 0 ? 0 : offset + 1
    const form = base64(padded).slice(from, Math.floor((padded.length * 8) / 6))
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

const spellings = (value: string): ReadonlySet<string> => {
  const url = encodeURIComponent(value)
  return new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    url,
    url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    url.replaceAll('%20', '+'),
    ...base64Forms(value),
  ])
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)

export const createRedaction = (secrets: readonly Secret[]): Redaction => {
  const names = new Map<string, string>()
  for (const { name, value } of secrets)
    if (value.length >= MIN_LENGTH) for (const form of spellings(value)) if (!names.has(form)) names.set(form, name)
  // The longest first, because one value may be the beginning of another.
  const known = [...names.keys()].sort((a, b) => b.length - a.length)
  const longest = known[0]?.length ?? 0
  const all = new RegExp([...known.map(escaped), ANY_FORM].join('|'), 'g')
  const mayHoldKnown = literalFinder(known)
  const mayHold = (given: string): boolean => HAS_FORM.test(given) || mayHoldKnown(given)
  const nameOf = (found: string): string =>
    names.get(found) ?? NAMED_FORMS.find(({ form }) => form.test(found))?.name ?? 'key'

  const text = (given: string): string =>
    mayHold(given) ? given.replace(all, (found) => `[redacted:${nameOf(found)}]`) : given

  const walk = (value: Json): Json => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(walk)
    if (!isJsonRecord(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [text(key), walk(member)]))
  }
  // Escaped JSON text holds every secret of its strings in one of the known spellings, so one search over the text is enough.
  const json = (written: string): string =>
    mayHold(written) ? JSON.stringify(walk(JSON.parse(written) as Json)) : written
  const value = (given: Json, written?: string): Json => {
    if (typeof given === 'string') return text(given)
    if (typeof given !== 'object' || given === null) return given
    return mayHold(written ?? JSON.stringify(given)) ? walk(given) : given
  }

  // Indexed by first character: most characters of a text begin no secret.
  const starts = new Map<string, string[]>()
  for (const start of [...known, ...KEY_STARTS])
    starts.set(start.charAt(0), [...(starts.get(start.charAt(0)) ?? []), start])
  /** The place of the first secret that may still be incomplete. */
  const unfinishedAt = (held: string): number => {
    const { length } = held
    for (let at = Math.max(0, length - Math.max(longest, LONGEST_START) + 1); at < length; at++) {
      const begun = held.slice(at)
      if (starts.get(held.charAt(at))?.some((start) => start.length > begun.length && start.startsWith(begun)))
        return at
    }
    return length
  }
  /** redaction-3: the emitted part ends before anything that may still grow, and never inside a match. */
  const cutOf = (held: string): number => {
    let cut = Math.min(unfinishedAt(held), ...[WITHIN_KEY, WITHIN_PRIVATE_KEY].map((form) => indexOf(form, held)))
    for (const { index, 0: found } of held.matchAll(all)) {
      if (index >= cut) break
      if (index + found.length > cut) cut = index
    }
    return Math.max(cut, held.length - MAX_HELD)
  }
  const stream = (): RedactedStream => {
    let held = ''
    const tell = (length: number): string => {
      const told = text(held.slice(0, length))
      held = held.slice(length)
      return told
    }
    return {
      push: (piece) => {
        held += piece
        return tell(cutOf(held))
      },
      end: () => tell(held.length),
    }
  }
  return { text, value, json, stream }
}

const indexOf = (form: RegExp, text: string): number => form.exec(text)?.index ?? text.length
