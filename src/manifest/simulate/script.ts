/**
 * What a rehearsal needs from a manifest: for each event the data that its listeners require, for each handler what it may send.
 *
 * Owns the analysis of the manifest. Never runs anything: cast.ts executes it, report.ts reports what was seen.
 */
import { impliedHumans } from '#manifest/yaml/human-source.ts'
import {
  type EmitEntry,
  type EventEntry,
  type ExecutorSection,
  field,
  type HandlerEntry,
  handlersOf,
  type Manifest,
  type Route,
  startingTypes,
} from '#manifest/yaml/manifest.ts'
import { payloadSchema } from '#manifest/yaml/parse/payload.ts'
import { isRecord, recordsIn } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

export interface Part {
  readonly section: ExecutorSection
  readonly handler: HandlerEntry
}

interface ImpliedAction {
  readonly name: string
  readonly emitsEvent?: string
}

/** People who are only implied by an event, as if they had been declared. */
const impliedParts = (manifest: Manifest): readonly Part[] =>
  impliedHumans(manifest).map(({ name, options }) => ({
    section: 'humans',
    handler: {
      name,
      triggers: (options.triggers ?? []).map((event) => ({ kind: 'event', event: String(event) })),
      actions: (options.actions as readonly ImpliedAction[]).map((action) => ({
        name: action.name,
        emits_event: action.emitsEvent,
      })),
    },
  }))

export const partsIn = (manifest: Manifest): readonly Part[] => [...handlersOf(manifest), ...impliedParts(manifest)]

const ANY: Json = { type: 'object', properties: { id: { type: 'string' } } }

const schemaOf = (event: EventEntry | undefined): Json => {
  if (isRecord(event?.schema)) return event.schema
  if (event?.payload === undefined || event.payload === null) return ANY
  return payloadSchema(event.payload, event.additional ?? true, [], () => undefined)
}

export const eventSchema = (manifest: Manifest, type: string): Json =>
  schemaOf(manifest.events.definitions.find(({ name }) => name === type))

interface Routing {
  readonly route_on: string
  readonly routes: Readonly<Record<string, Route>>
  readonly default_route?: Route
}

export const routingOf = (handler: HandlerEntry): Routing | null => (handler['routing'] as Routing | undefined) ?? null

const quoted = (key: string): string => JSON.stringify(key)

/** The conditions on an event's data under which one listener is started, one for each of its routes. */
const conditionsOf = (handler: HandlerEntry, type: string): readonly string[] => {
  const filter = handler.triggers.find(({ event }) => event === type)?.filter
  const routing = routingOf(handler)
  const keys = Object.keys(routing?.routes ?? {}).map((key) => `string(${routing?.route_on}) == ${quoted(key)}`)
  const others = routing?.default_route === undefined || keys.length === 0 ? [] : [`!(${keys.join(' || ')})`]
  const routes = [...keys, ...others]
  if (routes.length === 0) return filter === undefined ? [] : [filter]
  return routes.map((route) => (filter === undefined ? route : `(${filter}) && (${route})`))
}

/** Every condition that a listener to this type puts on its data. */
export const wantedOf = (manifest: Manifest, parts: readonly Part[], type: string): readonly string[] => {
  const listeners = parts.filter(({ handler }) => startingTypes(handler, manifest).includes(type))
  return [...new Set(listeners.flatMap(({ handler }) => conditionsOf(handler, type)))]
}

export interface Line {
  readonly event: string
  readonly when: string | null
  readonly delay: string | null
  readonly data: Json | null
  /** The action or the route that sends it; null: the handler itself. */
  readonly by: string | null
}

const lineOf = ({ event, when, delay, data }: EmitEntry): Line => ({
  event,
  when: when ?? null,
  delay: delay ?? null,
  data: data ?? null,
  by: null,
})

/** What a handler may send when it ends. */
export const linesOf = ({ section, handler }: Part): readonly Line[] => {
  const actions = section === 'humans' ? recordsIn(field(handler, 'actions')) : []
  return [
    ...(handler.emits ?? []).map(lineOf),
    ...actions.flatMap(({ name, emits_event: event }) =>
      typeof event === 'string' ? { event, when: null, delay: null, data: null, by: String(name) } : [],
    ),
  ]
}

/** The names of a person's actions, including those that send nothing. */
export const actionsOf = ({ section, handler }: Part): readonly string[] => {
  if (section !== 'humans') return []
  const given = field(handler, 'actions')
  const actions = Array.isArray(given) ? given : ['approve', 'reject']
  return actions.map((action) => (isRecord(action) ? String(action['name']) : String(action)))
}
