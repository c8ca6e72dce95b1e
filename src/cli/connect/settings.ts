/**
 * Settings from the environment, read once: ledger, port, server, folder and more.
 *
 * The names of the variables are in model/kernel/setting.ts. All invalid values are reported in one error. Flags belong to the commands and
 * take precedence.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isLogLevel, LOG_LEVELS, type LogLevel } from '#cli/terminal/log-level.ts'
import { type DispatcherChoice, dispatcherChoice, ledgerChoice } from '#compose/config.ts'
import { type Limits, USUAL_LIMITS } from '#http/server/allowance.ts'
import { parseLabels } from '#manifest/define/placement.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { unknownSettings } from '#model/kernel/setting.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Settings {
  /** A path or a url; undefined: the file in the data folder. */
  readonly database: string | undefined
  readonly port: number | null
  readonly server: string | undefined
  /** The address it listens on. Any address but loopback requires credentials. */
  readonly host: string
  /** The address that people use; null: the listening address. */
  readonly publicUrl: string | null
  readonly signingKey: string | undefined
  /** How long responses to requests with a key are kept, in milliseconds; undefined: the default time. */
  readonly retention: number | undefined
  /** How much a serving or working process logs on stderr. */
  readonly log: LogLevel
  /** How many calls may wait for the ledger, and for how many milliseconds, before others are refused. */
  readonly intake: { readonly queue: number; readonly wait: number }
  /** The limits of one credential at a server. */
  readonly limits: Limits
  /** A token that opens the metrics of this server, and nothing else; null: there is none. */
  readonly metricsToken: string | null
  /** True if x-forwarded-for is trusted when it comes from loopback. */
  readonly trustsProxy: boolean
  /** The token that this process sends to a server. */
  readonly token: string | undefined
  readonly dataFolder: string
  readonly worker: WorkerSettings
  /** Null: no external dispatcher is used. */
  readonly dispatcher: DispatcherChoice | null
}

/** Settings of a process that works. */
export interface WorkerSettings {
  readonly pool: string | undefined
  readonly labels: string | undefined
  readonly slots: number | undefined
  /** Milliseconds. */
  readonly drain: number | undefined
  /** The port of health and metrics; null: the first free default port. */
  readonly port: number | null
}

const MAX_PORT = 65_535
const MIN_KEY = 32
/** For a server: its callers should be answered or refused soon. */
const INTAKE_QUEUE = 2_000
const INTAKE_WAIT = '1s'

const given = (env: Environment, name: string): string | undefined => (env[name] === '' ? undefined : env[name])

export const parsePort = (text: string): number | null => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port <= MAX_PORT ? port : null
}

export const isServerUrl = (text: string): boolean => /^https?:\/\/[^/]/.test(text) && URL.canParse(text)

export const parseSlots = (text: string): number | null => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : null)

const messageOf = (error: unknown): string => (error instanceof TrihandError ? error.detail : String(error))

/** Returns the error of reading a value; null: there is none. */
const problemWith = (name: string, read: () => unknown): string | null => {
  try {
    read()
    return null
  } catch (error) {
    return `${name}: ${messageOf(error)}`
  }
}

export const readSettings = (env: Environment): Settings => {
  const [database, port, server] = ['DATABASE_URL', 'PORT', 'TRIHAND_URL'].map((name) => given(env, name))
  const [host, publicUrl, key] = ['HOST', 'TRIHAND_PUBLIC_URL', 'TRIHAND_SIGNING_KEY'].map((name) => given(env, name))
  const [slots, labels, drain, retention] = ['SLOTS', 'LABELS', 'DRAIN', 'RETENTION'].map((name) =>
    given(env, `TRIHAND_${name}`),
  )
  const proxy = given(env, 'TRIHAND_TRUST_PROXY')
  const [log, workerPort] = [given(env, 'TRIHAND_LOG') ?? 'off', given(env, 'TRIHAND_WORKER_PORT')]
  const [queue, patience] = [given(env, 'TRIHAND_INTAKE_QUEUE'), given(env, 'TRIHAND_INTAKE_WAIT')]
  const [rate, streams] = [given(env, 'TRIHAND_REQUEST_RATE'), given(env, 'TRIHAND_STREAM_LIMIT')]
  const problems = [
    problemWith('DATABASE_URL', () => ledgerChoice(database)),
    port !== undefined && parsePort(port) === null ? `PORT is "${port}"; expected 0 to ${MAX_PORT}` : null,
    server !== undefined && !isServerUrl(server) ? `TRIHAND_URL is "${server}"; expected http://host:port` : null,
    publicUrl !== undefined && !isServerUrl(publicUrl)
      ? `TRIHAND_PUBLIC_URL is "${publicUrl}"; expected https://host`
      : null,
    key !== undefined && key.length < MIN_KEY ? `TRIHAND_SIGNING_KEY has fewer than ${MIN_KEY} characters` : null,
    proxy !== undefined && proxy !== 'loopback' ? `TRIHAND_TRUST_PROXY is "${proxy}"; expected loopback` : null,
    slots !== undefined && parseSlots(slots) === null ? `TRIHAND_SLOTS is "${slots}"; expected 1 to 999999` : null,
    queue !== undefined && parseSlots(queue) === null
      ? `TRIHAND_INTAKE_QUEUE is "${queue}"; expected 1 to 999999`
      : null,
    patience === undefined ? null : problemWith('TRIHAND_INTAKE_WAIT', () => durationMs(patience)),
    rate !== undefined && rate !== 'off' && parseSlots(rate) === null
      ? `TRIHAND_REQUEST_RATE is "${rate}"; expected 1 to 999999, or off`
      : null,
    streams !== undefined && parseSlots(streams) === null
      ? `TRIHAND_STREAM_LIMIT is "${streams}"; expected 1 to 999999`
      : null,
    isLogLevel(log) ? null : `TRIHAND_LOG is "${log}"; expected ${LOG_LEVELS.join(', ')}`,
    workerPort !== undefined && parsePort(workerPort) === null
      ? `TRIHAND_WORKER_PORT is "${workerPort}"; expected 0 to ${MAX_PORT}`
      : null,
    labels === undefined ? null : problemWith('TRIHAND_LABELS', () => parseLabels(labels)),
    drain === undefined ? null : problemWith('TRIHAND_DRAIN', () => durationMs(drain)),
    retention === undefined ? null : problemWith('TRIHAND_RETENTION', () => durationMs(retention)),
    problemWith('TRIHAND_DISPATCHER', () => dispatcherChoice(env)),
    unknownSettings(env),
  ].filter((problem) => problem !== null)
  if (problems.length > 0) throw new TrihandError('CONFIG_INVALID', problems.join('; '))
  return {
    database,
    port: port === undefined ? null : parsePort(port),
    server,
    host: host ?? '127.0.0.1',
    publicUrl: publicUrl ?? null,
    signingKey: key,
    retention: retention === undefined ? undefined : durationMs(retention),
    log: log as LogLevel,
    intake: { queue: Number(queue ?? INTAKE_QUEUE), wait: durationMs(patience ?? INTAKE_WAIT) },
    limits: {
      requestRate: rate === 'off' ? null : Number(rate ?? USUAL_LIMITS.requestRate),
      streams: Number(streams ?? USUAL_LIMITS.streams),
    },
    metricsToken: given(env, 'TRIHAND_METRICS_TOKEN') ?? null,
    trustsProxy: proxy === 'loopback',
    token: given(env, 'TRIHAND_TOKEN'),
    dispatcher: dispatcherChoice(env),
    dataFolder: given(env, 'TRIHAND_DATA') ?? '.trihand',
    worker: {
      pool: given(env, 'TRIHAND_POOL'),
      labels,
      slots: slots === undefined ? undefined : (parseSlots(slots) ?? undefined),
      drain: drain === undefined ? undefined : durationMs(drain),
      port: workerPort === undefined ? null : parsePort(workerPort),
    },
  }
}

/** The pool, labels and slots of a process that works, as `createTrihand` takes them. */
export const placeOf = ({ pool, labels, slots, drain }: Omit<WorkerSettings, 'port'>) => ({
  labels: parseLabels(labels ?? ''),
  ...(pool === undefined ? {} : { pool }),
  ...(slots === undefined ? {} : { slots }),
  ...(drain === undefined ? {} : { drain }),
})

/** Loads `.env` beside the system, which never overrides variables that are set already. Returns the names it has set. */
export const loadEnvFile = (folder: string): ReadonlySet<string> => {
  const file = join(folder, '.env')
  const before = new Set(Object.keys(process.env))
  if (existsSync(file)) process.loadEnvFile(file)
  return new Set(Object.keys(process.env).filter((name) => !before.has(name)))
}

/** The folder with the translated code of a system. */
export const codeFolder = (settings: Settings): string => join(settings.dataFolder, 'cache')

export const defaultLedger = (settings: Settings): string =>
  settings.database ?? join(settings.dataFolder, 'trihand.db')
