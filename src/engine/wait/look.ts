/**
 * Reads the events that an open wait may receive.
 *
 * Owns which events are read: by value where the wait names one, so that other events of the type cost nothing (ledger-11). Which of
 * them count is decided by the model (model/event/wait.ts).
 */
import { eventRoot } from '#engine/core/route.ts'
import { compileRule } from '#manifest/expressions/rules.ts'
import { type Consumed, consumedRules, NOTHING_CONSUMED, type Start } from '#model/event/consumed.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { fits, isOver, missing, type OpenWait, receive, type WaitSpec } from '#model/event/wait.ts'
import type { TenantId } from '#model/kernel/ids.ts'
import { at, canonical, type Json } from '#model/kernel/json.ts'
import type { Rule } from '#model/kernel/rule.ts'
import type { EventMatch, EventQuery, Ledger } from '#ports/ledger.ts'

type Events = Pick<Ledger, 'events'>

const PAGE = 1_000
const GROWTH = 8

/** Which events other waits of the run have received, or are about to. */
export interface Taken {
  readonly consumed: Consumed
  isPromised(sequence: number): boolean
}

export const NOTHING_TAKEN: Taken = { consumed: NOTHING_CONSUMED, isPromised: () => false }

/** The result of a look. */
export interface Look {
  /** The events that the wait should receive, in order: the first for `any` (or all there are), the first of each type for `all`. */
  readonly received: readonly StoredEvent[]
  /** Earlier events that other waits of the run are about to receive. */
  readonly passed: readonly number[]
  /** The wait need not look at events up to this one again. */
  readonly base: number
  /** How many events after `base` were read, by type: all there are, unless the wait is over with those that it receives. */
  readonly read: ReadonlyMap<string, number>
}

/** The part of a query that describes the events of a wait for these types. */
const sought = (
  types: readonly string[],
  match: WaitSpec['match'],
  after: number,
): Pick<EventQuery, 'types' | 'matching' | 'after'> =>
  match === null ? { types, after } : { matching: types.map((type) => ({ type, ...match, after })), after }

/** Reads the events of a wait, oldest first, page by page. */
export async function* pagesOf(
  ledger: Events,
  tenant: TenantId,
  { types, match, base }: Pick<WaitSpec, 'types' | 'match' | 'base'>,
  { first = PAGE, settled = false }: { readonly first?: number; readonly settled?: boolean } = {},
): AsyncGenerator<readonly StoredEvent[]> {
  let limit = Math.min(first, PAGE)
  for (let after = base; ; ) {
    const query = { tenant, ...sought(types, match, after), limit }
    const page = await ledger.events(settled ? { ...query, settled } : query)
    yield page
    if (page.length < limit) return
    after = page.at(-1)?.sequence ?? after
    limit = Math.min(limit * GROWTH, PAGE)
  }
}

/** The wait that a look is for. */
export interface Looked {
  readonly wait: OpenWait
  /** What started the run. */
  readonly trigger: Json
  readonly taken: Taken
}

/** Reads no further than the wait needs, and holds no more than one page and the received events. */
export const lookFor = async (
  ledger: Events,
  tenant: TenantId,
  looked: Looked,
  start: Pick<Start, 'received' | 'covers'> = { received: 0, covers: false },
): Promise<Look> => {
  const { wait } = looked
  const { spec } = wait
  const settled = start.covers && spec.mode === 'any'
  const look = new Looking(looked, settled)
  const first =
    spec.mode === 'any' && (spec.condition ?? null) === null && spec.most === undefined ? 1 + start.received : PAGE
  for await (const page of pagesOf(ledger, tenant, { ...spec, types: missing(wait) }, { first, settled })) {
    look.add(page)
    if (look.isOver) break
  }
  return look
}

/** The same among events that were already read. */
export const lookAmong = (looked: Looked, events: readonly StoredEvent[]): Look => {
  const look = new Looking(looked, false)
  look.add(events)
  return look
}

class Looking implements Look {
  readonly received: StoredEvent[] = []
  readonly passed: number[] = []
  readonly read = new Map<string, number>()
  base: number
  readonly #trigger: Json
  readonly #taken: Taken
  readonly #covers: boolean
  #wait: OpenWait

  /** `covers`: the events were read as settled, so that the base may rise up to the first event that is still free. */
  constructor({ wait, trigger, taken }: Looked, covers: boolean) {
    this.#wait = wait
    this.#trigger = trigger
    this.#taken = taken
    this.#covers = covers
    this.base = wait.spec.base
  }

  get isOver(): boolean {
    const { most } = this.#wait.spec
    return most === undefined ? isOver(this.#wait) : this.received.length >= most
  }

  add(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (this.isOver) return
      const { type, sequence } = event
      this.read.set(type, (this.read.get(type) ?? 0) + 1)
      if (!this.#isMeant(event)) this.#cover(sequence)
      else if (this.#wait.spec.fresh === true && this.#taken.isPromised(sequence)) this.passed.push(sequence)
      else {
        if (this.#wait.spec.most === undefined) this.#wait = receive(this.#wait, { type, sequence })
        this.received.push(event)
      }
    }
  }

  #isMeant(event: StoredEvent): boolean {
    const { spec } = this.#wait
    return (
      fits(this.#wait, event) &&
      consumedRules.isFree(this.#taken.consumed, spec, event.sequence) &&
      holds(spec.condition ?? null, event, this.#trigger)
    )
  }

  #cover(sequence: number): void {
    if (!this.#covers || this.received.length + this.passed.length > 0) return
    this.base = sequence
    this.read.clear()
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

/** Returns events that were read once for many woken runs: all that the wait may receive. Null: they were not read, ask the ledger. */
export type Prefetched = (wait: OpenWait) => readonly StoredEvent[] | null

export const NOTHING_PREFETCHED: Prefetched = () => null

/** Makes one query for all waits by value, and one for the waits on the same types. If there are too many events, each run asks for itself. */
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
