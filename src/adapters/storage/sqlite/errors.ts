/**
 * Translates an error of SQLite into a code, and into whether the work is known not to have happened.
 *
 * Owns the translation by `errcode`, which both drivers set. Never decides what happens next (connection.ts).
 */
import { TrihandError } from '#model/kernel/errors.ts'

const NO_PERMISSION = 3
const BUSY = 5
const LOCKED = 6
const READ_ONLY = 8
const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13
const CANNOT_OPEN = 14
const NOT_A_DATABASE = 26
const PRIMARY_KEY_EXISTS = 1555
const UNIQUE_KEY_EXISTS = 2067
const PRIMARY_CODE = 0xff

/** Errors of an opening where no file can be written. */
const UNUSABLE: ReadonlySet<number | null> = new Set([NO_PERMISSION, READ_ONLY, CANNOT_OPEN])

const codeOf = (error: unknown): number | null => {
  if (!(error instanceof Error) || !('errcode' in error)) return null
  return typeof error.errcode === 'number' ? error.errcode : null
}

const primaryCode = (error: unknown): number | null => {
  const code = codeOf(error)
  return code === null ? null : code & PRIMARY_CODE
}

export const isBusy = (error: unknown): boolean => primaryCode(error) === BUSY
export const isIoError = (error: unknown): boolean => primaryCode(error) === IO_ERROR

export const isKeyClash = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === PRIMARY_KEY_EXISTS || code === UNIQUE_KEY_EXISTS
}

/** The driver's error as ours. An error that is not SQLite's is a bug, for example a value that cannot be bound. */
export const translate = (error: unknown): TrihandError => {
  if (error instanceof TrihandError) return error
  const detail = error instanceof Error ? error.message : String(error)
  switch (primaryCode(error)) {
    case FULL:
      return new TrihandError('STORAGE_FULL', detail, { cause: error })
    case CORRUPT:
    case NOT_A_DATABASE:
      return new TrihandError('LEDGER_CORRUPT', detail, { cause: error })
    case IO_ERROR:
      // A commit whose fsync failed is invisible now, and may reappear after a crash.
      return new TrihandError('LEDGER_UNAVAILABLE', detail, { cause: error, outcome: 'unknown' })
    case BUSY:
    case LOCKED:
    case NO_PERMISSION:
    case READ_ONLY:
    case CANNOT_OPEN:
      return new TrihandError('LEDGER_UNAVAILABLE', detail, { cause: error })
    default:
      return new TrihandError('INTERNAL', detail, { cause: error })
  }
}

/** Translates an error of the opening: there a file that cannot be written is a mistake in the configuration. */
export const translateOpening = (error: unknown, file: string): TrihandError => {
  const translated = translate(error)
  if (!UNUSABLE.has(primaryCode(error))) return translated
  return new TrihandError('CONFIG_INVALID', `${file} cannot be opened for writing: ${translated.detail}`, {
    cause: error,
  })
}
