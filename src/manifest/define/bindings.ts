/**
 * Binds the triggers of handlers to the event types that start them.
 *
 * Owns what a trigger means before anything runs. Which event starts a run is the engine's (route.ts).
 */
import { invalidAt } from '#manifest/expressions/ranges.ts'
import { compileRule } from '#manifest/expressions/rules.ts'
import { hasOwnFlow, type NamedTriggerFlow } from '#manifest/flow/flow.ts'
import type { CancelSource } from '#model/event/cancel-on.ts'
import { isEventType } from '#model/event/event.ts'
import type { EventTrigger, WatchTrigger } from '#model/event/watch.ts'
import type { FanInSource } from '#model/flow/policies/flow-source.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Rule } from '#model/kernel/rule.ts'
import type { TriggerSource } from '#model/workflow/function-source.ts'
import { isWatchTrigger, normaliseTrigger, type SourceDefinition } from './sources.ts'
import type { Filter, FunctionDefinition, Listener } from './system.ts'

/** The part of a handler that is bound, whatever its modality. */
interface Triggered {
  readonly name: string
  readonly options: {
    readonly trigger?: string | TriggerSource
    readonly triggers?: readonly (string | TriggerSource)[]
    readonly fanIn?: FanInSource
    readonly waits?: readonly string[]
    readonly cancelOn?: readonly CancelSource[]
  }
}

/** A fan-in listens to its members, in addition to its other triggers. */
export const triggersOf = (source: Triggered): readonly TriggerSource[] => {
  const { trigger, triggers = [], fanIn } = source.options
  const members = fanIn === undefined ? [] : [fanIn.primary, ...fanIn.waitFor]
  const named = trigger === undefined ? triggers : [trigger, ...triggers]
  const heard = new Set(named.map((entry) => (typeof entry === 'string' ? entry : 'event' in entry ? entry.event : '')))
  const all = [...named, ...members.filter((type) => !heard.has(type))]
  return all.map((entry) => (typeof entry === 'string' ? { event: entry } : entry))
}

interface Bound {
  readonly types: readonly string[]
  readonly filter: Filter
  readonly watch: SourceDefinition | null
}

/** Only triggers with flow control are counted: a name must not change when a plain trigger is added. */
const flowName = (number: number): string => `trigger ${number}`

export const ownFlows = (source: Triggered): readonly NamedTriggerFlow[] =>
  triggersOf(source)
    .filter(hasOwnFlow)
    .map((own, i) => ({ name: flowName(i + 1), own }))

const bindEvent = ({ event, filter }: EventTrigger, path: string): Bound => {
  if (!isEventType(event)) throw invalidAt(path, `"${event}" is not an event type`)
  const rule = filter === undefined ? null : compileRule(filter)
  return { types: [event], filter: { text: filter ?? '', rule, from: null }, watch: null }
}

/** The status of an ended run is checked before the author's own filter. */
const ruleOf = (filter: string | undefined, statuses: readonly string[] | null): Rule | null => {
  const own = filter === undefined ? null : compileRule(filter)
  if (statuses === null) return own
  return (roots) => {
    const status = (roots['payload'] as { readonly status?: Json }).status
    if (!statuses.includes(String(status))) return { kind: 'value', value: false }
    return own === null ? { kind: 'value', value: true } : own(roots)
  }
}

const bindWatch = (trigger: WatchTrigger, path: string): Bound => {
  const { types, from, statuses, watch } = normaliseTrigger(trigger, path)
  const text = [statuses === null ? '' : `status ${statuses.join(', ')}`, trigger.filter ?? ''].filter(Boolean)
  return { types, filter: { text: text.join(' and '), rule: ruleOf(trigger.filter, statuses), from }, watch }
}

const bindingsOf = (source: Triggered, names: ReadonlySet<string>): readonly Bound[] => {
  let flows = 0
  return triggersOf(source).map((trigger) => {
    const bound = bind(source, trigger, names)
    return hasOwnFlow(trigger) ? { ...bound, filter: { ...bound.filter, trigger: flowName(++flows) } } : bound
  })
}

const bind = (source: Triggered, trigger: TriggerSource, names: ReadonlySet<string>): Bound => {
  const path = `functions.${source.name}.trigger`
  if (!isWatchTrigger(trigger)) return bindEvent(trigger, path)
  if ('after' in trigger && (!names.has(trigger.after) || trigger.after === source.name))
    throw invalidAt(`${path}.after`, `"${trigger.after}" is not another function of this system`)
  return bindWatch(trigger, path)
}

export const awaitedBy = ({ name, options }: Triggered): readonly string[] => {
  const bad = options.waits?.find((type) => !isEventType(type))
  if (bad !== undefined) throw invalidAt(`functions.${name}.waits`, `"${bad}" is not an event type`)
  return [...(options.waits ?? []), ...(options.cancelOn ?? []).map(({ event }) => event)]
}

interface Bindings {
  readonly listeners: Map<string, Listener[]>
  readonly sources: Map<string, SourceDefinition>
}

export const bindAll = (
  sources: readonly Triggered[],
  functions: ReadonlyMap<string, FunctionDefinition>,
): Bindings => {
  const bindings: Bindings = { listeners: new Map(), sources: new Map() }
  for (const source of sources) {
    const handler = functions.get(source.name) as FunctionDefinition
    const byType = new Map<string, Filter[]>()
    for (const { types, filter, watch } of bindingsOf(source, new Set(functions.keys()))) {
      for (const type of types) byType.set(type, [...(byType.get(type) ?? []), filter])
      if (watch !== null) bindings.sources.set(watch.name, watch)
    }
    for (const [type, filters] of byType)
      bindings.listeners.set(type, [...(bindings.listeners.get(type) ?? []), { handler, filters }])
  }
  return bindings
}
