/**
 * Reading the events that an open wait may receive.
 *
 * Owns which events are asked for: by value where the wait names one, so that other events of the type cost nothing (ledger-11). Which of
 * them count is the model's (model/wait.ts).
 */
import { compileRule } from '../manifest/rules.ts'
import type { StoredEvent } from '../model/event.ts'
import type { TenantId } from '../model/ids.ts'
import { at, canonical, type Json } from '../model/json.ts'
import type { Rule } from '../model/rule.ts'
import { fits, isOver, missing, type OpenWait, receive, type WaitSpec } from '../model/wait.ts'
import type { EventMatch, EventQuery, Ledger } from '../ports/ledger.ts'
import { eventRoot } from './route.ts'

type Events = Pick<Ledger, 'events'>

const PAGE = 1_000

/** What a look has found. */
export interface Look {
  /** The events that the wait should receive, in order: the first for `any`, the first of each type for `all`. */
  readonly received: readonly StoredEvent[]
  /** How many events were read, by type: all there are, unless the wait is over with those that it receives. */
  readonly read: ReadonlyMap<string, number>
}

/** The part of a query that describes the events of a wait for these types. */
const sought = (
  types: readonly string[],
  match: WaitSpec['match'],
  after: number,
): Pick<EventQuery, 'types' | 'matching' | 'after'> =>
  match === null ? { types, after } : { matching: types.map((type) => ({ type, ...match, after })), after }

/** Events of a wait, oldest first, page by page. */
export async function* pagesOf(
  ledger: Events,
  tenant: TenantId,
  { types, match, base }: Pick<WaitSpec, 'types' | 'match' | 'base'>,
  limit = PAGE,
): AsyncGenerator<readonly StoredEvent[]> {
  for (let after = base; ; ) {
    const page = await ledger.events({ tenant, ...sought(types, match, after), limit })
    yield page
    if (page.length < limit) return
    after = page.at(-1)?.sequence ?? after
  }
}

/** Reads no further than the wait needs, and holds no more than a page and what is received. */
export const lookFor = async (ledger: Events, tenant: TenantId, wait: OpenWait, trigger: Json): Promise<Look> => {
  const { spec } = wait
  const look = new Looking(wait, trigger)
  const limit = spec.mode === 'any' && spec.condition === null ? 1 : PAGE
  for await (const page of pagesOf(ledger, tenant, { ...spec, types: missing(wait) }, limit)) {
    look.add(page)
    if (look.isOver) break
  }
  return look
}

/** The same among events that are at hand. */
export const lookAmong = (wait: OpenWait, events: readonly StoredEvent[], trigger: Json): Look => {
  const look = new Looking(wait, trigger)
  look.add(events)
  return look
}

class Looking implements Look {
  readonly received: StoredEvent[] = []
  readonly read = new Map<string, number>()
  readonly #trigger: Json
  #wait: OpenWait

  constructor(wait: OpenWait, trigger: Json) {
    this.#wait = wait
    this.#trigger = trigger
  }

  get isOver(): boolean {
    return isOver(this.#wait)
  }

  add(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (this.isOver) return
      const { type, sequence } = event
      this.read.set(type, (this.read.get(type) ?? 0) + 1)
      if (!fits(this.#wait, event) || !holds(this.#wait.spec.condition, event, this.#trigger)) continue
      this.#wait = receive(this.#wait, { type, sequence })
      this.received.push(event)
    }
  }
}

const rules = new Map<string, Rule>()

const ruleOf = (text: string): Rule => {
  const known = rules.get(text)
  if (known !== undefined) return known
  const rule = compileRule(text)
  rules.set(text, rule)
  return rule
}

/** A condition that fails to evaluate does not match. */
const holds = (condition: string | null, event: StoredEvent, trigger: Json): boolean => {
  if (condition === null) return true
  const answer = ruleOf(condition)({ event: eventRoot(event), payload: event.data, trigger })
  return answer.kind === 'value' && answer.value === true
}

/** Events read once for many runs that were woken together: all that the wait may receive. Null: not among them, ask the ledger. */
export type Prefetched = (wait: OpenWait) => readonly StoredEvent[] | null

export const NOTHING_PREFETCHED: Prefetched = () => null

/** One query for all waits by value, and one for those on the same types. Too many events, and each run asks for itself. */
export const prefetchEvents = async (
  ledger: Events,
  tenant: TenantId,
  waits: readonly OpenWait[],
): Promise<Prefetched> => {
  const ofValue = await prefetchValues(ledger, tenant, waits)
  const ofTypes = await prefetchTypes(ledger, tenant, waits)
  return (wait) => {
    const found = wait.spec.match === null ? ofTypes(wait) : ofValue(wait)
    return found?.filter((event) => event.sequence > wait.spec.base) ?? null
  }
}

const groupOf = ({ types }: WaitSpec): string => types.join('\n')

const prefetchTypes = async (ledger: Events, tenant: TenantId, waits: readonly OpenWait[]): Promise<Prefetched> => {
  const groups = new Map<string, { readonly types: readonly string[]; readonly base: number }>()
  for (const { spec } of waits) {
    if (spec.match !== null) continue
    const key = groupOf(spec)
    groups.set(key, { types: spec.types, base: Math.min(spec.base, groups.get(key)?.base ?? spec.base) })
  }
  const found = new Map<string, readonly StoredEvent[]>()
  for (const [key, { types, base }] of groups) {
    const page = await ledger.events({ tenant, types, after: base, limit: PAGE })
    if (page.length < PAGE) found.set(key, page)
  }
  return ({ spec }) => found.get(groupOf(spec)) ?? null
}

const placeOf = ({ type, path, value }: Omit<EventMatch, 'after'>): string => `${type}\n${path}\n${value}`

const prefetchValues = async (ledger: Events, tenant: TenantId, waits: readonly OpenWait[]): Promise<Prefetched> => {
  const matches = new Map<string, EventMatch>()
  for (const { spec } of waits) {
    for (const type of spec.match === null ? [] : spec.types) {
      const match = { type, path: '', value: '', ...spec.match, after: spec.base }
      const key = placeOf(match)
      matches.set(key, { ...match, after: Math.min(spec.base, matches.get(key)?.after ?? spec.base) })
    }
  }
  if (matches.size === 0) return NOTHING_PREFETCHED
  const matching = [...matches.values()]
  const limit = PAGE + matching.length
  const events = await ledger.events({ tenant, matching, limit })
  if (events.length === limit) return NOTHING_PREFETCHED
  const found = byValue(matching, events)
  return ({ spec }) =>
    spec.types
      .flatMap((type) => found.get(placeOf({ type, path: '', value: '', ...spec.match })) ?? [])
      .sort((a, b) => a.sequence - b.sequence)
}

const byValue = (
  matching: readonly EventMatch[],
  events: readonly StoredEvent[],
): ReadonlyMap<string, readonly StoredEvent[]> => {
  const paths = new Map<string, Set<string>>()
  for (const { type, path } of matching) paths.set(type, (paths.get(type) ?? new Set()).add(path))
  const found = new Map<string, StoredEvent[]>()
  for (const event of events) {
    for (const path of paths.get(event.type) ?? []) {
      const value = at(event.data, path)
      if (value === undefined) continue
      const key = placeOf({ type: event.type, path, value: canonical(value) })
      const same = found.get(key)
      if (same === undefined) found.set(key, [event])
      else same.push(event)
    }
  }
  return found
}
