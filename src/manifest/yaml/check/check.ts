/**
 * Checks a manifest in its long form against the table of sections: mistakes are reported with their path, unknown keys are put aside.
 *
 * Owns the wording. Returns the value without unknown keys, which go to `extra` by their path; never drops one. A refused value is
 * left out if its outer form is wrong, so that later checks can look at all the rest.
 */
import { durationMs } from '#manifest/time/duration.ts'
import { type Path, pathText, type Remark } from '#manifest/yaml/finding.ts'
import { SHORT_KEYS } from '#manifest/yaml/normalise/respell.ts'
import { celText, expressionText } from '#manifest/yaml/parse/expression.ts'
import { defined, isRecord, type JsonRecord } from '#manifest/yaml/record.ts'
import { isEventType } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { nearest } from '#model/kernel/nearest.ts'
import { isAnnotation, type RecordShape, type Shape } from './shape.ts'

export interface Checked {
  readonly value: Json
  readonly extra: JsonRecord
  readonly remarks: readonly Remark[]
}

export const NAME = /^[a-z][a-z0-9_-]{0,63}$/
const MAX_SHOWN = 60

const shown = (value: Json): string => {
  const text = JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

/** Compares the outer form only, to find which of several shapes is meant. */
const fits = (shape: Shape, value: Json): boolean => {
  switch (shape.is) {
    case 'any':
      return true
    case 'flag':
      return typeof value === 'boolean'
    case 'number':
    case 'whole':
      return typeof value === 'number'
    case 'word':
      return typeof value === 'string' && shape.words.includes(value)
    case 'list':
      return Array.isArray(value)
    case 'map':
    case 'record':
      return isRecord(value)
    case 'either':
      return shape.of.some((each) => fits(each, value))
    default:
      return typeof value === 'string'
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  text: 'a text',
  flag: 'true or false',
  number: 'a number',
  whole: 'a whole number from 0',
  duration: 'a duration like 30s, 5m or 3d',
  rule: 'an expression in quotes',
  event: 'an event type: lower-case words joined by dots, at most 128 characters',
  name: 'a name: a letter, then at most 63 of a-z 0-9 _ -',
  file: 'a path',
  list: 'a list',
  map: 'a map',
  record: 'a map',
}

const expectation = (shape: Shape): string => {
  if (shape.is === 'word') return `one of ${shape.words.join(', ')}`
  if (shape.is === 'either') return shape.of.map(expectation).join(', or ')
  if (shape.is === 'list' && Object.hasOwn(EXPECTED, shape.of.is) && shape.of.is !== 'record')
    return `a list, each ${expectation(shape.of)}`
  if (shape.is === 'text' && shape.what !== undefined) return shape.what
  return EXPECTED[shape.is] ?? 'something else'
}

const isDuration = (value: string): boolean => {
  try {
    durationMs(value)
    return true
  } catch (error) {
    if (error instanceof TrihandError) return false
    throw error
  }
}

const ruleText = (given: Json): Json => {
  const text = expressionText(given)
  return typeof text === 'string' ? celText(text) : text
}

/** Keywords may be spelled like keys: `dropOldest` and `drop-oldest` are `drop_oldest`. */
const wordText = (words: readonly string[], given: Json): Json => {
  if (typeof given !== 'string' || words.includes(given)) return given
  const plain = (text: string): string => text.replace(/[-_]/g, '').toLowerCase()
  return words.find((word) => plain(word) === plain(given)) ?? given
}

/** What a single value must satisfy, beyond its outer form. */
const holds = (shape: Shape, value: Json): boolean => {
  switch (shape.is) {
    case 'whole':
      return Number.isInteger(value) && Number(value) >= 0
    case 'duration':
      return isDuration(String(value))
    case 'event':
      return isEventType(String(value))
    case 'name':
      return NAME.test(String(value))
    default:
      return true
  }
}

/** The key, with the index in its list: `reminders[1]: `. */
const keyOf = (path: Path): string => {
  const at = path.findLastIndex((part) => typeof part === 'string')
  const places = path.slice(at + 1).map((place) => `[${place}]`)
  return at < 0 ? '' : `${path[at]}${places.join('')}: `
}

/** A hint for the most frequent mistakes. Null: the code's own hint is enough. */
const wayOut = (shape: Shape, value: Json): string | null => {
  const shapes = shape.is === 'either' ? shape.of : [shape]
  const [only, ...more] = Array.isArray(value) ? value : []
  if (shapes.some(({ is }) => is === 'duration') && typeof value === 'number') return `Add a unit, like ${value}s.`
  if (only !== undefined && more.length === 0 && shapes.some((one) => fits(one, only as Json)))
    return `Write it without the brackets: ${shown(only as Json)}.`
  if (!Array.isArray(value) && shapes.some((one) => one.is === 'list' && fits(one.of, value)))
    return `Write a list, like [${shown(value)}].`
  if (shapes.some(({ is }) => is === 'flag') && typeof value === 'string') return 'Write true or false, without quotes.'
  if (
    typeof value === 'string' &&
    Number.isFinite(Number(value)) &&
    shapes.some(({ is }) => is === 'number' || is === 'whole')
  )
    return `Write the number without quotes: ${value}.`
  if (isRecord(value) && shapes.some(({ is }) => is === 'text' || is === 'rule'))
    return 'A value that begins with { is a map in YAML: put it in quotes.'
  return null
}

class Check {
  readonly extra: Record<string, Json> = {}
  readonly remarks: Remark[] = []

  /** Undefined: refused, because its form cannot be used. */
  value(shape: Shape, given: Json, path: Path): Json | undefined {
    const value = shape.is === 'rule' ? ruleText(given) : shape.is === 'word' ? wordText(shape.words, given) : given
    if (shape.is === 'either') return this.#either(shape.of, value, path)
    // A text that looks like a number is taken as it was written.
    if (shape.is === 'text' && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
    if (!fits(shape, value) || !holds(shape, value)) {
      this.#refuse(shape, value, path)
      // An invalid name is kept, so that the thing it names is checked too.
      return (shape.is === 'name' || shape.is === 'event') && typeof value === 'string' ? value : undefined
    }
    if (shape.is === 'record') return this.#record(shape, value as JsonRecord, path)
    if (shape.is === 'list') return this.#list(shape.of, value as readonly Json[], path)
    if (shape.is === 'map') return this.#map(shape.of, value as JsonRecord, path)
    return value
  }

  #either(shapes: readonly Shape[], value: Json, path: Path): Json | undefined {
    const meant = shapes.find((shape) => fits(shape, value))
    if (meant !== undefined) return this.value(meant, value, path)
    if (shapes.some(({ is }) => is === 'text') && (typeof value === 'number' || typeof value === 'boolean'))
      return String(value)
    this.#refuse({ is: 'either', of: shapes }, value, path)
    return undefined
  }

  #refuse(shape: Shape, value: Json, path: Path): void {
    const way = wayOut(shape, value)
    const message = `${keyOf(path)}${shown(value)} is not ${expectation(shape)}`
    this.remarks.push({
      level: 'error',
      code: 'MANIFEST_INVALID',
      message,
      path,
      ...(way === null ? {} : { hint: way }),
    })
  }

  #list(of: Shape, items: readonly Json[], path: Path): Json | undefined {
    const sound = items.flatMap((item, i) => {
      const name = isRecord(item) ? (item['name'] ?? item['id']) : undefined
      const checked = this.value(of, item, [...path, typeof name === 'string' ? name : i])
      return checked === undefined ? [] : [checked]
    })
    // All items were refused, so the list counts as absent.
    return sound.length === 0 && items.length > 0 ? undefined : sound
  }

  #map(of: Shape, value: JsonRecord, path: Path): Json {
    return defined(
      Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.value(of, item, [...path, key])])),
    )
  }

  #record(shape: RecordShape, value: JsonRecord, path: Path): Json | undefined {
    const kept: Record<string, Json | undefined> = {}
    for (const [key, item] of Object.entries(value)) {
      const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined
      // A key without a value counts as absent.
      if (field !== undefined && item === null && field.is !== 'any') continue
      if (field !== undefined) kept[key] = this.value(field, item, [...path, key])
      else if (isAnnotation(key)) kept[key] = item
      else this.#unknown(shape, key, item, path)
    }
    for (const key of shape.required)
      if (!Object.hasOwn(kept, key)) {
        const message = `${path.length === 0 ? 'the manifest' : pathText(path)} needs ${key}`
        this.remarks.push({ level: 'error', code: 'MANIFEST_INVALID', message, path })
      }
    const isWhole = shape.required.every((key) => kept[key] !== undefined)
    return isWhole || path.length === 0 ? defined(kept) : undefined
  }

  #unknown(shape: RecordShape, key: string, value: Json, path: Path): void {
    this.extra[pathText([...path, key])] = value
    const near = nearest(key, [...SHORT_KEYS, ...Object.keys(shape.fields)])
    const message = `${key} is unknown here${near === null ? '' : `; did you mean ${near}?`}`
    this.remarks.push({ level: 'warning', code: 'MANIFEST_UNKNOWN_KEY', message, path: [...path, key], on: 'key' })
  }
}

export const check = (shape: Shape, value: Json): Checked => {
  const run = new Check()
  const checked = run.value(shape, value, [])
  return { value: checked ?? {}, extra: run.extra, remarks: run.remarks }
}
