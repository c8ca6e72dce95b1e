/** Converts data of the manifest to the spelling of the author API: known keys in camelCase, names that authors choose unchanged. */
import type { Shape } from '#manifest/yaml/check/shape.ts'
import { isRecord } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

const camelCase = (key: string): string => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

export const authorForm = (shape: Shape, value: Json): Json => {
  switch (shape.is) {
    case 'record':
      if (!isRecord(value)) return value
      return Object.fromEntries(
        Object.entries(value).flatMap(([key, item]): [string, Json][] => {
          const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined
          // Notes for people are not part of a definition.
          return field === undefined ? [] : [[camelCase(key), authorForm(field, item)]]
        }),
      )
    case 'list':
      return Array.isArray(value) ? value.map((item) => authorForm(shape.of, item)) : value
    case 'map':
      if (!isRecord(value)) return value
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, authorForm(shape.of, item)]))
    case 'either': {
      const inner = shape.of.find(({ is }) => (Array.isArray(value) ? is === 'list' : is === 'record' || is === 'map'))
      return inner === undefined ? value : authorForm(inner, value)
    }
    default:
      return value
  }
}
