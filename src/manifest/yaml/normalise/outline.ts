/**
 * The sections of a manifest, each in the one form that later steps read: lists with names, one place for everything.
 *
 * Owns which sections map to which. The inside of an entry is normal-*.ts. Total: it passes on everything that it does not understand.
 */
import { isAnnotation } from '#manifest/yaml/check/shape.ts'
import type { Path } from '#manifest/yaml/finding.ts'
import { withSteps } from '#manifest/yaml/parse/modality-document.ts'
import { snakeCase } from '#manifest/yaml/parse/places.ts'
import { isRecord, type JsonRecord, listed } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'
import { namedEntries, normalDatabase, normalExecutors, normalMachine } from './normal-sections.ts'

export type Moved = (from: Path, to: Path) => void

const NAMED =
  'agents functions humans plans chats schedules webhooks endpoints modules pools session_pools queues'.split(' ')
const EVENT_KEYS: ReadonlySet<string> = new Set(['namespace', 'open', 'definitions'])

/** A map of names to entries, or a list of entries, as a list of entries with names. */
const namedList = (value: Json): Json => (isRecord(value) ? namedEntries(value) : value)

const namedEvents = (value: Json): Json => {
  const entries = namedList(value)
  return Array.isArray(entries)
    ? entries.map((entry) => (typeof entry === 'string' ? { name: entry } : entry))
    : entries
}

const eventsSection = (value: Json | undefined): Json => {
  if (value === undefined || value === null) return { definitions: [] }
  if (!isRecord(value)) return { definitions: namedEvents(value) }
  const own = Object.entries(value).filter(([key]) => EVENT_KEYS.has(key) || isAnnotation(key))
  const rest = Object.entries(value).filter(([key]) => !EVENT_KEYS.has(key) && !isAnnotation(key))
  const definitions = value['definitions'] === undefined ? [] : namedEvents(value['definitions'])
  const named = namedEvents(Object.fromEntries(rest))
  const all = rest.length === 0 ? definitions : [...listed(definitions), ...listed(named)]
  return { ...Object.fromEntries(own), definitions: all }
}

/** `{name, schedule: <cron>, function}`. */
const cronEntry = (entry: Json): Json => {
  if (!isRecord(entry) || entry['schedule'] === undefined) return entry
  const { schedule, ...rest } = entry
  return { ...rest, cron: schedule }
}

const withDefaultModel = (sections: JsonRecord): JsonRecord => {
  const infrastructure = sections['infrastructure']
  if (!isRecord(infrastructure)) return {}
  const { anthropic, integrations } = infrastructure
  const model = isRecord(anthropic) ? (anthropic['default_model'] ?? anthropic['defaultModel']) : undefined
  const defaults = isRecord(sections['defaults']) ? sections['defaults'] : {}
  const { integrations: _, ...rest } = infrastructure
  return {
    infrastructure: rest,
    ...(model === undefined ? {} : { defaults: { model, ...defaults } }),
    ...(isRecord(integrations)
      ? { integrations: { ...integrations, ...(isRecord(sections['integrations']) ? sections['integrations'] : {}) } }
      : {}),
  }
}

/** Machines by the name of their entity. A section that is a single machine becomes a list of one. */
const entitiesIn = (section: Json | undefined): Json | undefined =>
  isRecord(section) && section['states'] === undefined ? namedEntries(section, 'entity') : section

export const outline = (root: JsonRecord, moved: Moved): JsonRecord => {
  const given = withSteps(Object.fromEntries(Object.entries(root).map(([key, value]) => [sectionKey(key), value])))
  const { crons, state_machine: machine, ...sections } = given
  const result: Record<string, Json> = { ...sections, ...withDefaultModel(sections) }
  for (const name of NAMED) if (result[name] !== undefined) result[name] = namedList(result[name])
  result['events'] = eventsSection(sections['events'])
  const machines = [...listed(machine), ...listed(entitiesIn(sections['state_machines']))]
  if (machines.length > 0) result['state_machines'] = machines.map(normalMachine)
  if (sections['database'] !== undefined) result['database'] = normalDatabase(sections['database'])
  if (sections['executors'] !== undefined) result['executors'] = normalExecutors(sections['executors'])
  if (crons !== undefined) {
    const entries = listed(namedList(crons)).map(cronEntry)
    for (const entry of entries)
      if (isRecord(entry) && typeof entry['name'] === 'string')
        moved(['schedules', entry['name']], ['crons', entry['name']])
    result['schedules'] = [...listed(result['schedules']), ...entries]
  }
  if (isRecord(result['infrastructure']))
    moved(['integrations'], root['integrations'] === undefined ? ['infrastructure', 'integrations'] : ['integrations'])
  return result
}

/** The TypeScript spelling of sections is accepted too. */
const sectionKey = (key: string): string => (/^[a-z]+([A-Z][a-z]+)+$/.test(key) ? snakeCase(key) : key)
