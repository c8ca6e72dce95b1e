/**
 * What an error of the driver or the server means to a caller: a code, and whether the work is known not to have happened.
 *
 * Owns the table. A server that answers a statement with an error has rolled it back; a connection that breaks while a statement
 * is on its way leaves everybody uncertain. The decision goes by SQLSTATE, because the severity is written in the server's language.
 */
import pg from 'pg'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'

/** What no door should let pass is still told in words that the caller can act on: a NUL in a text, an index entry that is too large. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  '22021': 'INPUT_INVALID',
  '54000': 'PAYLOAD_TOO_LARGE',
  '25006': 'LEDGER_NOT_DURABLE',
  '28000': 'CONFIG_INVALID',
  '28P01': 'CONFIG_INVALID',
  '3D000': 'CONFIG_INVALID',
  '3F000': 'CONFIG_INVALID',
  '42501': 'CONFIG_INVALID',
  '53100': 'STORAGE_FULL',
  XX001: 'LEDGER_CORRUPT',
  XX002: 'LEDGER_CORRUPT',
}

/** Connection, rollback, resources, locks, operator, system: all of them pass. */
const PASSING_CLASSES: ReadonlySet<string> = new Set(['08', '40', '53', '55', '57', '58'])

/** The server itself broke off: its last word need not be about our statement. */
const OUTCOME_UNKNOWN = /^(08|57P|58|XX)/

const ALREADY_THERE: ReadonlySet<string> = new Set(['23505', '42P06', '42P07', '42710'])

const sqlState = (error: unknown): string | null => {
  const found = error instanceof TrihandError ? error.cause : error
  return found instanceof pg.DatabaseError ? (found.code ?? null) : null
}

const codeOf = (state: string | null): ErrorCode => {
  if (state === null || PASSING_CLASSES.has(state.slice(0, 2))) return CODES[state ?? ''] ?? 'LEDGER_UNAVAILABLE'
  return CODES[state] ?? 'INTERNAL'
}

/** A refused connection to a name with two addresses is an AggregateError without a message of its own. */
const describe = (error: unknown): string => {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** `sent`: whether the statement may have reached the server. */
export const translate = (error: unknown, sent: boolean): TrihandError => {
  if (error instanceof TrihandError) return error
  const state = sqlState(error)
  const isOutcomeUnknown = sent && (state === null || OUTCOME_UNKNOWN.test(state))
  const detail = `Postgres: ${describe(error)}${state === null ? '' : ` (${state})`}`
  return new TrihandError(codeOf(state), detail, { cause: error, outcome: isOutcomeUnknown ? 'unknown' : 'not_done' })
}

/** Rolled back because of what one append of the batch holds, or because two batches crossed: each append alone may succeed. */
export const isWorthSplitting = (error: unknown): boolean => /^(21|22|23|40)/.test(sqlState(error) ?? '')

/** Somebody else made the same row or object a moment earlier. */
export const isAlreadyThere = (error: unknown): boolean => ALREADY_THERE.has(sqlState(error) ?? '')

export const isMissingTable = (error: unknown): boolean => sqlState(error) === '42P01'
