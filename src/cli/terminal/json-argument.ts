/** A JSON argument: in the argument itself, in a file (`@file`), or on stdin (`-`). */
import { readFileSync } from 'node:fs'
import { TrihandError } from '#model/kernel/errors.ts'

const STDIN = 0

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const readText = (given: string): string => {
  if (given !== '-' && !given.startsWith('@')) return given
  const name = given === '-' ? 'stdin' : given.slice(1)
  try {
    return readFileSync(given === '-' ? STDIN : name, 'utf8')
  } catch (error) {
    throw new TrihandError('CONFIG_INVALID', `cannot read ${name}: ${messageOf(error)}`, { cause: error })
  }
}

/** A hint for arguments, because a shell removes the quotes that JSON needs. */
const wayOut = (given: string): string =>
  given === '-' || given.startsWith('@')
    ? ''
    : `; in a shell, put it in single quotes, '{"id": 1}', or in a file, @data.json`

export const parseJson = (given: string, what: string): unknown => {
  const text = readText(given)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new TrihandError('NOT_JSON', `${what} is not JSON: ${messageOf(error)}${wayOut(given)}`, { cause: error })
  }
}
