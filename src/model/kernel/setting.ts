/**
 * Every environment variable that Trihand reads, in one table: name, meaning, default, and which kind of process reads it.
 *
 * This is the only list. `cli/connect/settings.ts` checks `TRIHAND_*` names against it (an unknown name is a typing mistake), the configuration
 * page shows those of a serving process, and `test/integration/serving/settings.test.ts` compares it with the documents and with what the
 * code reads: add a row here, a line in `docs/cli.md`, and the code that acts on it.
 */
import { TrihandError } from './errors.ts'
import { nearest } from './nearest.ts'

export interface Setting {
  readonly name: string
  readonly meaning: string
  /** The default, in words. */
  readonly usual?: string
  /** The page shows only that it is set, never the value. */
  readonly isSecret?: boolean
  /**
   * `server`: a process that serves (`dev`, `demo`), shown on its configuration page; most of them count for workers, too.
   * `client`: commands that talk to a server, and the terminal. `tests`: only our own tests, benches and scripts.
   */
  readonly reader: 'server' | 'client' | 'tests'
}

const server = (name: string, meaning: string, usual?: string): Setting => ({
  ...{ name, meaning, reader: 'server' },
  ...(usual === undefined ? {} : { usual }),
})
const secret = (name: string, meaning: string, usual?: string): Setting => ({
  ...server(name, meaning, usual),
  isSecret: true,
})
const client = (name: string, meaning: string): Setting => ({ name, meaning, reader: 'client' })
const tests = (name: string, meaning: string): Setting => ({ name, meaning, reader: 'tests' })

export const SETTINGS: readonly Setting[] = [
  server('DATABASE_URL', 'path or URL of the ledger', '.trihand/trihand.db'),
  server('HOST', 'address to listen on; any address except loopback requires credentials', '127.0.0.1'),
  server('PORT', 'port to listen on', 'the first free port of 4400 to 4409'),
  server('TRIHAND_PUBLIC_URL', 'public URL of the server'),
  server('TRIHAND_DATA', 'folder for its data', '.trihand'),
  server('TRIHAND_SLOTS', 'number of runs at the same time', '1024, or the slots of its pool'),
  server('TRIHAND_POOL', 'pool of the worker'),
  server('TRIHAND_LABELS', 'labels that runs can require: region=eu,gpu=no'),
  server('TRIHAND_DRAIN', 'how long it waits for its runs when it stops', '30s'),
  server('TRIHAND_LOG', 'level of the log, one JSON line per event on stderr: off, error, warn, info or debug', 'off'),
  server('TRIHAND_INTAKE_QUEUE', 'number of calls that may wait for the ledger; more get 429', '2000'),
  server('TRIHAND_INTAKE_WAIT', 'new calls get 429 when the oldest call has waited this long', '1s'),
  server(
    'TRIHAND_REQUEST_RATE',
    'requests per second of one credential, in bursts of twice as many; off: no limit',
    '100',
  ),
  server('TRIHAND_STREAM_LIMIT', 'open streams of one credential', '100'),
  server('TRIHAND_RETENTION', 'how long answers to requests with an idempotency key are kept', '30d'),
  server('TRIHAND_DISPATCHER', 'what wakes runs: restate or inngest', 'the ledger'),
  server('TRIHAND_DISPATCHER_URL', 'the address of the dispatcher'),
  server('TRIHAND_DISPATCHER_ADMIN_URL', 'admin address of Restate, where workers register'),
  secret('TRIHAND_DISPATCHER_KEY', 'the key for the dispatcher'),
  secret('TRIHAND_DISPATCHER_EVENT_KEY', 'the key for sending events to Inngest'),
  secret('TRIHAND_SIGNING_KEY', 'key that signs logins', 'a file in its folder'),
  secret('TRIHAND_SEAL_KEY', 'keys that seal facts and events against changes; comma-separated, the newest first'),
  secret('TRIHAND_LEDGER_KEY', 'keys that encrypt payloads in the ledger; comma-separated, the newest first'),
  secret('TRIHAND_METRICS_TOKEN', 'token that only gives access to the metrics'),
  server('TRIHAND_TRUST_PROXY', 'loopback: trust x-forwarded-for from a proxy on this machine'),
  secret('TRIHAND_CALLBACK_SECRET', 'secret that signs callbacks'),
  server('TRIHAND_MODELS', 'live, simulated or auto', 'auto'),
  secret('ANTHROPIC_API_KEY', 'API key for models of Anthropic'),
  secret('OPENAI_API_KEY', 'API key for models of OpenAI and compatible services'),
  server('OPENAI_BASE_URL', 'address of the compatible service'),
  secret('SMTP_URL', 'mail server'),
  server('TRIHAND_MAIL_FROM', 'sender address of mails'),
  secret('TRIHAND_SLACK_WEBHOOK', 'webhook of a chat channel that gets notices of tasks'),
  server('TRIHAND_WORKER_PORT', 'port of a worker for health and metrics', 'the first free port of 4410 to 4419'),
  client('TRIHAND_URL', 'URL of the server for commands'),
  { ...client('TRIHAND_TOKEN', 'token for that server'), isSecret: true },
  client('NO_COLOR', 'if set: no colour'),
  client('TERM', 'dumb: no colour and no cursor movement'),
  tests('TRIHAND_EDITED', 'the file that an editor was started on; set by us for that process'),
  tests('TRIHAND_TEST_PG_URL', 'a Postgres for the tests'),
  tests('TRIHAND_TEST_RESTATE', 'a Restate server for the tests'),
  tests('TRIHAND_RESTATE', 'all: run every acceptance test on Restate, not only those about wakes'),
  tests('TRIHAND_TEST_STORES', 'the stores that a suite runs on'),
  tests('TRIHAND_TEST_DISPATCHER', 'the dispatcher that a suite runs on'),
  tests('TRIHAND_TEST_SECRET', 'a secret that a test looks for'),
  tests('TRIHAND_REQUIRE', 'pg, cc, browser: a test that is skipped without one fails'),
  tests('TRIHAND_REPORT', 'where the report of a test run is written'),
  tests('TRIHAND_SEED', 'the seed of property tests'),
  tests('TRIHAND_SLOW_PAGE', 'factor that slows down pages of browser tests'),
  tests('TRIHAND_SHUFFLE_PAGE', 'longest random delay of answers to a page'),
  tests('TRIHAND_SLOW_HAND', 'how long browser tests wait before each action'),
  tests('TRIHAND_POLICY_CASES', 'number of cases of a policy property'),
  tests('TRIHAND_POLICY_TALLY', 'where these cases are counted'),
  tests('TRIHAND_WHOLE', 'run chaos tests at their full size'),
  tests('TRIHAND_SHIM_LOG', 'where the shim of the power cut test writes'),
  tests('TRIHAND_SHIM_FAULT', 'which fault the shim makes'),
  tests('TRIHAND_CLAUDE_SDK', 'the folder of the Claude Agent SDK'),
]

const NAMES: ReadonlySet<string> = new Set(SETTINGS.map(({ name }) => name))

const PREFIX = 'TRIHAND_'

/** Names with our prefix that are not settings: a typing mistake, which otherwise would silently change nothing. Null: all are known. */
export const unknownSettings = (environment: Readonly<Record<string, string | undefined>>): string | null => {
  const unknown = Object.keys(environment).filter((name) => name.startsWith(PREFIX) && !NAMES.has(name))
  if (unknown.length === 0) return null
  return unknown.map(mistaken).join('; ')
}

export const requireKnownSettings = (environment: Readonly<Record<string, string | undefined>>): void => {
  const unknown = unknownSettings(environment)
  if (unknown !== null) throw new TrihandError('CONFIG_INVALID', unknown)
}

const mistaken = (name: string): string => {
  const bare = name.slice(PREFIX.length)
  const near = NAMES.has(bare) ? bare : nearest(name, [...NAMES])
  return near === null ? `${name} is not a setting` : `${name} is not a setting; did you mean ${near}?`
}
