/** Every key of the manifest's schema by its path, without the records and lists around it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import type { Shape } from '#manifest/yaml/check/shape.ts'
import { HUMAN_KEYS } from '#manifest/yaml/human-source.ts'
import { AGENT_KEYS, FUNCTION_KEYS, PLAN_KEYS } from '#manifest/yaml/source.ts'
import { PROJECT } from '#test/support/places.ts'
import { HANDLER_PAIRS, TRIGGER_PAIRS } from './key-pairs.ts'
import { SECTION_PAIRS, WHOLE_PAIRS } from './key-pairs-whole.ts'
import { NO_EFFECT, PROOFS, READ_BY, REFUSED } from './key-proofs.ts'

const keysOf = (shape: Shape, path: readonly string[]): readonly string[] => {
  switch (shape.is) {
    case 'record':
      return Object.entries(shape.fields).flatMap(([key, one]) => keysOf(one, [...path, key]))
    case 'list':
      return keysOf(shape.of, path)
    case 'map':
      return shape.of.is === 'record' ? keysOf(shape.of, [...path, '*']) : [path.join('.')]
    case 'either':
      return shape.of.flatMap((one) => keysOf(one, path))
    default:
      return [path.join('.')]
  }
}

export const manifestKeys = (): readonly string[] => [...new Set(keysOf(MANIFEST, []))]

export const playedKeys = (): ReadonlySet<string> =>
  new Set(
    [...HANDLER_PAIRS, ...TRIGGER_PAIRS, ...WHOLE_PAIRS, ...SECTION_PAIRS].flatMap(({ section, keys }) =>
      keys.split(' ').map((key) => (section === '' ? key : `${section}.${key}`)),
    ),
  )

const texts = new Map<string, string>()

const textOf = (file: string): string => {
  const known = texts.get(file)
  if (known !== undefined) return known
  const text = readFileSync(join(PROJECT, file), 'utf8')
  texts.set(file, text)
  return text
}

/** The test that names the key, or null. */
const proofOf = (key: string): string | null => {
  const snake = key.split('.').at(-1) ?? key
  const camel = snake.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const named = new RegExp(`\\b(${snake === '*' ? '\\w+' : `${snake}|${camel}`})\\b`)
  const files = PROOFS.find(([path]) => path.test(key))?.[1] ?? []
  return files.find((file) => named.test(textOf(file))) ?? null
}

const camelOf = (key: string): string =>
  (key.split('.').at(-1) ?? key).replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const isReadByCode = (key: string): boolean => {
  const file = READ_BY.find(([path]) => path.test(key))?.[1]
  return file !== undefined && new RegExp(`\\b(${camelOf(key)}|${key.split('.').at(-1)})\\b`).test(textOf(file))
}

const HANDS: Readonly<Record<string, ReadonlySet<string>>> = {
  functions: FUNCTION_KEYS,
  agents: AGENT_KEYS,
  humans: HUMAN_KEYS,
  plans: PLAN_KEYS,
}

/** True if the loader reports LINT_NOT_USED with its place for this kind of handler. */
const isTold = (key: string): boolean => {
  const [section = '', first = ''] = key.split('.')
  const read = HANDS[section]
  return read !== undefined && !read.has(first) && first !== 'enabled' && key !== 'functions.mode'
}

export type KeyClass = 'played' | 'refused' | 'told' | 'tested' | 'read' | 'no effect' | 'nowhere'

/** How a key is covered; `nowhere`: not at all. */
export const classOf = (key: string, played: ReadonlySet<string>): KeyClass => {
  if (played.has(key)) return 'played'
  if (REFUSED.some((path) => path.test(key))) return 'refused'
  if (isTold(key)) return 'told'
  if (NO_EFFECT.some(([path]) => path.test(key))) return 'no effect'
  if (proofOf(key) !== null) return 'tested'
  return isReadByCode(key) ? 'read' : 'nowhere'
}
