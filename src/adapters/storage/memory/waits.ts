/**
 * Index of open waits, looked up by the contents of an event.
 *
 * Owns how an event matches a wait: same tenant and type, and either no path or the same value at that path.
 */
import type { Event } from '#model/event/event.ts'
import type { StreamId, TenantId } from '#model/kernel/ids.ts'
import { at, canonical } from '#model/kernel/json.ts'

export interface Wait {
  readonly tenant: TenantId
  readonly stream: StreamId
  readonly step: string
  readonly type: string
  readonly path: string
  readonly value: string
}

type ByValue = Map<string, Set<Wait>>

const ON_TYPE_ALONE = ''
const topic = (tenant: TenantId, type: string): string => `${tenant}\n${type}`

export class Waits {
  readonly #byPath = new Map<string, Map<string, ByValue>>()

  add(wait: Wait): void {
    const paths = this.#byPath.get(topic(wait.tenant, wait.type)) ?? new Map<string, ByValue>()
    const values = paths.get(wait.path) ?? new Map<string, Set<Wait>>()
    const waits = values.get(wait.value) ?? new Set<Wait>()
    waits.add(wait)
    values.set(wait.value, waits)
    paths.set(wait.path, values)
    this.#byPath.set(topic(wait.tenant, wait.type), paths)
  }

  remove(wait: Wait): void {
    const paths = this.#byPath.get(topic(wait.tenant, wait.type))
    const values = paths?.get(wait.path)
    const waits = values?.get(wait.value)
    waits?.delete(wait)
    if (waits?.size === 0) values?.delete(wait.value)
    if (values?.size === 0) paths?.delete(wait.path)
  }

  /** The streams that wait for this event, each once. */
  matching(event: Event): ReadonlySet<StreamId> {
    const streams = new Set<StreamId>()
    for (const [path, values] of this.#byPath.get(topic(event.tenant, event.type)) ?? []) {
      const found = path === ON_TYPE_ALONE ? undefined : at(event.data, path)
      if (path !== ON_TYPE_ALONE && found === undefined) continue
      const value = found === undefined ? ON_TYPE_ALONE : canonical(found)
      for (const wait of values.get(value) ?? []) streams.add(wait.stream)
    }
    return streams
  }
}
