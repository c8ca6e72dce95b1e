/**
 * Brings a manifest from any accepted form to the long form: the one form that is checked, linted, drawn and run.
 *
 * Owns the order of the rows, references to events, and schedules that are written twice. Total: it never refuses, the check does.
 */
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import type { AddFinding } from '#manifest/yaml/finding.ts'
import { longPayload } from '#manifest/yaml/parse/payload.ts'
import { isRecord, type JsonRecord, listed } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'
import { normalAgent, normalFunction, normalHuman, normalPlan, normalWebhook } from './normal-executors.ts'
import { type FoundSchedule, normalHandler } from './normal-handler.ts'
import { type Moved, outline } from './outline.ts'
import { respell } from './respell.ts'

const HANDS: Readonly<Record<string, (given: JsonRecord) => JsonRecord>> = {
  agents: normalAgent,
  functions: normalFunction,
  humans: normalHuman,
  plans: normalPlan,
}

const eachIn = (section: Json | undefined, change: (entry: JsonRecord) => JsonRecord): Json | undefined =>
  Array.isArray(section) ? section.map((entry) => (isRecord(entry) ? change(entry) : entry)) : section

const normalEvents = (section: Json | undefined): Json | undefined => {
  if (!isRecord(section)) return section
  const definitions = eachIn(section['definitions'], (event) =>
    event['payload'] === undefined || event['payload'] === null
      ? event
      : { ...event, payload: longPayload(event['payload']) },
  )
  return { ...section, ...(definitions === undefined ? {} : { definitions }) }
}

/** `shop/order.paid` is `order.paid`, if that is declared in the namespace `shop`. */
const referenceIn = (section: Json | undefined): ((type: Json) => Json) => {
  const { namespace, definitions } = isRecord(section) ? section : {}
  if (typeof namespace !== 'string') return (type) => type
  const declared = new Set(listed(definitions).map((event) => (isRecord(event) ? event['name'] : event)))
  const prefix = `${namespace}/`
  return (type) => {
    if (typeof type !== 'string' || !type.startsWith(prefix)) return type
    const short = type.slice(prefix.length)
    return declared.has(short) ? short : type
  }
}

const EVENT_KEYS: ReadonlySet<string> = new Set([
  'event',
  'emit',
  'emits_event',
  'primary',
  'until_event',
  'after_event',
])

/** Replaces references wherever a section names an event. Does not search payloads, data and contents. */
const withReferences = (value: Json, reference: (type: Json) => Json): Json => {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, reference))
  if (!isRecord(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, Json] => {
    if (EVENT_KEYS.has(key) && typeof item === 'string') return [key, reference(item)]
    if (key === 'wait_for' && Array.isArray(item)) return [key, item.map(reference)]
    return [key, withReferences(item, reference)]
  })
  return Object.fromEntries(entries)
}

const timingKey = (entry: Json): string | null => {
  if (!isRecord(entry) || typeof entry['cron'] !== 'string') return null
  return JSON.stringify([entry['function'] ?? null, entry['cron'].trim().split(/\s+/), entry['tz'] ?? null])
}

const freeName = (name: string, taken: ReadonlySet<string>): string => {
  let free = name
  for (let n = 2; taken.has(free); n++) free = `${name}-${n}`
  return free
}

/** The same timing in two places is one schedule: two would fire twice. */
const joinSchedules = (
  own: readonly Json[],
  found: readonly FoundSchedule[],
  moved: Moved,
  tell: AddFinding,
): Json[] => {
  const schedules = [...own]
  for (const { entry, from } of found) {
    const [section, handler] = from
    const key = timingKey(entry)
    const twin = key === null ? undefined : schedules.find((other) => timingKey(other) === key)
    const sameTarget = schedules.find(
      (other) => isRecord(other) && other['function'] === handler && section === 'functions',
    )
    if (twin !== undefined || sameTarget !== undefined) {
      const other = twin ?? sameTarget
      const name = isRecord(other) ? String(other['name']) : ''
      const message =
        twin === undefined
          ? `schedule ${name} and the trigger of ${handler} start it at different times; both are used`
          : `schedule ${name} and the trigger of ${handler} are the same; only one is used`
      tell({ level: 'warning', code: 'LINT_SCHEDULE_DUPLICATE', message, path: [...from, 'triggers'], on: 'key' })
    }
    if (twin !== undefined) continue
    const taken = new Set(schedules.map((other) => (isRecord(other) ? String(other['name']) : '')))
    const name = freeName(String(entry['name']), taken)
    moved(['schedules', name], [...from, 'triggers'])
    schedules.push({ ...entry, name })
  }
  return schedules
}

export const normalise = (root: JsonRecord, moved: Moved, tell: AddFinding): JsonRecord => {
  const outlined = respell(MANIFEST, outline(root, moved), [], tell) as JsonRecord
  const sections: Record<string, Json> = { ...outlined }
  const found: FoundSchedule[] = []
  const reference = referenceIn(outlined['events'])
  for (const [section, ofHand] of Object.entries(HANDS)) {
    const entries = eachIn(outlined[section], (entry) => {
      const { handler, schedules } = normalHandler(section, entry)
      found.push(...schedules)
      return withReferences(ofHand(handler), reference) as JsonRecord
    })
    if (entries !== undefined) sections[section] = entries
  }
  const events = normalEvents(outlined['events'])
  if (events !== undefined) sections['events'] = events
  const webhooks = eachIn(outlined['webhooks'], normalWebhook)
  if (webhooks !== undefined) sections['webhooks'] = webhooks
  const schedules = joinSchedules(listed(outlined['schedules']), found, moved, tell)
  if (schedules.length > 0 || outlined['schedules'] !== undefined)
    sections['schedules'] = Array.isArray(outlined['schedules'] ?? []) ? schedules : (outlined['schedules'] as Json)
  return sections
}
