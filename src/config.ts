/**
 * Which ledger a configuration means. Parsed once, by hand: a URL parser takes C:\x.db for a scheme.
 *
 * Owns the spelling of DATABASE_URL. Never opens anything.
 */
import { TrihandError } from './model/errors.ts'

export type LedgerChoice =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'memory' }

const DEFAULT_LEDGER_FILE = '.trihand/trihand.db'

const SCHEME = /^([a-z][a-z0-9+.-]+):/i

export const ledgerChoice = (database: string | undefined): LedgerChoice => {
  if (database === undefined || database === '') return { kind: 'sqlite', file: DEFAULT_LEDGER_FILE }
  const scheme = SCHEME.exec(database)?.[1]?.toLowerCase()
  switch (scheme) {
    case undefined:
      return { kind: 'sqlite', file: database }
    case 'file':
      return { kind: 'sqlite', file: database.slice('file:'.length).replace(/^\/\/(?=\/)/, '') }
    case 'postgres':
    case 'postgresql':
      return { kind: 'postgres', url: database }
    case 'memory':
      return { kind: 'memory' }
    default:
      throw new TrihandError(
        'CONFIG_INVALID',
        `${scheme}: is not a ledger; give a file path, file:, postgres: or memory:`,
      )
  }
}
