/**
 * What a serving process is set to, and by whom: a flag, the environment, the file `.env`, or nobody.
 *
 * Owns the list of what is worth showing. Secrets are never in it: of them it says only that they are set.
 */
import type { ConfiguredSetting } from '../http/api.ts'
import type { Environment } from './settings.ts'

interface Known {
  readonly name: string
  readonly meaning: string
  /** What holds if nobody says anything. */
  readonly usual?: string
  readonly isSecret?: boolean
}

const KNOWN: readonly Known[] = [
  { name: 'DATABASE_URL', meaning: 'the ledger', usual: '.trihand/trihand.db' },
  { name: 'HOST', meaning: 'where it listens; anything but loopback asks for credentials', usual: '127.0.0.1' },
  { name: 'PORT', meaning: 'the port', usual: '4400 to 4409, the first that is free' },
  { name: 'TRIHAND_PUBLIC_URL', meaning: 'where people find it' },
  { name: 'TRIHAND_DATA', meaning: 'its folder', usual: '.trihand' },
  { name: 'TRIHAND_SLOTS', meaning: 'how many runs it performs at once', usual: '4' },
  { name: 'TRIHAND_POOL', meaning: 'which pool it works for', usual: 'default' },
  { name: 'TRIHAND_LABELS', meaning: 'what it says of itself to placement' },
  { name: 'TRIHAND_DRAIN', meaning: 'how long runs at work may take when it stops', usual: '30s' },
  { name: 'TRIHAND_RETENTION', meaning: 'how long answers to requests with a key are kept', usual: '30d' },
  { name: 'TRIHAND_DISPATCHER', meaning: 'who wakes runs', usual: 'the store' },
  { name: 'TRIHAND_DISPATCHER_URL', meaning: 'where that one is' },
  { name: 'TRIHAND_DISPATCHER_KEY', meaning: 'the key for it', isSecret: true },
  { name: 'TRIHAND_SIGNING_KEY', meaning: 'signs logins', usual: 'a file of its folder', isSecret: true },
  { name: 'TRIHAND_METRICS_TOKEN', meaning: 'opens the metrics and nothing else', isSecret: true },
  { name: 'TRIHAND_MODELS', meaning: 'live, simulated or auto', usual: 'auto' },
  { name: 'ANTHROPIC_API_KEY', meaning: 'models of Anthropic', isSecret: true },
  { name: 'OPENAI_API_KEY', meaning: 'models of OpenAI and what speaks like it', isSecret: true },
  { name: 'OPENAI_BASE_URL', meaning: 'another place for these' },
  { name: 'SMTP_URL', meaning: 'sends mail', isSecret: true },
  { name: 'TRIHAND_MAIL_FROM', meaning: 'from whom mail is' },
  { name: 'TRIHAND_SLACK_WEBHOOK', meaning: 'tells a channel of tasks', isSecret: true },
]

/** What stands between the slashes and the @ of an address is for nobody's eyes; nor is what follows a question mark. */
const shown = (value: string): string => value.replace(/\/\/[^@/]*@/, '//').replace(/\?.*$/, '')

export interface Said {
  readonly env: Environment
  /** Names that the file `.env` has set. */
  readonly fromFile: ReadonlySet<string>
  /** By the names that they stand for. */
  readonly flags: Environment
}

const settingOf = ({ name, meaning, usual, isSecret = false }: Known, { env, fromFile, flags }: Said) => {
  const [flag, variable] = [flags[name] ?? '', env[name] ?? '']
  const value = flag === '' ? variable : flag
  const source = flag !== '' ? 'flag' : variable === '' ? 'default' : fromFile.has(name) ? '.env' : 'environment'
  const visible = value === '' ? (usual ?? null) : isSecret ? null : shown(value)
  return { name, meaning, value: visible, source, is_secret: isSecret } satisfies ConfiguredSetting
}

export const configurationOf = (said: Said): readonly ConfiguredSetting[] =>
  KNOWN.map((known) => settingOf(known, said))
