/**
 * Converts expressions as people write them to CEL: words for operators, payload fields without their root, `{expr: …}` and `{{ … }}`.
 *
 * Owns the spelling only. What CEL allows is rules.ts.
 */
import { isRecord } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

/** Strings, names with what follows, and everything else. */
const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_]\w*|./gs
const WORDS: Readonly<Record<string, string>> = { and: '&&', or: '||', not: '!' }

/** All roots of expressions. */
export const ROOTS = [
  'event',
  'payload',
  'trigger',
  'output',
  'result',
  'agent',
  'error',
  'run',
  'session',
  'steps',
  'step',
  'subtask',
  'inputs',
  'bundle',
  'task',
  'item',
  'tenant',
] as const

const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in'])
const KNOWN: ReadonlySet<string> = new Set([...ROOTS, ...LITERALS])

interface Token {
  readonly text: string
  /** A name that is a value: not a member after a dot, not a function that is called. */
  readonly isName: boolean
}

const tokensOf = (text: string): readonly Token[] => {
  const tokens = text.match(TOKEN) ?? []
  const solid = tokens.map((token) => token.trim() !== '')
  const neighbour = (from: number, step: number): string => {
    let at = from + step
    while (at >= 0 && at < tokens.length && !solid[at]) at += step
    return tokens[at] ?? ''
  }
  return tokens.map((token, i) => ({
    text: token,
    isName:
      /^[A-Za-z_]/.test(token) && neighbour(i, -1) !== '.' && (neighbour(i, 1) !== '(' || Object.hasOwn(WORDS, token)),
  }))
}

/** The roots that an expression uses. */
export const rootNames = (text: string): readonly string[] => {
  const names = tokensOf(text).filter(({ isName }) => isName)
  return ROOTS.filter((root) => names.some(({ text: name }) => name === root))
}

/** Every name that an expression refers to. */
export const namesIn = (text: string): readonly string[] =>
  tokensOf(text).flatMap(({ text: name, isName }) => (isName && !LITERALS.has(name) ? [name] : []))

/** `owners`: the root to which a bare name belongs, e.g. payload for each of its fields. */
export const celText = (text: string, owners: ReadonlyMap<string, string> = new Map()): string =>
  tokensOf(text)
    .map(({ text: token, isName }) => {
      if (!isName) return token
      const word = Object.hasOwn(WORDS, token) ? WORDS[token] : undefined
      const owner = KNOWN.has(token) ? undefined : owners.get(token)
      return word ?? (owner === undefined ? token : `${owner}.${token}`)
    })
    .join('')

/** `{expr: "…"}` where an expression is expected anyway, and a text that is a single `{{ … }}`. */
export const expressionText = (value: Json): Json => {
  if (isRecord(value) && typeof value['expr'] === 'string' && Object.keys(value).length === 1) return value['expr']
  if (typeof value !== 'string') return value
  const [, inner] = /^\s*\{\{([^{}]*)\}\}\s*$/.exec(value) ?? []
  return inner === undefined ? value : inner.trim()
}
