/**
 * V17: an event within a wait's lookback is delivered, also if it came before the wait; each event once per run, in ledger order.
 *
 * Owns its own matching of events and waits, and its own record of what a run has received. A wait may time out only if no event for it
 * existed when its run was last claimed.
 */
import type { StoredEvent } from '#model/event/event.ts'
import type { Received, WaitSpec } from '#model/event/wait.ts'
import { canonical, at as valueAt } from '#model/kernel/json.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { Look, LookedRun } from '#test/chaos/sim/look.ts'
import type { Evidence } from './evidence.ts'

interface Waiting {
  readonly wait: WaitSpec
  readonly received: Received[]
}

/** A run's waits, fact by fact: which are open, and what has been received by any of them. */
class Told {
  readonly open = new Map<string, Waiting>()
  readonly consumed = new Set<number>()
  readonly #events: readonly StoredEvent[]
  readonly #id: number

  constructor(events: readonly StoredEvent[], id: number) {
    this.#events = events
    this.#id = id
  }

  /** The events that this wait should receive next, oldest first: of any of its types, or of one that has not come. */
  next({ wait, received }: Waiting): readonly StoredEvent[] {
    const isNeeded = (type: string): boolean => wait.mode === 'any' || !received.some((one) => one.type === type)
    return this.#events.filter(
      (event) => fits(wait, event, this.#id) && isNeeded(event.type) && !this.consumed.has(event.sequence),
    )
  }

  /** Matching events that a raised base skips although no wait has received them. */
  skipped({ from, ...wait }: WaitSpec): readonly number[] {
    if (from === undefined) return []
    return this.next({ wait: { ...wait, base: from }, received: [] })
      .map(({ sequence }) => sequence)
      .filter((sequence) => sequence <= wait.base)
  }

  take(step: string, events: readonly Received[]): void {
    const waiting = this.open.get(step)
    for (const event of events) {
      this.consumed.add(event.sequence)
      waiting?.received.push(event)
    }
    if (waiting === undefined) return
    const { wait, received } = waiting
    if (wait.mode === 'any' || wait.types.every((type) => received.some((one) => one.type === type)))
      this.open.delete(step)
  }

  /** The code of a retried run opens its waits anew, and may receive the events that they had. */
  reopen(): void {
    for (const { received } of this.open.values()) for (const { sequence } of received) this.consumed.delete(sequence)
    this.open.clear()
  }

  apply(fact: RunFact): void {
    if (fact.type === 'wait.opened') this.open.set(fact.step, { wait: fact.wait, received: [] })
    if (fact.type === 'wait.received') this.take(fact.step, [fact.event, ...(fact.others ?? [])])
    if (fact.type === 'wait.timed_out') this.open.delete(fact.step)
    if (fact.type === 'run.retried') this.reopen()
  }
}

/** At rest no wait is open for which an event has come. */
export const checkOpenWaits = (look: Look): readonly string[] => {
  const events = look.events()
  return look.runs().flatMap((run) => {
    if (run.state.kind !== 'live' || run.state.cancel !== null) return []
    if (!run.facts.some(({ type }) => type === 'wait.opened')) return []
    const told = new Told(events, look.errand(run).id)
    for (const fact of run.facts) told.apply(fact)
    return [...told.open].flatMap(([step, waiting]) => {
      const unheard = told.next(waiting).map(({ sequence }) => sequence)
      return unheard.length === 0
        ? []
        : [`V17: ${run.id} (${run.stream.handler}) ${step} was not told of ${unheard.join()}`]
    })
  })
}

export const checkWaits = (evidence: Evidence): readonly string[] => {
  const events = evidence.look.events()
  return evidence.look
    .runs()
    .flatMap((run) => (run.facts.some(({ type }) => type === 'wait.opened') ? checkRun(evidence, run, events) : []))
}

const checkRun = (evidence: Evidence, run: LookedRun, events: readonly StoredEvent[]): readonly string[] => {
  const told = new Told(events, evidence.look.errand(run).id)
  return run.facts.flatMap((fact, at) => {
    const wrong = checkFact(evidence, run, told, { fact, at })
    told.apply(fact)
    return wrong === null ? [] : [`V17: ${run.id} (${run.stream.handler}) ${wrong}`]
  })
}

/** Violations by a fact, before it is applied. */
const checkFact = (
  { witness }: Evidence,
  run: LookedRun,
  told: Told,
  { fact, at }: { readonly fact: RunFact; readonly at: number },
): string | null => {
  if (fact.type === 'wait.opened') {
    const { from, base } = fact.wait
    if ((from ?? base) !== run.stream.base) return `${fact.step} looks back to ${from ?? base}, not to its trigger`
    const skipped = told.skipped(fact.wait)
    return skipped.length === 0 ? null : `${fact.step} passes over ${skipped.join()}, which no wait has received`
  }
  const waiting = 'step' in fact ? told.open.get(fact.step) : undefined
  if (waiting === undefined) return null
  if (fact.type === 'wait.received') return checkReceived(told, waiting, fact)
  if (fact.type !== 'wait.timed_out') return null
  const claimedAt = witness.claimTicks.get(`${run.id} ${witness.epochOf(run.id, at)}`) ?? 0
  const ignored = told
    .next(waiting)
    .filter(({ sequence }) => (witness.eventTicks.get(sequence) ?? Infinity) < claimedAt)
  const [first] = ignored
  return first === undefined ? null : `${fact.step} timed out although ${first.sequence} was there when it woke`
}

const checkReceived = (
  told: Told,
  waiting: Waiting,
  { step, event, others = [] }: Extract<RunFact, { readonly type: 'wait.received' }>,
): string | null => {
  const received = [event, ...others].map(({ sequence }) => sequence)
  const twice = received.filter((sequence) => told.consumed.has(sequence))
  if (twice.length > 0) return `${step} received ${twice.join()}, which the run had received before`
  const next = told.next(waiting).filter(({ type }) => waiting.wait.mode === 'any' || type === event.type)
  const expected = next.slice(0, received.length).map(({ sequence }) => sequence)
  return received.join() === expected.join()
    ? null
    : `${step} received ${received.join()} where ${expected.join()} came first`
}

/** The only condition in the plays requires the trigger's id and a number above one. */
const fits = (wait: WaitSpec, event: StoredEvent, id: number): boolean => {
  if (event.sequence <= wait.base || !wait.types.includes(event.type)) return false
  if ((wait.condition ?? null) !== null) return valueAt(event.data, 'id') === id && Number(valueAt(event.data, 'n')) > 1
  if (wait.match === null) return true
  const found = valueAt(event.data, wait.match.path)
  return found !== undefined && canonical(found) === wait.match.value
}
