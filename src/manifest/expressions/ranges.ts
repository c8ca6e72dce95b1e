/**
 * Checks numbers, durations, sizes, keywords and rules of a definition against their ranges.
 *
 * Owns the wording of those refusals: the path, what was found, what was expected.
 */
import { durationMs } from '#manifest/time/duration.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Rule } from '#model/kernel/rule.ts'
import { compileRule } from './rules.ts'

export type Duration = string | number

interface Range {
  readonly min: number
  readonly max: number
}

export const invalidAt = (path: string, problem: string): TrihandError =>
  new TrihandError('MANIFEST_INVALID', `${path}: ${problem}`, { place: { path } })

const shown = (value: unknown): string => JSON.stringify(value) ?? String(value)

export const wholeNumber = (path: string, value: number, { min, max }: Range): number => {
  if (!Number.isInteger(value) || value < min || value > max)
    throw invalidAt(path, `${shown(value)} is not a whole number from ${min} to ${max}`)
  return value
}

/** Rethrows the same error with the path of the value. */
export const withPath = <Value>(path: string, work: () => Value): Value => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof TrihandError)) throw error
    throw new TrihandError(error.code, `${path}: ${error.detail}`, { place: { ...error.place, path }, cause: error })
  }
}

/** The bounds are written as people write durations. */
export const durationWithin = (
  path: string,
  value: Duration,
  { min, max }: { readonly min: string; readonly max: string },
): number => {
  const ms = withPath(path, () => durationMs(value))
  if (ms < durationMs(min) || ms > durationMs(max))
    throw invalidAt(path, `${shown(value)} is not between ${min} and ${max}`)
  return ms
}

const SIZE = /^(\d+)(B|KiB|MiB)$/
const SIZE_UNIT: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 * 1024 }

/** Parses `10MiB 512KiB 100B`, or a number of bytes. */
export const bytesWithin = (path: string, value: string | number, range: Range): number => {
  if (typeof value === 'number') return wholeNumber(path, value, range)
  const [, count, unit] = SIZE.exec(value) ?? []
  if (count === undefined || unit === undefined)
    throw invalidAt(path, `${shown(value)} is not a size; write one like 512KiB or 10MiB`)
  return wholeNumber(path, Number(count) * (SIZE_UNIT[unit] ?? 1), range)
}

export const oneOf = <Word extends string>(path: string, value: Word, words: readonly Word[]): Word => {
  if (!words.includes(value)) throw invalidAt(path, `${shown(value)} is not one of ${words.join(', ')}`)
  return value
}

export const ruleAt = (path: string, text: string): Rule => {
  if (typeof text !== 'string') throw invalidAt(path, `${shown(text)} is not an expression`)
  return withPath(path, () => compileRule(text))
}
