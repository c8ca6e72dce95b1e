/**
 * The senders and listeners of each event of a manifest: the one analysis that lint and graph share.
 *
 * Owns what counts as a producer: emits, routes, actions of people, webhooks, schedules, lifecycle, and people or others outside.
 */
import type { Path } from '#manifest/yaml/finding.ts'
import {
  awaitedBy,
  endedBy,
  field,
  type HandlerEntry,
  handlersOf,
  lifeOf,
  type Manifest,
  sentBy,
  startingTypes,
} from '#manifest/yaml/manifest.ts'
import { isRecord, recordsIn } from '#manifest/yaml/record.ts'
import { isReservedType } from '#model/event/event.ts'

export interface Traffic {
  /** Names of the handlers that listen to a type. */
  readonly heard: ReadonlyMap<string, readonly string[]>
  /** The senders of a type: handlers by name, `schedule:x`, `webhook:x`. */
  readonly sent: ReadonlyMap<string, readonly string[]>
  /** Where a type is first named by a listener, and by a sender. */
  readonly heardAt: ReadonlyMap<string, Path>
  readonly sentAt: ReadonlyMap<string, Path>
}

class Book {
  readonly who = new Map<string, string[]>()
  readonly at = new Map<string, Path>()

  /** Without a path, because the manifest does not write it anywhere. */
  note(type: string, who: string): void {
    this.who.set(type, [...(this.who.get(type) ?? []), who])
  }

  enter(type: string, who: string, path: Path): void {
    this.note(type, who)
    if (!this.at.has(type)) this.at.set(type, path)
  }
}

/** The types that the steps of a plan wait for. */
const plannedWaits = (handler: HandlerEntry): readonly (readonly [string, Path])[] =>
  recordsIn(field(handler, 'steps')).flatMap((step): (readonly [string, Path])[] => {
    const base = ['steps', String(step['id'])]
    const wait = step['wait_config']
    const [, before] = /^event:(.+)$/.exec(String(step['trigger'] ?? '')) ?? []
    return [
      ...(isRecord(wait) && typeof wait['until_event'] === 'string'
        ? [[wait['until_event'], [...base, 'wait_config', 'until_event']] as const]
        : []),
      ...(before === undefined ? [] : [[before.trim(), [...base, 'trigger']] as const]),
    ]
  })

export const trafficOf = (manifest: Manifest): Traffic => {
  const heard = new Book()
  const sent = new Book()
  for (const { section, handler } of handlersOf(manifest)) {
    const { name } = handler
    for (const type of startingTypes(handler, manifest)) heard.enter(type, name, [section, name, 'triggers', type])
    for (const type of awaitedBy(handler)) heard.enter(type, name, [section, name, 'waits', type])
    for (const [type, path] of plannedWaits(handler)) heard.enter(type, name, [section, name, ...path])
    for (const type of endedBy(handler)) heard.enter(type, name, [section, name, 'cancel_on'])
    const key = section === 'humans' ? 'actions' : 'emits'
    for (const { event } of sentBy(section, handler)) sent.enter(event, name, [section, name, key, event])
  }
  for (const { name, emits } of manifest.webhooks ?? [])
    if (typeof emits === 'string') sent.enter(emits, `webhook:${name}`, ['webhooks', name, 'emits'])
  for (const { name, emit } of manifest.schedules ?? [])
    if (typeof emit === 'string') sent.enter(emit, `schedule:${name}`, ['schedules', name, 'emit'])
  for (const { name, after } of manifest.events.definitions)
    if (after !== undefined) heard.enter(after, `human:${name}`, ['events', 'definitions', name, 'after'])
  for (const { name, events } of manifest.endpoints ?? [])
    for (const type of Array.isArray(events) ? events : [])
      if (typeof type === 'string') heard.enter(type, `endpoint:${name}`, ['endpoints', name, 'events'])
  const types = new Set(heard.who.keys())
  for (const { section, handler } of handlersOf(manifest))
    for (const type of lifeOf(section, types)) sent.note(type, handler.name)
  return { heard: heard.who, sent: sent.who, heardAt: heard.at, sentAt: sent.at }
}

/** No handler inside needs to send it. */
export const comesFromOutside = (manifest: Manifest, type: string): boolean => {
  const source = manifest.events.definitions.find(({ name }) => name === type)?.source
  return source === 'human' || source === 'external' || isReservedType(type)
}
