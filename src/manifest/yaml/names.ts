/**
 * Names in a manifest: each is unique, and reserved event types are neither declared nor sent.
 *
 * Owns uniqueness across the four handler sections and within each section. Spelling is checked elsewhere (check.ts).
 */
import { NAME } from '#manifest/yaml/check/check.ts'
import { isEventType, isReservedType } from '#model/event/event.ts'
import type { AddFinding, Path } from './finding.ts'
import { EXECUTOR_SECTIONS, handlersOf, type Manifest, type NamedEntry, sentBy } from './manifest.ts'

interface Named {
  readonly name: string
  readonly path: Path
}

const LISTS = [
  'chats',
  'schedules',
  'webhooks',
  'endpoints',
  'modules',
  'pools',
  'queues',
  'session_pools',
  'executors',
] as const

const namesIn = (section: string, entries: readonly NamedEntry[]): readonly Named[] =>
  // By index: of two with the same name the second is meant.
  entries.map(({ name }, i) => ({ name, path: [section, i] }))

const tellTwins = (all: readonly Named[], words: string, tell: AddFinding): void => {
  const first = new Map<string, Path>()
  for (const { name, path } of all) {
    const other = first.get(name)
    if (other === undefined) {
      first.set(name, path)
      continue
    }
    const where = other[0] === path[0] ? '' : `, the other one under ${String(other[0])}`
    const message = `two ${words} are named ${name}${where}`
    tell({ level: 'error', code: 'MANIFEST_DUPLICATE_NAME', message, path })
  }
}

const tellReserved = (manifest: Manifest, tell: AddFinding): void => {
  const sent = handlersOf(manifest).flatMap(({ section, handler }) =>
    sentBy(section, handler).map(({ event }) => ({ name: event, path: [section, handler.name, 'emits', event] })),
  )
  const declared = manifest.events.definitions.map(({ name }) => ({ name, path: ['events', 'definitions', name] }))
  const hooked = (manifest.webhooks ?? []).flatMap(({ name, emits }) =>
    typeof emits === 'string' ? { name: emits, path: ['webhooks', name, 'emits'] } : [],
  )
  for (const { name, path } of [...declared, ...sent, ...hooked])
    if (isReservedType(name)) {
      const message = `only the system sends ${name}: listen to it, but do not declare or send it`
      tell({ level: 'error', code: 'EVENT_RESERVED', message, path })
    }
}

export const checkNames = (manifest: Manifest, tell: AddFinding): void => {
  const hands = EXECUTOR_SECTIONS.flatMap((section) => namesIn(section, manifest[section] ?? []))
  tellTwins(hands, 'handlers', tell)
  tellTwins(
    manifest.events.definitions.map(({ name }, i) => ({ name, path: ['events', 'definitions', i] })),
    'events',
    tell,
  )
  for (const section of LISTS)
    tellTwins(namesIn(section, (manifest[section] ?? []) as readonly NamedEntry[]), section, tell)
  tellReserved(manifest, tell)
}

const firstOfEach = <Entry extends { readonly name: string }>(
  entries: readonly Entry[],
  isGood: (name: string) => boolean,
  taken: Set<string>,
): Entry[] => entries.filter(({ name }) => isGood(name) && !taken.has(name) && taken.add(name))

const isFreeType = (name: string): boolean => isEventType(name) && !isReservedType(name)

/** Keeps only the first of each name and no refused ones, so that a manifest with such names can be checked further. */
export const withGoodNames = (manifest: Manifest): Manifest => {
  const hands = new Set<string>()
  const section = (name: string, taken: Set<string>) => {
    const entries = manifest[name] as readonly NamedEntry[] | undefined
    return entries === undefined ? {} : { [name]: firstOfEach(entries, (one) => NAME.test(one), taken) }
  }
  const definitions = firstOfEach(manifest.events.definitions, isFreeType, new Set())
  return Object.assign(
    { ...manifest, events: { ...manifest.events, definitions } },
    ...EXECUTOR_SECTIONS.map((name) => section(name, hands)),
    ...LISTS.map((name) => section(name, new Set())),
  ) as Manifest
}
