/** Finds every expression in a value of the manifest, by its shape. */
import type { Path } from '#manifest/yaml/finding.ts'
import { isRecord } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Shape } from './shape.ts'

type Change = (text: string, path: Path) => string

/** Returns the value with every expression changed. */
export const mapRules = (shape: Shape, value: Json, path: Path, change: Change): Json => {
  switch (shape.is) {
    case 'rule':
      return typeof value === 'string' ? change(value, path) : value
    case 'record':
      if (!isRecord(value)) return value
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => {
          const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined
          return [key, field === undefined ? item : mapRules(field, item, [...path, key], change)]
        }),
      )
    case 'list':
      if (!Array.isArray(value)) return value
      return value.map((item, i) => {
        const name = isRecord(item) ? (item['name'] ?? item['id']) : undefined
        return mapRules(shape.of, item, [...path, typeof name === 'string' ? name : i], change)
      })
    case 'map':
      if (!isRecord(value)) return value
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, mapRules(shape.of, item, [...path, key], change)]),
      )
    case 'either': {
      const inner = shape.of.find(({ is }) => {
        if (typeof value === 'string') return is === 'rule'
        return Array.isArray(value) ? is === 'list' : isRecord(value) && (is === 'record' || is === 'map')
      })
      return inner === undefined ? value : mapRules(inner, value, path, change)
    }
    default:
      return value
  }
}
