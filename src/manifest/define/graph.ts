/**
 * The event graph of a manifest: events, the handlers that receive and send them, schedules, webhooks, people, states. Drawn before anything
 * runs.
 *
 * Owns nodes and edges as data, and the Mermaid text made of them. Names are data too: nothing in one can change the drawing.
 */
import { isolatedFolder, moduleOf } from '#manifest/lint/modules.ts'
import type { Finding } from '#manifest/yaml/finding.ts'
import {
  awaitedBy,
  type ExecutorSection,
  endedBy,
  field,
  handlersOf,
  invokedBy,
  lifeOf,
  type Manifest,
  sentBy,
  startingTypes,
} from '#manifest/yaml/manifest.ts'

export type NodeKind = 'event' | 'agent' | 'function' | 'human' | 'plan' | 'schedule' | 'webhook' | 'state'

export interface GraphNode {
  readonly id: string
  readonly kind: NodeKind
  readonly name: string
  /** Null for nodes that are not handlers. */
  readonly modality: 'agent' | 'human' | 'workflow' | null
  /** Codes of the findings about it. */
  readonly findings: readonly string[]
  /** Where the code of a module's function runs: in its own process or not; null: it is in no module. */
  readonly isolation: 'process' | 'none' | null
}

export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly kind: 'hears' | 'sends' | 'starts' | 'moves'
  readonly label: string
}

export interface Graph {
  readonly name: string
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}

const KINDS: Readonly<Record<ExecutorSection, NodeKind>> = {
  agents: 'agent',
  functions: 'function',
  humans: 'human',
  plans: 'plan',
}
const MODALITIES: Readonly<Partial<Record<NodeKind, GraphNode['modality']>>> = {
  agent: 'agent',
  human: 'human',
  function: 'workflow',
  plan: 'workflow',
}

/** Nodes by their ids, edges in the order they were drawn. */
export class Drawing {
  readonly nodes = new Map<string, GraphNode>()
  readonly edges: GraphEdge[] = []
  readonly #codes: ReadonlyMap<string, readonly string[]>
  readonly #isolationOf: (name: string) => GraphNode['isolation']

  constructor(
    isolationOf: (name: string) => GraphNode['isolation'],
    codes: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {
    this.#isolationOf = isolationOf
    this.#codes = codes
  }

  node(kind: NodeKind, name: string): string {
    const id = `${kind}:${name}`
    if (!this.nodes.has(id)) {
      const findings = this.#codes.get(id) ?? []
      const isolation = kind === 'function' ? this.#isolationOf(name) : null
      this.nodes.set(id, { id, kind, name, modality: MODALITIES[kind] ?? null, findings, isolation })
    }
    return id
  }

  edge(from: string, to: string, kind: GraphEdge['kind'], label = ''): void {
    this.edges.push({ from, to, kind, label })
  }
}

const drawHands = (manifest: Manifest, drawing: Drawing): void => {
  const kinds = new Map(handlersOf(manifest).map(({ section, handler }) => [handler.name, KINDS[section]]))
  const hands = handlersOf(manifest)
  const heard = new Set(hands.flatMap(({ handler }) => [...startingTypes(handler, manifest), ...awaitedBy(handler)]))
  for (const { section, handler } of hands) {
    const id = drawing.node(KINDS[section], handler.name)
    for (const type of startingTypes(handler, manifest)) {
      const filter = handler.triggers.find(({ event }) => event === type)?.filter ?? ''
      drawing.edge(drawing.node('event', type), id, 'hears', filter)
    }
    for (const { event, label } of sentBy(section, handler))
      drawing.edge(id, drawing.node('event', event), 'sends', label)
    for (const type of awaitedBy(handler)) drawing.edge(drawing.node('event', type), id, 'hears', 'waits')
    for (const type of endedBy(handler)) drawing.edge(drawing.node('event', type), id, 'hears', 'cancel_on')
    for (const type of lifeOf(section, heard)) drawing.edge(id, drawing.node('event', type), 'sends', 'lifecycle')
    const after = handler.triggers.flatMap((trigger) => (typeof trigger['after'] === 'string' ? trigger['after'] : []))
    for (const name of after) drawing.edge(drawing.node(kinds.get(name) ?? 'function', name), id, 'starts', 'after')
    for (const name of invokedBy(handler)) drawing.edge(id, drawing.node(kinds.get(name) ?? 'function', name), 'starts')
  }
}

/** A person whose decision is an event, declared only by the event. */
const drawImpliedHumans = (manifest: Manifest, drawing: Drawing): void => {
  for (const { name, after, action } of manifest.events.definitions) {
    if (after === undefined) continue
    const person = drawing.node('human', `after ${after}`)
    const heard = drawing.node('event', after)
    if (!drawing.edges.some(({ from, to }) => from === heard && to === person)) drawing.edge(heard, person, 'hears')
    drawing.edge(person, drawing.node('event', name), 'sends', action ?? '')
  }
}

const drawStarts = (manifest: Manifest, drawing: Drawing): void => {
  for (const schedule of manifest.schedules ?? []) {
    const timing = ['cron', 'every', 'at', 'in'].map((key) => field(schedule, key)).find((value) => value !== undefined)
    const id = drawing.node('schedule', schedule.name)
    for (const [key, kind] of [
      ['function', 'function'],
      ['agent', 'agent'],
      ['plan', 'plan'],
      ['emit', 'event'],
    ] as const) {
      const name = field(schedule, key)
      if (typeof name === 'string') drawing.edge(id, drawing.node(kind, name), 'starts', String(timing ?? ''))
    }
  }
  for (const { name, emits } of manifest.webhooks ?? [])
    if (typeof emits === 'string') drawing.edge(drawing.node('webhook', name), drawing.node('event', emits), 'sends')
}

const drawStates = (manifest: Manifest, drawing: Drawing): void => {
  for (const { entity, states } of manifest.state_machines ?? [])
    for (const { name, transitions_to: next = [] } of states) {
      const id = drawing.node('state', `${entity}.${name}`)
      for (const to of next) drawing.edge(id, drawing.node('state', `${entity}.${to}`), 'moves')
    }
}

const HAND_OF: Readonly<Record<string, NodeKind>> = { ...KINDS, schedules: 'schedule', webhooks: 'webhook' }

/** The node that a finding is about: the one with the longest name that the finding's path begins with. */
export const nodeOfFinding = ({ path }: Pick<Finding, 'path'>, events: Iterable<string>): string => {
  const [section = '', ...rest] = path.split('.')
  const kind = HAND_OF[section]
  if (kind !== undefined) return `${kind}:${rest[0] ?? ''}`
  if (section !== 'events') return ''
  const named = [...events].filter((name) => `${path}.`.startsWith(`events.definitions.${name}.`))
  return `event:${named.sort((a, b) => b.length - a.length)[0] ?? ''}`
}

const codesByNode = (manifest: Manifest, findings: readonly Finding[]): ReadonlyMap<string, readonly string[]> => {
  const codes = new Map<string, string[]>()
  const events = manifest.events.definitions.map(({ name }) => name)
  for (const finding of findings) {
    const id = nodeOfFinding(finding, events)
    codes.set(id, [...new Set([...(codes.get(id) ?? []), finding.code])])
  }
  return codes
}

export const graphOf = (manifest: Manifest, findings: readonly Finding[] = []): Graph => {
  const modules = new Map((manifest.functions ?? []).map((handler) => [handler.name, moduleOf(manifest, handler)]))
  const isolationOf = (name: string): GraphNode['isolation'] => {
    const module = modules.get(name)
    if (module === undefined) return null
    return isolatedFolder(module) === null ? 'none' : 'process'
  }
  const drawing = new Drawing(isolationOf, codesByNode(manifest, findings))
  for (const { name } of manifest.events.definitions) drawing.node('event', name)
  drawHands(manifest, drawing)
  drawImpliedHumans(manifest, drawing)
  drawStarts(manifest, drawing)
  drawStates(manifest, drawing)
  return { name: manifest.product.name, nodes: [...drawing.nodes.values()], edges: drawing.edges }
}
