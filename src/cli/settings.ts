/**
 * What the environment says, read once: which ledger, which port, which server, which folder.
 *
 * Owns the names of the variables. All that is wrong is told together. Flags are the verbs' own and win over this.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ledgerChoice } from '../config.ts'
import { TrihandError } from '../model/errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Settings {
  /** A path or a url; undefined = the file in the data folder. */
  readonly database: string | undefined
  readonly port: number | null
  readonly server: string | undefined
  readonly dataFolder: string
  /** Worth saying, not worth stopping for. */
  readonly warnings: readonly string[]
}

/** Read here, read elsewhere, or kept for what is still to come. */
const KNOWN: ReadonlySet<string> = new Set(
  (
    'URL DATA TOKEN PUBLIC_URL MANIFEST DISPATCHER POOL LABELS SLOTS DRAIN RETENTION SIGNING_KEY LEDGER_KEY MODELS LOG ' +
    'LOG_FORMAT TRACE_CONTENT METRICS_TOKEN MAIL_FROM SLACK_WEBHOOK TEST_PG_URL REQUIRE REPORT'
  )
    .split(' ')
    .map((name) => `TRIHAND_${name}`),
)

const MAX_PORT = 65_535

const given = (env: Environment, name: string): string | undefined => (env[name] === '' ? undefined : env[name])

export const parsePort = (text: string): number | null => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port <= MAX_PORT ? port : null
}

export const isServerUrl = (text: string): boolean => /^https?:\/\/[^/]/.test(text) && URL.canParse(text)

const messageOf = (error: unknown): string => (error instanceof TrihandError ? error.detail : String(error))

const problemWithDatabase = (database: string | undefined): string | null => {
  try {
    ledgerChoice(database)
    return null
  } catch (error) {
    return `DATABASE_URL: ${messageOf(error)}`
  }
}

export const readSettings = (env: Environment): Settings => {
  const [database, port, server] = ['DATABASE_URL', 'PORT', 'TRIHAND_URL'].map((name) => given(env, name))
  const problems = [
    problemWithDatabase(database),
    port !== undefined && parsePort(port) === null ? `PORT is "${port}"; expected 0 to ${MAX_PORT}` : null,
    server !== undefined && !isServerUrl(server) ? `TRIHAND_URL is "${server}"; expected http://host:port` : null,
  ].filter((problem) => problem !== null)
  if (problems.length > 0) throw new TrihandError('CONFIG_INVALID', problems.join('; '))
  return {
    database,
    port: port === undefined ? null : parsePort(port),
    server,
    dataFolder: given(env, 'TRIHAND_DATA') ?? '.trihand',
    warnings: Object.keys(env)
      .filter((name) => name.startsWith('TRIHAND_') && !KNOWN.has(name))
      .map((name) => `${name} is not a setting that trihand knows`),
  }
}

/** `.env` beside the system: never overrides what is set already. */
export const loadEnvFile = (folder: string): void => {
  const file = join(folder, '.env')
  if (existsSync(file)) process.loadEnvFile(file)
}

export const defaultLedger = (settings: Settings): string =>
  settings.database ?? join(settings.dataFolder, 'trihand.db')
