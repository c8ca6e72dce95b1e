/**
 * A manifest in its long form, as typed data: the source of lint, graph, types and the system.
 *
 * Owns the types. A value is only a Manifest after the check has verified its shape.
 */
import { LIFECYCLE } from '#model/event/lifecycle.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import { isRecord, type JsonRecord, listed, recordsIn } from './record.ts'

export interface EventEntry {
  readonly name: string
  readonly payload?: Json
  readonly schema?: Json
  readonly source?: 'machine' | 'human' | 'external'
  readonly after?: string
  readonly action?: string
  readonly terminal?: boolean
  /** Programs may send it, too, although a person's decision emits it. */
  readonly open?: boolean
  readonly additional?: boolean
  readonly [key: string]: unknown
}

export interface TriggerEntry {
  readonly kind: string
  readonly event?: string
  readonly filter?: string
  readonly [key: string]: unknown
}

export interface EmitEntry {
  readonly event: string
  readonly on: string
  readonly when?: string
  readonly delay?: string
  readonly data?: Json
  readonly [key: string]: unknown
}

/** An agent, a function, a human or a plan. */
export interface HandlerEntry {
  readonly name: string
  readonly triggers: readonly TriggerEntry[]
  readonly emits?: readonly EmitEntry[]
  readonly [key: string]: unknown
}

export interface NamedEntry {
  readonly name: string
  readonly [key: string]: unknown
}

export interface StateEntry {
  readonly name: string
  readonly transitions_to?: readonly string[]
  readonly terminal?: boolean
}

export interface MachineEntry {
  readonly entity: string
  readonly initial: string
  readonly states: readonly StateEntry[]
  readonly enforce?: 'warn' | 'off' | 'strict'
}

export interface Manifest {
  readonly product: { readonly name: string; readonly version?: string; readonly tz?: string }
  readonly defaults?: JsonRecord
  readonly events: {
    readonly namespace?: string
    readonly open?: boolean
    readonly definitions: readonly EventEntry[]
  }
  readonly agents?: readonly HandlerEntry[]
  readonly functions?: readonly HandlerEntry[]
  readonly humans?: readonly HandlerEntry[]
  readonly plans?: readonly HandlerEntry[]
  readonly chats?: readonly NamedEntry[]
  readonly schedules?: readonly NamedEntry[]
  readonly webhooks?: readonly NamedEntry[]
  readonly endpoints?: readonly (NamedEntry & { readonly events?: unknown })[]
  readonly state_machines?: readonly MachineEntry[]
  readonly modules?: readonly NamedEntry[]
  readonly pools?: readonly NamedEntry[]
  readonly queues?: readonly NamedEntry[]
  readonly executors?: readonly NamedEntry[]
  readonly [section: string]: unknown
}

/** A part of an entry as plain data. */
export const field = (entry: object, key: string): Json | undefined => (entry as Record<string, Json | undefined>)[key]

export const EXECUTOR_SECTIONS = ['agents', 'functions', 'humans', 'plans'] as const
export type ExecutorSection = (typeof EXECUTOR_SECTIONS)[number]

/** The modality of each section's handlers: their lifecycle events have that prefix. */
export const MODALITY_OF: Readonly<Record<ExecutorSection, Modality>> = {
  agents: 'agent',
  functions: 'workflow',
  humans: 'human',
  plans: 'workflow',
}

export interface Placed {
  readonly section: ExecutorSection
  readonly handler: HandlerEntry
}

/** Every handler, with its section. */
export const handlersOf = (manifest: Manifest): readonly Placed[] =>
  EXECUTOR_SECTIONS.flatMap((section) => (manifest[section] ?? []).map((handler) => ({ section, handler })))

interface FanIn {
  readonly primary: string
  readonly wait_for: readonly string[]
}

export interface Route {
  readonly emit?: string
  readonly then?: string | readonly string[]
}

interface Routing {
  readonly routes: Readonly<Record<string, Route>>
  readonly default_route?: Route
}

/** The types that start a handler. */
export const startingTypes = (handler: HandlerEntry, manifest: Manifest): readonly string[] => {
  const group = handler['fan_in'] as FanIn | undefined
  const members = group === undefined ? [] : [group.primary, ...group.wait_for]
  const direct = handler.triggers.flatMap((trigger) => {
    if (trigger.event !== undefined) return trigger.event
    const webhook = manifest.webhooks?.find(({ name }) => name === trigger['webhook'])
    return typeof webhook?.['emits'] === 'string' ? webhook['emits'] : []
  })
  return [...new Set([...direct, ...members])]
}

/** The types that a handler waits for while it runs. */
export const awaitedBy = (handler: HandlerEntry): readonly string[] =>
  listed(field(handler, 'waits')).filter((type): type is string => typeof type === 'string')

/** The types that end runs of a handler. */
export const endedBy = (handler: HandlerEntry): readonly string[] =>
  listed(field(handler, 'cancel_on')).flatMap((rule) =>
    isRecord(rule) && typeof rule['event'] === 'string' ? rule['event'] : [],
  )

/** The queue that a handler processes. */
export const readsQueue = (handler: HandlerEntry): string | null => {
  const source = field(handler, 'source')
  return isRecord(source) && typeof source['queue'] === 'string' ? source['queue'] : null
}

export interface Outgoing {
  readonly event: string
  /** The condition in words: a filter, a delay, a route, an action. */
  readonly label: string
}

const routesOf = (handler: HandlerEntry): readonly (readonly [string, Route])[] => {
  const routing = handler['routing'] as Routing | undefined
  if (routing === undefined) return []
  const otherwise = routing.default_route === undefined ? [] : [['otherwise', routing.default_route] as const]
  return [...Object.entries(routing.routes), ...otherwise]
}

/** Other handlers that a route invokes. */
export const invokedBy = (handler: HandlerEntry): readonly string[] =>
  routesOf(handler).flatMap(([, route]) => route.then ?? [])

const actionEvents = (handler: HandlerEntry): readonly Outgoing[] =>
  recordsIn(field(handler, 'actions')).flatMap(({ name, emits_event: event }) =>
    typeof event === 'string' ? { event, label: String(name) } : [],
  )

/** The types that a handler sends. */
export const sentBy = (section: ExecutorSection, handler: HandlerEntry): readonly Outgoing[] => [
  ...(handler.emits ?? []).map(({ event, on, when, delay }) => ({
    event,
    label: [on === 'success' ? '' : `on ${on}`, when ?? '', delay === undefined ? '' : `after ${delay}`]
      .filter(Boolean)
      .join(', '),
  })),
  ...routesOf(handler).flatMap(([value, { emit }]) => (emit === undefined ? [] : { event: emit, label: value })),
  ...(section === 'humans' ? actionEvents(handler) : []),
]

/** The lifecycle events that a handler emits, among those that have listeners. */
export const lifeOf = (section: ExecutorSection, heard: ReadonlySet<string>): readonly string[] =>
  LIFECYCLE[MODALITY_OF[section]].filter((type) => heard.has(type))
