/**
 * The shape of a part of the manifest, as data: one walk respells keys, one checks, and the reader sees all of it in a table.
 *
 * Owns the vocabulary of that description. The shape of each section is sections.ts, the walks are respell.ts and check.ts.
 */

export type Shape =
  | { readonly is: 'text'; readonly what?: string }
  | { readonly is: 'any' | 'flag' | 'number' | 'whole' | 'duration' | 'rule' | 'event' | 'name' | 'file' }
  | { readonly is: 'word'; readonly words: readonly string[] }
  | { readonly is: 'list'; readonly of: Shape }
  /** The keys are names that the author chooses. */
  | { readonly is: 'map'; readonly of: Shape }
  | RecordShape
  /** The first shape with the right outer form applies. */
  | { readonly is: 'either'; readonly of: readonly Shape[] }

export interface RecordShape {
  readonly is: 'record'
  readonly fields: Fields
  readonly required: readonly string[]
}

export type Fields = Readonly<Record<string, Shape>>

export const any: Shape = { is: 'any' }
/** A text; a number or a flag is taken as it was written. */
export const text: Shape = { is: 'text' }
/** A text that is parsed further; `what` says what it contains. */
export const textOf = (what: string): Shape => ({ is: 'text', what })
export const flag: Shape = { is: 'flag' }
export const number: Shape = { is: 'number' }
export const whole: Shape = { is: 'whole' }
export const duration: Shape = { is: 'duration' }
/** An expression in CEL. */
export const rule: Shape = { is: 'rule' }
export const event: Shape = { is: 'event' }
export const name: Shape = { is: 'name' }
/** A path below the folder of the manifest. */
export const file: Shape = { is: 'file' }

export const word = (...words: readonly string[]): Shape => ({ is: 'word', words })
export const list = (of: Shape): Shape => ({ is: 'list', of })
export const map = (of: Shape): Shape => ({ is: 'map', of })
export const either = (...of: readonly Shape[]): Shape => ({ is: 'either', of })
export const oneOrMore = (of: Shape): Shape => either(list(of), of)

/** A field whose name ends with `!` is required. */
export const record = (fields: Fields): RecordShape => ({
  is: 'record',
  fields: Object.fromEntries(Object.entries(fields).map(([key, shape]) => [key.replace(/!$/, ''), shape])),
  required: Object.keys(fields)
    .filter((key) => key.endsWith('!'))
    .map((key) => key.slice(0, -1)),
})

const ANNOTATIONS: ReadonlySet<string> = new Set(['description', 'notes', 'context', 'open_questions'])

/** Accepted anywhere, and meant for people. */
export const isAnnotation = (key: string): boolean => ANNOTATIONS.has(key) || key.startsWith('x-')
