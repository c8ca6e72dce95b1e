/**
 * Triggers other than a plain event: each is brought to the event that it listens to and the source that must watch.
 *
 * Owns their spelling, names and refusals. Each source has one watcher however many functions name it; its name is derived from all
 * its options, so that what it has seen is kept for it from start to start. Never watches anything (triggers/).
 */
import { compileRule } from '#manifest/expressions/rules.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { CONDITION_EDGES, type ConditionPolicy } from '#model/event/condition.ts'
import {
  type AfterTrigger,
  type ConditionTrigger,
  type EndStatus,
  FILE_CHANGES,
  type FileChange,
  type FileTrigger,
  type SignalTrigger,
  TABLE_CHANGES,
  type TableChange,
  type TableTrigger,
  type WatchTrigger,
} from '#model/event/watch.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isPlainText } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Rule } from '#model/kernel/rule.ts'

const SIGNALS = ['SIGHUP', 'SIGUSR2'] as const

/** The last facts of a run that each keyword selects. */
const ENDS: Readonly<Record<EndStatus, readonly string[]>> = {
  success: ['run.completed'],
  partial: ['run.completed'],
  failed: ['run.failed'],
  cancelled: ['run.cancelled'],
  expired: ['run.expired'],
  quarantined: ['run.quarantined'],
  ended: ['run.completed', 'run.failed', 'run.cancelled', 'run.expired', 'run.quarantined'],
}

export interface SignalSource {
  readonly kind: 'signal'
  readonly name: string
  readonly signal: (typeof SIGNALS)[number]
}

export interface FileSource {
  readonly kind: 'file'
  readonly name: string
  readonly globs: readonly string[]
  readonly on: readonly FileChange[]
  readonly settleMs: number
}

export interface TableSource {
  readonly kind: 'table'
  readonly name: string
  readonly database: string
  readonly table: string
  readonly on: readonly TableChange[]
  readonly everyMs: number
}

export interface ConditionSource {
  readonly kind: 'condition'
  readonly name: string
  readonly rule: Rule
  readonly rearm: Rule | null
  readonly policy: ConditionPolicy
  readonly everyMs: number
  /** What must be read before the condition can be evaluated. */
  readonly needs: {
    readonly handlers: readonly string[]
    readonly documents: Readonly<Record<string, { readonly table: string; readonly key: string }>>
    readonly session: { readonly id: string; readonly keys: readonly string[] } | null
  }
}

export type SourceDefinition = SignalSource | FileSource | TableSource | ConditionSource

const END_WORDS = Object.keys(ENDS) as readonly EndStatus[]

/** The normal form of a trigger: the events it listens to, their source, and the source that must watch for them. */
export interface NormalTrigger {
  readonly types: readonly string[]
  /** Only events with this source; null: any. */
  readonly from: string | null
  /** The statuses that count when runs end. */
  readonly statuses: readonly string[] | null
  readonly watch: SourceDefinition | null
}

/** The event that a source of each kind sends. */
export const WATCH_EVENTS = {
  signal: 'trihand.signal.received',
  file: 'trihand.file.changed',
  table: 'trihand.table.changed',
  condition: 'trihand.condition.met',
} as const satisfies Record<SourceDefinition['kind'], string>

/** The source of the events about the end of a function's runs. */
export const endSource = (handler: string): string => `run:${handler}`

const invalid = (path: string, problem: string): TrihandError =>
  new TrihandError('MANIFEST_INVALID', `${path}: ${problem}`, { place: { path } })

const listOf = <Word extends string>(
  given: Word | readonly Word[] | undefined,
  known: readonly Word[],
  usual: readonly Word[],
  path: string,
): readonly Word[] => {
  const list = given === undefined ? usual : typeof given === 'string' ? [given] : given
  const unknown = list.find((word) => !known.includes(word))
  if (unknown !== undefined || list.length === 0)
    throw invalid(path, `"${unknown ?? ''}" is not one of ${known.join(', ')}`)
  return known.filter((word) => list.includes(word))
}

const within = (ms: number, least: number, most: number, path: string): number => {
  if (ms < least || ms > most) throw invalid(path, `expected ${least} ms to ${most} ms`)
  return ms
}

/** Options that differ from the defaults are part of the name. */
const named = (kind: string, text: string, extra: Readonly<Record<string, Json>>): string => {
  const parts = Object.entries(extra).filter(([, value]) => value !== null)
  const rest = parts.map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return `${kind}:${text}${rest.length === 0 ? '' : ` [${rest.join(' ')}]`}`
}

const normaliseEndTrigger = ({ after, status }: AfterTrigger, path: string): NormalTrigger => {
  const words = listOf(status, END_WORDS, ['success'], `${path}.status`)
  const types = new Set(words.flatMap((word) => ENDS[word].map((fact) => `trihand.${fact}`)))
  const statuses = words.includes('ended') ? null : words
  return { types: [...types], from: endSource(after), statuses, watch: null }
}

const watchSignal = ({ signal }: SignalTrigger, path: string): SignalSource => {
  const known = SIGNALS.find((name) => name === signal)
  if (known !== undefined) return { kind: 'signal', name: `signal:${signal}`, signal: known }
  const why: Readonly<Record<string, string>> = {
    SIGUSR1: 'SIGUSR1 starts the debugger of Node',
    SIGTERM: 'SIGTERM asks the process to stop',
    SIGINT: 'SIGINT asks the process to stop',
  }
  throw invalid(`${path}.signal`, `${why[signal] ?? `"${signal}" cannot be listened to`}; use ${SIGNALS.join(' or ')}`)
}

const DEFAULT_SETTLE_MS = 200

const watchFile = ({ file, on, settle }: FileTrigger, path: string): FileSource => {
  const globs = typeof file === 'string' ? [file] : [...file]
  if (globs.length === 0 || globs.some((glob) => glob === '' || glob.includes('\0')))
    throw invalid(`${path}.file`, 'expected a path')
  const changes = listOf(on, FILE_CHANGES, FILE_CHANGES, `${path}.on`)
  const settleMs = within(settle === undefined ? DEFAULT_SETTLE_MS : durationMs(settle), 20, 60_000, `${path}.settle`)
  const name = named('file', globs.join(','), {
    on: changes.length === FILE_CHANGES.length ? null : changes.join(','),
    settle: settleMs === DEFAULT_SETTLE_MS ? null : settleMs,
  })
  return { kind: 'file', name, globs, on: changes, settleMs }
}

const TABLE = /^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?$/
const DEFAULT_POLL_MS = 1_000

/** A name is displayed and stored, so it never contains a password. */
const withoutSecret = (database: string): string => database.replace(/\/\/[^@/]*@/, '//')

const watchTable = ({ table, database, on, every }: TableTrigger, path: string): TableSource => {
  if (!TABLE.test(table)) throw invalid(`${path}.table`, `"${table}" is not the name of a table`)
  if (typeof database !== 'string' || database === '')
    throw invalid(`${path}.database`, 'expected a SQLite file or a postgres: url')
  const changes = listOf(on, TABLE_CHANGES, TABLE_CHANGES, `${path}.on`)
  const everyMs = within(every === undefined ? DEFAULT_POLL_MS : durationMs(every), 50, 86_400_000, `${path}.every`)
  const name = named('table', `${withoutSecret(database)}#${table}`, {
    on: changes.length === TABLE_CHANGES.length ? null : changes.join(','),
  })
  return { kind: 'table', name, database, table, on: changes, everyMs }
}

const CONDITION_ROOTS = ['runs', 'queue', 'table', 'session']
const DEFAULT_EVERY_MS = 5_000

const namesAfter = (root: string, texts: readonly string[]): readonly string[] => {
  const found = texts.flatMap((text) => [
    ...text.matchAll(new RegExp(`\\b${root}(?:\\.([A-Za-z_]\\w*)|\\[\\s*["']([^"']+)["']\\s*\\])`, 'g')),
  ])
  return [...new Set(found.map(([, dotted, quoted]) => dotted ?? quoted ?? ''))]
}

/** A duration, or null: then the text is an expression. */
const asDuration = (text: string): number | null => (/^(P|\d)[\w.]*$/.test(text) ? durationMs(text) : null)

const watchCondition = (trigger: ConditionTrigger, path: string): ConditionSource => {
  const { condition, edge = 'rising', reads = {}, session } = trigger
  if (!CONDITION_EDGES.includes(edge)) throw invalid(`${path}.edge`, `expected one of ${CONDITION_EDGES.join(', ')}`)
  const pauseMs = trigger.rearm === undefined ? 0 : asDuration(trigger.rearm)
  const rearm = pauseMs === null ? (trigger.rearm ?? null) : null
  if (rearm !== null && (edge === 'level' || edge === 'change'))
    throw invalid(`${path}.rearm`, `with edge ${edge} it is a time, not an expression`)
  const texts = rearm === null ? [condition] : [condition, rearm]
  const keys = namesAfter('session', texts)
  if (keys.length > 0 && session === undefined)
    throw invalid(`${path}.session`, 'the expression reads session: name the session')
  const missing = namesAfter('table', texts).find((name) => !Object.hasOwn(reads, name))
  if (missing !== undefined) throw invalid(`${path}.reads`, `the expression reads table.${missing}: name the document`)
  const forMs = trigger.for === undefined ? 0 : durationMs(trigger.for)
  const everyMs = within(
    trigger.every === undefined ? DEFAULT_EVERY_MS : durationMs(trigger.every),
    100,
    86_400_000,
    `${path}.every`,
  )
  const name = named('condition', condition, {
    edge: edge === 'rising' ? null : edge,
    for: forMs === 0 ? null : forMs,
    rearm: trigger.rearm ?? null,
    reads: Object.keys(reads).length === 0 ? null : (reads as Json),
    session: session ?? null,
  })
  return {
    kind: 'condition',
    name,
    rule: compileRule(condition, CONDITION_ROOTS),
    rearm: rearm === null ? null : compileRule(rearm, CONDITION_ROOTS),
    policy: { edge, forMs, pauseMs: pauseMs ?? 0, hasRearmRule: rearm !== null },
    everyMs,
    needs: {
      handlers: namesAfter('queue', texts),
      documents: reads,
      session: session === undefined ? null : { id: session, keys },
    },
  }
}

const watchOf = (trigger: Exclude<WatchTrigger, AfterTrigger>, path: string): SourceDefinition => {
  if ('signal' in trigger) return watchSignal(trigger, path)
  if ('file' in trigger) return watchFile(trigger, path)
  if ('table' in trigger) return watchTable(trigger, path)
  return watchCondition(trigger, path)
}

const KINDS = ['after', 'signal', 'file', 'table', 'condition']

export const isWatchTrigger = (trigger: object): trigger is WatchTrigger => KINDS.some((kind) => kind in trigger)

const MAX_NAME = 200

export const normaliseTrigger = (trigger: WatchTrigger, path: string): NormalTrigger => {
  if ('after' in trigger) return normaliseEndTrigger(trigger, path)
  const watch = watchOf(trigger, path)
  // The name is the source of its events.
  if (!isPlainText(watch.name, MAX_NAME))
    throw invalid(path, `write it in one line of at most ${MAX_NAME} characters, with all its options`)
  return { types: [WATCH_EVENTS[watch.kind]], from: watch.name, statuses: null, watch }
}
