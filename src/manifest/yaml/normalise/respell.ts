/**
 * Brings known keys to one spelling: `rateLimit` and `rate_limit` are one key. Names that authors choose are not changed.
 *
 * Owns the error for both spellings together. Works on short and long forms alike: values without keys are not changed.
 */
import type { Fields, Shape } from '#manifest/yaml/check/shape.ts'
import type { AddFinding, Path } from '#manifest/yaml/finding.ts'
import { snakeCase } from '#manifest/yaml/parse/places.ts'
import { isRecord, type JsonRecord } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

/** Keys of short forms that the long form does not have. */
export const SHORT_KEYS = [
  'trigger',
  'emit',
  'state_machine',
  'crons',
  'subtask',
  'retries',
  'max_retries',
  'wait_for',
  'route_on',
]

const knownKey = (key: string, fields: Fields): string => {
  const snake = snakeCase(key)
  return Object.hasOwn(fields, snake) || SHORT_KEYS.includes(snake) ? snake : key
}

/** `trigger` is an item of `triggers`. */
const shapeOf = (key: string, fields: Fields): Shape | undefined =>
  [key, `${key}s`].filter((name) => Object.hasOwn(fields, name)).map((name) => fields[name])[0]

const respellRecord = (fields: Fields, value: JsonRecord, path: Path, tell: AddFinding): JsonRecord => {
  const result: Record<string, Json> = {}
  for (const [key, item] of Object.entries(value)) {
    const known = knownKey(key, fields)
    if (Object.hasOwn(result, known)) {
      const message = `${known} and ${key} are two spellings of the same key`
      tell({ level: 'error', code: 'MANIFEST_DUPLICATE_KEY', message, path: [...path, key], on: 'key' })
      continue
    }
    const shape = shapeOf(known, fields)
    result[known] = shape === undefined ? item : respell(shape, item, [...path, key], tell)
  }
  return result
}

const each = (of: Shape, value: JsonRecord, path: Path, tell: AddFinding): JsonRecord =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [key, respell(of, item, [...path, key], tell)]))

export const respell = (shape: Shape, value: Json, path: Path, tell: AddFinding): Json => {
  switch (shape.is) {
    case 'record':
      return isRecord(value) ? respellRecord(shape.fields, value, path, tell) : value
    case 'list':
      if (Array.isArray(value)) return value.map((item, i) => respell(shape.of, item, [...path, i], tell))
      // A single item in place of a list of one, or a list that was written as a map.
      if (!isRecord(value)) return value
      return shape.of.is === 'record' && !Object.values(value).every((item) => item === null || isRecord(item))
        ? respell(shape.of, value, path, tell)
        : each(shape.of, value, path, tell)
    case 'map':
      return isRecord(value) ? each(shape.of, value, path, tell) : value
    case 'either': {
      const inner = shape.of.find(({ is }) => (Array.isArray(value) ? is === 'list' : is === 'record' || is === 'map'))
      return inner === undefined ? value : respell(inner, value, path, tell)
    }
    default:
      return value
  }
}
