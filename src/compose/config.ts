/**
 * Which ledger and which dispatcher a configuration means. Parsed by hand, because a URL parser takes C:\x.db for a scheme.
 *
 * Owns the spelling of DATABASE_URL and TRIHAND_DISPATCHER. Never opens anything.
 */
import { TrihandError } from '#model/kernel/errors.ts'

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
        `${scheme}: is not a supported ledger; give a file path, file:, postgres: or memory:`,
      )
  }
}

/** The dispatcher that wakes runs, its address and its settings. */
export type DispatcherChoice =
  | { readonly kind: 'restate'; readonly ingress: string; readonly admin?: string; readonly token?: string }
  | { readonly kind: 'inngest'; readonly signingKey: string; readonly url?: string; readonly eventKey?: string }

type Variables = Readonly<Record<string, string | undefined>>

const NAME = 'TRIHAND_DISPATCHER'

const misconfigured = (problem: string): TrihandError => new TrihandError('CONFIG_INVALID', problem)

/** Null: the store's own dispatcher. */
export const dispatcherChoice = (variables: Variables): DispatcherChoice | null => {
  const given = (suffix: string): string | undefined => variables[`${NAME}${suffix}`] || undefined
  const [kind, url, admin] = [given(''), given('_URL'), given('_ADMIN_URL')]
  const [key, eventKey] = [given('_KEY'), given('_EVENT_KEY')]
  for (const text of [url, admin])
    if (text !== undefined && !/^https?:\/\/[^/]/.test(text))
      throw misconfigured(`"${text}" is not an http:// or https:// address`)
  switch (kind) {
    case undefined:
      return null
    case 'restate':
      if (url === undefined) throw misconfigured(`restate needs ${NAME}_URL, such as http://127.0.0.1:8080`)
      return { kind, ingress: url, ...(admin !== undefined && { admin }), ...(key !== undefined && { token: key }) }
    case 'inngest':
      if (key === undefined) throw misconfigured(`inngest needs ${NAME}_KEY, the signing key`)
      return { kind, signingKey: key, ...(url !== undefined && { url }), ...(eventKey !== undefined && { eventKey }) }
    default:
      throw misconfigured(`"${kind}" is neither restate nor inngest`)
  }
}
