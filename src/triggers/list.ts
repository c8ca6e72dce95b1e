/**
 * Lists every trigger of a system: which function starts by what.
 *
 * Owns the wording of the list. Reads only a definition, never the ledger or the outside.
 */
import { endSource } from '#manifest/define/sources.ts'
import type { Filter, System } from '#manifest/define/system.ts'

export interface TriggerRow {
  readonly kind: 'event' | 'after' | 'signal' | 'file' | 'table' | 'condition' | 'webhook'
  /** What it watches: an event type, a path, an expression. */
  readonly name: string
  /** The function that starts; null for a webhook, which sends an event. */
  readonly handler: string | null
  readonly event: string
  readonly filter: string | null
}

const kindOf = (
  { sources, functions }: System,
  { from }: Filter,
): Pick<TriggerRow, 'kind'> & { readonly name: string | null } => {
  if (from === null) return { kind: 'event', name: null }
  const source = sources.get(from)
  if (source !== undefined) return { kind: source.kind, name: source.name }
  const upstream = [...functions.keys()].find((name) => endSource(name) === from)
  return { kind: 'after', name: upstream ?? from }
}

export const listTriggers = (system: System): readonly TriggerRow[] => {
  const heard = [...system.listeners].flatMap(([event, listeners]) =>
    listeners.flatMap(({ handler, filters }) =>
      filters.map((filter): TriggerRow => {
        const { kind, name } = kindOf(system, filter)
        return {
          kind,
          name: name ?? event,
          handler: handler.name,
          event,
          filter: filter.text === '' ? null : filter.text,
        }
      }),
    ),
  )
  const delivered = [...system.webhooks.values()].map(
    ({ name, emits }): TriggerRow => ({ kind: 'webhook', name, handler: null, event: emits, filter: null }),
  )
  return [...heard, ...delivered]
}
