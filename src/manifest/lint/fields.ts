/**
 * Checks the fields and names in expressions and templates against what is declared: payloads of triggers, the output of an agent, the data
 * of a person's action.
 *
 * Reports only what is certain: every trigger declares its payload, and none of them has the field. Fields guarded by `has()` are allowed to
 * be absent.
 */
import { mapRules } from '#manifest/yaml/check/each-rule.ts'
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import type { Shape } from '#manifest/yaml/check/shape.ts'
import type { AddFinding, Path } from '#manifest/yaml/finding.ts'
import {
  type ExecutorSection,
  type HandlerEntry,
  handlersOf,
  type Manifest,
  startingTypes,
} from '#manifest/yaml/manifest.ts'
import { celText, namesIn, ROOTS } from '#manifest/yaml/parse/expression.ts'
import { isRecord, type JsonRecord, listed, recordsIn } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'
import { nearest } from '#model/kernel/nearest.ts'
import { outputSchemaOf, payloadSchemaOf } from './schemas.ts'

const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g
const TEMPLATE = /\{\{(.*?)\}\}/gs
const GUARDED = /\bhas\(\s*([\w.]+)\s*\)/g
const PATHS = /(?<![\w.])(payload|event\.data|output)((?:\.[A-Za-z_]\w*)+)/g

/** The fields with which an action's event is filled in, as `payload` and as `task`. */
const DECISION =
  'bundle_id decision modifications feedback decided_by decided_at approved rejected deciders partial fields'.split(' ')

interface Spoken {
  readonly text: string
  readonly path: Path
}

/** Templates and `{expr: …}` anywhere inside. */
const templatesIn = (value: Json, path: Path): readonly Spoken[] => {
  if (typeof value === 'string')
    return [...value.matchAll(TEMPLATE)].map(([, text = '']) => ({ text: celText(text), path }))
  if (value === null || typeof value !== 'object') return []
  if (isRecord(value) && typeof value['expr'] === 'string') return [{ text: celText(value['expr']), path }]
  return Object.entries(value).flatMap(([key, item]) => {
    const name = Array.isArray(value) && isRecord(item) ? (item['name'] ?? item['id']) : undefined
    return templatesIn(item, [...path, typeof name === 'string' ? name : Array.isArray(value) ? Number(key) : key])
  })
}

const spokenIn = (section: ExecutorSection, handler: HandlerEntry): readonly Spoken[] => {
  const base = [section, handler.name]
  const rules: Spoken[] = []
  const { of } = MANIFEST.fields[section] as { readonly of: Shape }
  mapRules(of, handler as Json, base, (text, path) => {
    rules.push({ text, path })
    return text
  })
  return [...rules, ...templatesIn(handler as Json, base)]
}

interface Lack {
  readonly field: string
  readonly known: readonly string[]
}

/** The first part of the path that the schema does not have; null: it has all of them, or the schema is not known. */
const lackIn = (schema: Json | undefined, parts: readonly string[]): Lack | null => {
  const [first, ...rest] = parts
  if (first === undefined || !isRecord(schema)) return null
  const { properties } = schema
  if (!isRecord(properties) || Object.keys(properties).length === 0) return null
  if (!Object.hasOwn(properties, first)) return { field: first, known: Object.keys(properties) }
  return lackIn(properties[first], rest)
}

const pathsIn = (text: string): readonly { readonly root: string; readonly parts: readonly string[] }[] => {
  const plain = text.replaceAll(QUOTED, "''")
  const guards = [...plain.matchAll(GUARDED)].map(([, guarded = '']) => guarded)
  return [...plain.matchAll(PATHS)].flatMap(([whole, root = '', rest = '']) =>
    guards.some((guard) => `${whole}.`.startsWith(`${guard}.`)) ? [] : [{ root, parts: rest.slice(1).split('.') }],
  )
}

const meant = (field: string, known: readonly string[]): string => {
  const near = nearest(field, [...known])
  return near === null ? `it has ${known.join(', ')}` : `did you mean ${near}?`
}

interface World {
  /** The payloads of the events that start the handler, by name; null: its input is not known. */
  readonly payloads: ReadonlyMap<string, Json> | null
  readonly output: Json | undefined
}

const tellLack = (spoken: Spoken, { payloads, output }: World, tell: AddFinding): void => {
  for (const { root, parts } of pathsIn(spoken.text)) {
    const [trigger] = spoken.path.includes('triggers') ? [...(payloads ?? [])] : []
    const given: readonly (readonly [string, Json])[] =
      root === 'output' ? (output === undefined ? [] : [['the output schema', output]]) : [...(payloads ?? [])]
    const lacks = given.map(([name, schema]) => ({ name, lack: lackIn(schema, parts) }))
    const [first] = lacks
    if (first?.lack == null || lacks.some(({ lack }) => lack === null) || (trigger === undefined && given.length === 0))
      continue
    const { field, known } = first.lack
    const names = given.map(([name]) => name).join(', ')
    const message = `${root}.${parts.join('.')}: ${names} ${root === 'output' ? 'has' : 'declares'} no ${field}; ${meant(field, known)}`
    tell({ level: 'warning', code: 'LINT_FIELD_UNKNOWN', message, path: spoken.path })
  }
}

/** In a plan a bare name is a step, the item of a list, or a field of the plan's input. */
const tellScope = (handler: HandlerEntry, spoken: readonly Spoken[], { payloads }: World, tell: AddFinding): void => {
  if (payloads === null) return
  const steps = recordsIn(handler['steps'] as Json | undefined)
  const own = steps.flatMap(({ id, as = 'item' }) => [String(id), String(as)])
  const fields = [...payloads.values()].flatMap((schema) =>
    isRecord(schema) && isRecord(schema['properties']) ? Object.keys(schema['properties']) : [],
  )
  const known = new Set<string>([...ROOTS, ...own, ...fields])
  for (const { text, path } of spoken)
    for (const name of namesIn(text).filter((one) => !known.has(one))) {
      const inScope = [...new Set([...own, ...fields])]
      const message = `${name} is unknown here; expected one of ${inScope.join(', ')}, ${ROOTS.join(', ')}`
      tell({ level: 'warning', code: 'LINT_NAME_UNKNOWN', message, path })
    }
}

/** An action's event contains what was decided; a mistake would only show when a person decides. */
const tellAction = (handler: HandlerEntry, events: ReadonlyMap<string, Json>, tell: AddFinding): void => {
  for (const action of recordsIn(handler['actions'] as Json | undefined)) {
    const path = ['humans', handler.name, 'actions', String(action['name'])]
    const { event_payload: given, emits_event: event } = action
    for (const { text, path: at } of templatesIn(given ?? null, [...path, 'event_payload']))
      for (const { root, parts } of pathsIn(text)) {
        const [field = ''] = parts
        if (root !== 'payload' || DECISION.includes(field)) continue
        const message = `payload.${parts.join('.')}: here payload is the decision, which has ${DECISION.join(', ')}; what people saw is task.context`
        tell({ level: 'warning', code: 'LINT_FIELD_UNKNOWN', message, path: at })
      }
    const schema = typeof event === 'string' ? events.get(event) : undefined
    if (!isRecord(schema) || (given !== undefined && !isRecord(given))) continue
    const sent = isRecord(given) ? Object.keys(given as JsonRecord) : DECISION
    for (const name of listed(schema['required'])
      .map(String)
      .filter((one) => !sent.includes(one))) {
      const message = `${String(event)} requires ${name}, and ${given === undefined ? 'a decision does not have it' : 'event_payload does not give it'}`
      tell({ level: 'warning', code: 'LINT_SCHEMA_MISMATCH', message, path })
    }
  }
}

/** Null: its input is not the data of one event. */
const payloadsOf = (
  handler: HandlerEntry,
  manifest: Manifest,
  events: ReadonlyMap<string, Json>,
): World['payloads'] => {
  const { batch, debounce, fan_in: group } = handler as Readonly<Record<string, Json | undefined>>
  const types = startingTypes(handler, manifest)
  const isGathered =
    batch !== undefined || group !== undefined || (isRecord(debounce) && debounce['mode'] === 'collect')
  if (isGathered || types.length === 0 || handler.triggers.some((one) => one['batch'] !== undefined)) return null
  const known = types.flatMap((type) => {
    const schema = events.get(type)
    return schema === undefined ? [] : [[type, schema] as const]
  })
  return known.length === types.length ? new Map(known) : null
}

/** These have roots of their own. */
const hasOwnRoots = ({ path }: Spoken): boolean =>
  ['actions', 'cancel_on', 'escalation_rules', 'event_payload', 'condition', 'source', 'prompt'].some((key) =>
    path.includes(key),
  )

export const lintFields = (manifest: Manifest, tell: AddFinding): void => {
  const events = new Map(
    manifest.events.definitions.flatMap((event) => {
      const schema = payloadSchemaOf(event)
      return schema === undefined ? [] : [[event.name, schema] as const]
    }),
  )
  for (const { section, handler } of handlersOf(manifest)) {
    const spoken = spokenIn(section, handler).filter((one) => !hasOwnRoots(one))
    const output = section === 'agents' ? outputSchemaOf(handler) : undefined
    const world = { payloads: payloadsOf(handler, manifest, events), output }
    for (const one of spoken) tellLack(one, world, tell)
    if (section === 'plans') tellScope(handler, spoken, world, tell)
    if (section === 'humans') tellAction(handler, events, tell)
  }
}
