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
  server('DATABASE_URL', 'the ledger', '.trihand/trihand.db'),
  server('HOST', 'where it listens; anything but loopback asks for credentials', '127.0.0.1'),
  server('PORT', 'the port', '4400 to 4409, the first that is free'),
  server('TRIHAND_PUBLIC_URL', 'where people find it'),
  server('TRIHAND_DATA', 'its folder', '.trihand'),
  server('TRIHAND_SLOTS', 'how many runs it performs at once', '1024, or what its pool says'),
  server('TRIHAND_POOL', 'which pool it works for'),
  server('TRIHAND_LABELS', 'labels that runs can ask for: region=eu,gpu=no'),
  server('TRIHAND_DRAIN', 'how long runs at work may take when it stops', '30s'),
  server('TRIHAND_LOG', 'off, error, warn, info or debug: one JSON line each on stderr', 'off'),
  server('TRIHAND_INTAKE_QUEUE', 'how many calls may wait for the ledger; more are refused with 429', '2000'),
  server('TRIHAND_INTAKE_WAIT', 'new calls are refused with 429 once the first has waited so long', '1s'),
  server('TRIHAND_REQUEST_RATE', 'requests a second of one credential, twice as many at once; off: no limit', '100'),
  server('TRIHAND_STREAM_LIMIT', 'open streams of one credential', '100'),
  server('TRIHAND_RETENTION', 'how long answers to requests with a key are kept', '30d'),
  server('TRIHAND_DISPATCHER', 'restate or inngest: what wakes runs', 'the store'),
  server('TRIHAND_DISPATCHER_URL', 'the address of the dispatcher'),
  server('TRIHAND_DISPATCHER_ADMIN_URL', 'where workers register themselves with Restate'),
  secret('TRIHAND_DISPATCHER_KEY', 'the key for the dispatcher'),
  secret('TRIHAND_DISPATCHER_EVENT_KEY', 'the key for sending events to Inngest'),
  secret('TRIHAND_SIGNING_KEY', 'signs logins', 'a file of its folder'),
  secret(
    'TRIHAND_SEAL_KEY',
    'seals facts and events, so that recomputed hashes are seen; several with commas, the newest first',
  ),
  secret('TRIHAND_LEDGER_KEY', 'encrypts payloads in the ledger; several with commas, the newest first'),
  secret('TRIHAND_METRICS_TOKEN', 'opens the metrics and nothing else'),
  server('TRIHAND_TRUST_PROXY', 'loopback: a proxy on this machine says in x-forwarded-for where requests come from'),
  secret('TRIHAND_CALLBACK_SECRET', 'signs what is sent to a callback_url'),
  server('TRIHAND_MODELS', 'live, simulated or auto', 'auto'),
  secret('ANTHROPIC_API_KEY', 'models of Anthropic'),
  secret('OPENAI_API_KEY', 'models of OpenAI and services with the same API'),
  server('OPENAI_BASE_URL', 'another address for these'),
  secret('SMTP_URL', 'sends mail'),
  server('TRIHAND_MAIL_FROM', 'the sender of mail'),
  secret('TRIHAND_SLACK_WEBHOOK', 'a chat channel that hears of tasks'),
  server('TRIHAND_WORKER_PORT', 'where a worker serves health and metrics', '4410 to 4419, the first that is free'),
  client('TRIHAND_URL', 'the server that verbs talk to'),
  { ...client('TRIHAND_TOKEN', 'the token that verbs send to it'), isSecret: true },
  client('NO_COLOR', 'set: no colour'),
  client('TERM', 'dumb: no colour and no cursor movement'),
  tests('TRIHAND_EDITED', 'the file that an editor was started on; set by us for that process'),
  tests('TRIHAND_TEST_PG_URL', 'a Postgres for the tests'),
  tests('TRIHAND_TEST_RESTATE', 'a Restate server for the tests'),
  tests('TRIHAND_RESTATE', 'all: every acceptance test is played on Restate, not only those about waking'),
  tests('TRIHAND_TEST_STORES', 'the stores that a suite plays on'),
  tests('TRIHAND_TEST_DISPATCHER', 'the dispatcher that a suite plays on'),
  tests('TRIHAND_TEST_SECRET', 'a secret that a test looks for'),
  tests('TRIHAND_REQUIRE', 'pg, cc, browser: a skip for want of one is a failure'),
  tests('TRIHAND_REPORT', 'where the report of a test run is written'),
  tests('TRIHAND_SEED', 'the seed of property tests'),
  tests('TRIHAND_SLOW_PAGE', 'how many times slower pages of browser tests are'),
  tests('TRIHAND_SHUFFLE_PAGE', 'how much later answers to a page may come, at random'),
  tests('TRIHAND_SLOW_HAND', 'how long browser tests wait before each action'),
  tests('TRIHAND_POLICY_CASES', 'how many cases a policy property plays'),
  tests('TRIHAND_POLICY_TALLY', 'where these are counted'),
  tests('TRIHAND_WHOLE', 'chaos tests at their whole size'),
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
