/**
 * Parses the text of a manifest: returns plain data and the place of everything in it, or the mistakes in the text.
 *
 * Owns the exact configuration of YAML and its limits: size, depth, aliases, no tags, one document, finite numbers. Knows no section.
 */
import {
  Composer,
  type Document,
  isScalar,
  Lexer,
  LineCounter,
  Parser,
  visit,
  type YAMLParseError,
  type YAMLWarning,
} from 'yaml'
import type { Path, Remark } from '#manifest/yaml/finding.ts'
import type { Json } from '#model/kernel/json.ts'
import { tooDeepAt } from './depth.ts'
import { Places, type Position } from './places.ts'

const MAX_BYTES = 256 * 1024
const MAX_ALIASES = 50
const MAX_TOLD = 20
const OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: false,
  // The package compares each key with all before it; `repeatedKeys` uses a set.
  uniqueKeys: false,
  stringKeys: true,
  resolveKnownTags: false,
  logLevel: 'error',
} as const
const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const QUOTE_IT = 'A text that begins with * is an alias in YAML: quote it, like "*/30 * * * *".'

/** A remark on the text itself already has its position. */
export type TextRemark = Omit<Remark, 'path'> & { readonly position: Position }

export type Parsed =
  | { readonly kind: 'parsed'; readonly value: Json; readonly places: Places }
  | { readonly kind: 'refused'; readonly remarks: readonly TextRemark[] }

const START: Position = { line: 1, column: 1 }

const refused = (...remarks: readonly TextRemark[]): Parsed => ({ kind: 'refused', remarks })

const invalid = (message: string, position: Position, hint?: string): TextRemark => ({
  level: 'error',
  code: 'MANIFEST_INVALID',
  message,
  position,
  ...(hint === undefined ? {} : { hint }),
})

/** Lexed once: the lexemes are counted, then parsed. */
const compose = (lexemes: readonly string[], length: number, lines: LineCounter): readonly Document.Parsed[] => {
  const parser = new Parser(lines.addNewLine)
  const tokens = function* () {
    lines.addNewLine(0)
    for (const lexeme of lexemes) yield* parser.next(lexeme)
    yield* parser.end()
  }
  return [...new Composer(OPTIONS).compose(tokens(), true, length)] as readonly Document.Parsed[]
}

const firstLine = (text: string): string => text.split('\n')[0] ?? ''

const positionAt = (lines: LineCounter, offset: number): Position => {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

const textRemark = (error: YAMLParseError | YAMLWarning, text: string, lines: LineCounter): TextRemark => {
  const position = positionAt(lines, error.pos[0])
  const message = firstLine(error.message)
  const line = text.split('\n')[position.line - 1] ?? ''
  return /alias/i.test(message) && line.includes('*')
    ? invalid(message, position, QUOTE_IT)
    : invalid(message, position)
}

/** In time linear in the length of the text. */
const repeatedKeys = (tree: Document.Parsed, lines: LineCounter): readonly TextRemark[] => {
  const found: TextRemark[] = []
  visit(tree, {
    Map: (_, { items }) => {
      const known = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (known.has(key.value) && found.length < MAX_TOLD) {
          const position = positionAt(lines, key.range?.[0] ?? 0)
          const message = 'the key is repeated here'
          found.push({ level: 'error', code: 'MANIFEST_DUPLICATE_KEY', message, position })
        }
        known.add(key.value)
      }
    },
  })
  return found
}

/** Values that JSON cannot hold, or that would be changed by the conversion. */
const strangeness = (value: unknown, path: Path): { readonly path: Path; readonly problem: string } | null => {
  if (typeof value === 'number' && !Number.isFinite(value)) return { path, problem: `${value} is not a finite number` }
  if (value === null || typeof value !== 'object') return null
  for (const [key, item] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(key) : key]
    if (FORBIDDEN.has(key)) return { path: at, problem: `the key ${key} is not allowed` }
    const found = strangeness(item, at)
    if (found !== null) return found
  }
  return null
}

const plainValue = (tree: Document.Parsed, places: Places): Parsed => {
  try {
    const value: unknown = tree.toJS({ maxAliasCount: MAX_ALIASES })
    const strange = strangeness(value, [])
    if (strange === null) return { kind: 'parsed', value: value as Json, places }
    return refused(invalid(strange.problem, places.at(strange.path)))
  } catch (error) {
    const message = firstLine(error instanceof Error ? error.message : String(error))
    return refused(invalid(message, START, /alias/i.test(message) ? QUOTE_IT : undefined))
  }
}

const parse = (lexemes: readonly string[], text: string): Parsed => {
  const lines = new LineCounter()
  const [tree, second] = compose(lexemes, text.length, lines)
  if (tree === undefined) return refused(invalid('the file is empty', START))
  if (second !== undefined) return refused(invalid('a second document begins here', positionAt(lines, second.range[0])))
  const problems = [...tree.errors, ...tree.warnings]
  if (problems.length > 0)
    return refused(...problems.slice(0, MAX_TOLD).map((problem) => textRemark(problem, text, lines)))
  const repeated = repeatedKeys(tree, lines)
  if (repeated.length > 0) return refused(...repeated)
  return plainValue(tree, new Places(tree, lines))
}

export const parseYaml = (text: string): Parsed => {
  const bytes = new TextEncoder().encode(text).length
  if (bytes > MAX_BYTES)
    return refused({
      level: 'error',
      code: 'MANIFEST_TOO_LARGE',
      message: `the file has ${bytes} bytes; at most ${MAX_BYTES} are allowed`,
      position: START,
    })
  const lexemes = [...new Lexer().lex(text)]
  const deep = tooDeepAt(lexemes)
  if (deep !== null) return refused(invalid('the text is nested too deeply', { line: deep, column: 1 }))
  return parse(lexemes, text)
}
