/**
 * Expands the short forms that agents, functions, humans and plans have in common: triggers, emits, retries.
 *
 * Owns the rows of the normalisation about starting and sending. Schedules written in a trigger are extracted from it.
 */
import { parseCron } from '#manifest/time/cron.ts'
import { TRIGGER_KINDS } from '#manifest/yaml/check/handler-sections.ts'
import { defined, isRecord, type JsonRecord, listed } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

/** A schedule that a trigger contains, with the path where it was written. */
export interface FoundSchedule {
  readonly entry: JsonRecord
  readonly from: readonly [kind: string, name: string]
}

const KINDS: ReadonlySet<string> = new Set(TRIGGER_KINDS)
const TIMINGS = ['cron', 'schedule', 'every', 'at', 'in']
const FAN_IN = ['primary', 'wait_for', 'correlation_key', 'timeout', 'collect']
const ROUTING = ['route_on', 'routes', 'default_route']

const isCron = (text: Json | undefined): boolean => {
  if (typeof text !== 'string') return false
  try {
    parseCron(text, '')
    return true
  } catch {
    return false
  }
}

const kindOf = (entry: JsonRecord): string | null =>
  TRIGGER_KINDS.find((kind) => kind !== 'event' && kind !== 'manual' && entry[kind] !== undefined) ??
  (entry['event'] === undefined ? null : 'event')

const longTrigger = (entry: Json): Json => {
  if (entry === 'manual') return { kind: 'manual' }
  if (typeof entry === 'string') return { kind: 'event', event: entry }
  if (!isRecord(entry)) return entry
  const { type, kind = type, ...rest } = entry
  const meant = typeof kind === 'string' && KINDS.has(kind) ? kind : (kindOf(entry) ?? kind)
  return meant === undefined ? rest : { kind: meant, ...rest }
}

/** In `{cron: X, schedule: Y}` the one that parses is the expression, the other one its description. */
const timingOf = (entry: JsonRecord): JsonRecord => {
  const { cron, schedule, type: _, kind: __, ...rest } = entry
  const [expression, words] =
    cron === undefined || (!isCron(cron) && isCron(schedule)) ? [schedule, cron] : [cron, schedule]
  return defined({ ...rest, cron: expression, description: words ?? rest['description'] })
}

const isTiming = (entry: Json): entry is JsonRecord =>
  isRecord(entry) && kindOf(entry) === null && TIMINGS.some((key) => entry[key] !== undefined)

const picked = (entry: JsonRecord, keys: readonly string[]): JsonRecord =>
  Object.fromEntries(Object.entries(entry).filter(([key]) => keys.includes(key)))

const without = (entry: JsonRecord, keys: readonly string[]): JsonRecord =>
  Object.fromEntries(Object.entries(entry).filter(([key]) => !keys.includes(key)))

/** Fan-in and routing may be written on the function, on its trigger, or under their own names. */
const patternOf = (handler: JsonRecord, triggers: readonly Json[]): JsonRecord => {
  const [first] = triggers
  const given = { ...handler, ...(isRecord(first) ? first : {}) }
  if (given['wait_for'] !== undefined && handler['fan_in'] === undefined) {
    const primary = given['primary'] ?? (isRecord(first) ? first['event'] : first)
    const { timeout, ...group } = picked(given, FAN_IN)
    const bound = isRecord(first) && first['timeout'] !== undefined ? { timeout: first['timeout'] } : {}
    return { fan_in: defined({ primary, ...group, ...bound, wait_for: listed(group['wait_for']) }) }
  }
  if (given['route_on'] !== undefined && handler['routing'] === undefined) return { routing: picked(given, ROUTING) }
  return {}
}

const eventIn = (entry: Json | undefined): Json | undefined => (isRecord(entry) ? entry['event'] : entry)

/** `{event, timeout}` in place of the primary event limits the whole group. */
const longFanIn = (group: Json | undefined): Json | undefined => {
  if (!isRecord(group)) return group
  const { primary, wait_for: others, timeout, ...rest } = group
  return defined({
    primary: eventIn(primary),
    ...rest,
    timeout: timeout ?? (isRecord(primary) ? primary['timeout'] : undefined),
    wait_for: others === undefined ? undefined : listed(others).map((one) => eventIn(one) ?? one),
  })
}

const longRoute = (route: Json): Json => (typeof route === 'string' ? { emit: route } : route)

const longRouting = (routing: Json | undefined): Json | undefined => {
  if (!isRecord(routing)) return routing
  const { routes, default_route: otherwise } = routing
  return defined({
    ...routing,
    routes: isRecord(routes)
      ? Object.fromEntries(Object.entries(routes).map(([value, route]) => [value, longRoute(route)]))
      : routes,
    default_route: otherwise === undefined ? undefined : longRoute(otherwise),
  })
}

const longEmits = (given: Json | undefined): Json | undefined => {
  if (given === undefined) return undefined
  const isMap =
    isRecord(given) &&
    given['event'] === undefined &&
    Object.values(given).every((one) => one === null || isRecord(one))
  const entries = isMap
    ? Object.entries(given).map(([event, one]) => ({ event, ...(isRecord(one) ? one : {}) }))
    : listed(given)
  return entries.map((entry) => {
    if (typeof entry === 'string') return { event: entry, on: 'success' }
    return isRecord(entry) ? { on: 'success', ...entry } : entry
  })
}

const RETRY_KEYS = ['retries', 'max_retries']

const retriesIn = (record: Json | undefined): Json | undefined =>
  isRecord(record) ? (record['retries'] ?? record['max_retries']) : undefined

/** Three *re*tries are four attempts. */
export const longRetry = (handler: JsonRecord): Json | undefined => {
  const { retry, config, limits } = handler
  if (isRecord(retry) && retry['max_attempts'] !== undefined) return without(retry, RETRY_KEYS)
  const own = typeof retry === 'number' ? retry : (retriesIn(retry) ?? retriesIn(handler))
  const retries = own ?? retriesIn(config) ?? retriesIn(limits)
  if (retries === undefined) return typeof retry === 'object' ? retry : undefined
  const attempts = typeof retries === 'number' ? retries + 1 : retries
  return { max_attempts: attempts, ...(isRecord(retry) ? without(retry, RETRY_KEYS) : {}) }
}

export interface NormalHandler {
  readonly handler: JsonRecord
  readonly schedules: readonly FoundSchedule[]
}

const TARGETS: Readonly<Record<string, string>> = { functions: 'function', agents: 'agent', plans: 'plan' }

const SHORT = [
  'trigger',
  'triggers',
  'emit',
  'emits',
  'retry',
  ...RETRY_KEYS,
  ...FAN_IN.slice(0, 3),
  'collect',
  ...ROUTING,
]

export const normalHandler = (section: string, given: JsonRecord): NormalHandler => {
  const all = [...listed(given['trigger']), ...listed(given['triggers'])]
  const name = String(given['name'])
  const target = TARGETS[section]
  const timings = target === undefined ? [] : all.filter(isTiming)
  const pattern = section === 'functions' ? patternOf(given, all) : {}
  const fanIn = longFanIn(pattern['fan_in'] ?? given['fan_in'])
  const events = all
    .filter((entry) => !timings.includes(entry as JsonRecord))
    .map((entry) => (isRecord(entry) ? without(entry, [...FAN_IN, ...ROUTING]) : entry))
    .filter((entry) => !isRecord(entry) || Object.keys(entry).length > 0)
  return {
    handler: defined({
      ...without(given, SHORT),
      // Every member of a group is received through the group.
      triggers: fanIn === undefined ? events.map(longTrigger) : [],
      emits: longEmits(given['emits'] ?? given['emit']),
      retry: longRetry(given),
      ...pattern,
      ...(fanIn === undefined ? {} : { fan_in: fanIn }),
      ...(section === 'functions' ? { routing: longRouting(pattern['routing'] ?? given['routing']) } : {}),
    }),
    schedules: timings.map((entry) => ({
      entry: { name, ...timingOf(entry), [target as string]: name },
      from: [section, name],
    })),
  }
}
