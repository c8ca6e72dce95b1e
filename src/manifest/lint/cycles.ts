/**
 * Finds cycles of handlers that start each other without anything that limits their rate or asks a person.
 *
 * Owns the search: strongly connected groups over handlers that may run freely. A warning, never an error: `emits` is a permission.
 */
import type { AddFinding } from '#manifest/yaml/finding.ts'
import {
  field,
  type HandlerEntry,
  handlersOf,
  invokedBy,
  type Manifest,
  MODALITY_OF,
  sentBy,
  startingTypes,
} from '#manifest/yaml/manifest.ts'
import { LIFECYCLE } from '#model/event/lifecycle.ts'

type Edges = ReadonlyMap<string, readonly string[]>

const isHeldBack = (handler: HandlerEntry): boolean =>
  ['rate_limit', 'throttle'].some((key) => handler[key] !== undefined) ||
  Number(field(handler, 'allow_reentry') ?? 0) > 0

/** Every run emits these; failures and escalations are rare enough that the same handler may listen to them. */
const ALWAYS_TOLD = /\.(started|completed)$/

/** Listening to the lifecycle of others starts a handler: only triggers without a filter count, because a filter may select whose runs. */
const startsOnWork = ({ triggers }: HandlerEntry, type: string): boolean =>
  ALWAYS_TOLD.test(type) && triggers.some(({ event, filter }) => event === type && filter === undefined)

const edgesOf = (manifest: Manifest): Edges => {
  const free = handlersOf(manifest).filter(({ section, handler }) => section !== 'humans' && !isHeldBack(handler))
  const listeners = new Map<string, string[]>()
  for (const { handler } of free)
    for (const type of startingTypes(handler, manifest))
      listeners.set(type, [...(listeners.get(type) ?? []), handler.name])
  const names = new Set(free.map(({ handler }) => handler.name))
  return new Map(
    free.map(({ section, handler }) => {
      const sent = sentBy(section, handler).flatMap(({ event }) => listeners.get(event) ?? [])
      const told = LIFECYCLE[MODALITY_OF[section]].flatMap((type) =>
        free.filter((other) => startsOnWork(other.handler, type)).map((other) => other.handler.name),
      )
      const invoked = invokedBy(handler).filter((name) => names.has(name))
      return [handler.name, [...new Set([...sent, ...told, ...invoked])]]
    }),
  )
}

/** The shortest path from a handler back to itself; null if there is none. */
const wayBack = (edges: Edges, from: string): readonly string[] | null => {
  const cameFrom = new Map<string, string>()
  const queue = [from]
  for (const at of queue)
    for (const next of edges.get(at) ?? []) {
      if (next === from) return pathTo(cameFrom, from, at)
      if (cameFrom.has(next)) continue
      cameFrom.set(next, at)
      queue.push(next)
    }
  return null
}

const pathTo = (cameFrom: ReadonlyMap<string, string>, from: string, to: string): readonly string[] => {
  const path = [to]
  for (let at = to; at !== from; at = path[0] as string) path.unshift(cameFrom.get(at) as string)
  return path
}

export const lintCycles = (manifest: Manifest, tell: AddFinding): void => {
  const edges = edgesOf(manifest)
  const sections = new Map(handlersOf(manifest).map(({ section, handler }) => [handler.name, section]))
  const seen = new Set<string>()
  for (const name of edges.keys()) {
    if (seen.has(name)) continue
    const circle = wayBack(edges, name)
    if (circle === null) continue
    for (const member of circle) seen.add(member)
    const message = `${[...circle, name].join(' → ')} is a cycle: it stops after one round`
    const path = [sections.get(name) ?? 'functions', name]
    tell({ level: 'warning', code: 'LINT_CYCLE', message, path, on: 'key' })
  }
}
