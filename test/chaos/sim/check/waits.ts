/**
 * V17: an event within a wait's lookback is delivered, also when it came before the wait; each event once, in ledger order.
 *
 * Owns its own matching of events and waits. A wait may time out only if no event for it was there when its run was last claimed.
 */
import type { StoredEvent } from '../../../../src/model/event.ts'
import { canonical, at as valueAt } from '../../../../src/model/json.ts'
import type { RunFact } from '../../../../src/model/run-fact.ts'
import type { WaitSpec } from '../../../../src/model/wait.ts'
import type { Look, LookedRun } from '../look.ts'
import type { Evidence } from './evidence.ts'

type Opened = Extract<RunFact, { readonly type: 'wait.opened' }>

/** At rest no wait is open for which an event has come. */
export const checkOpenWaits = (look: Look): readonly string[] => {
  const events = look.events()
  return look.runs().flatMap((run) => {
    if (run.state.kind !== 'live' || run.state.cancel !== null) return []
    return run.state.open.entries().flatMap(([step, open]) => {
      if (open.kind !== 'waiting') return []
      const received = open.wait.received.map(({ sequence }) => sequence)
      const unheard = expectedOf(open.wait.spec, events, look.errand(run).id).filter((one) => !received.includes(one))
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
    .flatMap((run) =>
      run.facts.flatMap((fact) => (fact.type === 'wait.opened' ? checkWait(evidence, run, fact, events) : [])),
    )
}

/** From where this wait was opened to where a retry of the run opened it anew. */
const spanOf = ({ facts }: LookedRun, opened: Opened): readonly [number, number] => {
  const from = facts.indexOf(opened)
  const again = facts.findIndex((fact, i) => i > from && fact.type === 'wait.opened' && fact.step === opened.step)
  return [from, again < 0 ? facts.length : again]
}

const checkWait = (
  { witness, look }: Evidence,
  run: LookedRun,
  opened: Opened,
  events: readonly StoredEvent[],
): readonly string[] => {
  const { step, wait } = opened
  if (wait.base !== run.stream.base) return [`V17: ${run.id} ${step} looks back to ${wait.base}, not to its trigger`]
  const who = `${run.id} (${run.stream.handler}) ${step}`
  const [from, to] = spanOf(run, opened)
  const span = run.facts.slice(from, to)
  const received = span.flatMap((fact) =>
    fact.type === 'wait.received' && fact.step === step ? [fact.event.sequence] : [],
  )
  const expected = expectedOf(wait, events, look.errand(run).id)
  const wrong = received.filter((sequence) => !expected.includes(sequence))
  if (wrong.length > 0) return [`V17: ${who} received ${wrong.join()} where ${expected.join()} came first`]
  if (new Set(received).size < received.length) return [`V17: ${who} received one event twice: ${received.join()}`]
  const missed = expected.filter((sequence) => !received.includes(sequence))
  const timedOut = span.findIndex((fact) => fact.type === 'wait.timed_out' && fact.step === step)
  if (timedOut < 0) return []
  const claimedAt = witness.claimTicks.get(`${run.id} ${witness.epochOf(run.id, from + timedOut)}`) ?? 0
  const ignored = missed.filter((sequence) => (witness.eventTicks.get(sequence) ?? Infinity) < claimedAt)
  return ignored.length > 0 ? [`V17: ${who} timed out although ${ignored.join()} was there when it woke`] : []
}

/** The sequences that this wait must receive, as far as their events are there. */
const expectedOf = (wait: WaitSpec, events: readonly StoredEvent[], id: number): readonly number[] => {
  const fitting = events.filter((event) => fits(wait, event, id))
  return (wait.mode === 'any' ? fitting.slice(0, 1) : firstOfEach(fitting)).map(({ sequence }) => sequence)
}

/** The one condition in the plays asks for the trigger's id and a number above one. */
const fits = (wait: WaitSpec, event: StoredEvent, id: number): boolean => {
  if (event.sequence <= wait.base || !wait.types.includes(event.type)) return false
  if (wait.condition !== null) return valueAt(event.data, 'id') === id && Number(valueAt(event.data, 'n')) > 1
  if (wait.match === null) return true
  const found = valueAt(event.data, wait.match.path)
  return found !== undefined && canonical(found) === wait.match.value
}

const firstOfEach = (events: readonly StoredEvent[]): readonly StoredEvent[] =>
  events.filter((event, i) => events.findIndex(({ type }) => type === event.type) === i)
