/**
 * Translates an error of the driver or the server into a code, and into whether the work is known not to have happened.
 *
 * Owns the table. A server that answers a statement with an error has rolled it back; a connection that breaks while a statement is in
 * flight leaves the outcome unknown. The decision goes by SQLSTATE, because the severity is in the server's language.
 */
import pg from 'pg'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'

/** Inputs that should be rejected earlier still get a code that the caller can act on: a NUL in a text, an index entry that is too large. */
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

/** Classes of transient errors: connection, rollback, resources, locks, operator, system. */
const PASSING_CLASSES: ReadonlySet<string> = new Set(['08', '40', '53', '55', '57', '58'])

/** The server itself failed: its last message may not be about our statement. */
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

/** A refused connection to a host with two addresses is an AggregateError without a message of its own. */
const describe = (error: unknown): string => {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** `sent`: true if the statement may have reached the server. */
export const translate = (error: unknown, sent: boolean): TrihandError => {
  if (error instanceof TrihandError) return error
  const state = sqlState(error)
  const isOutcomeUnknown = sent && (state === null || OUTCOME_UNKNOWN.test(state))
  const detail = `Postgres: ${describe(error)}${state === null ? '' : ` (${state})`}`
  return new TrihandError(codeOf(state), detail, { cause: error, outcome: isOutcomeUnknown ? 'unknown' : 'not_done' })
}

/** True if the batch was rolled back because of one of its appends, or because two batches deadlocked: each append alone may succeed. */
export const isWorthSplitting = (error: unknown): boolean => /^(21|22|23|40)/.test(sqlState(error) ?? '')

/** True if another process made the same row or object a moment earlier. */
export const isAlreadyThere = (error: unknown): boolean => ALREADY_THERE.has(sqlState(error) ?? '')

export const isMissingTable = (error: unknown): boolean => sqlState(error) === '42P01'
