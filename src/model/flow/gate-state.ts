/**
 * Applies facts to the state of a gate.
 *
 * Owns evolve. Accepts every fact in every state and reads no policy: the fact contains what a policy decided.
 */
import { type Claim, type Claims, endClaims, freeKey, recordClaim } from '#model/flow/policies/idempotency.ts'
import { callFromLine, enterLine, leaveLine, waitInLine, withdrawFromLine } from '#model/flow/policies/overlap.ts'
import { countRate } from '#model/flow/policies/rate-limit.ts'
import { recordStart } from '#model/flow/policies/starts.ts'
import { recordTurn } from '#model/flow/policies/throttle.ts'
import { joinWindow, withdrawFromWindow } from '#model/flow/policies/window.ts'
import { dropDue, put, remove, valueAt } from '#model/kernel/due-map.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { GateFact, GateFactType, GateState, OpenGate, WaitingPlace } from './gate-fact.ts'
import { addFollower, dropFollower } from './gate-follow.ts'

type FactOf<Type extends GateFactType> = Extract<GateFact, { readonly type: Type }>

const openGate = (cursor: number): OpenGate => ({
  kind: 'open',
  types: [],
  cursor,
  beyond: [],
  calls: 0,
  pausedBy: null,
  held: [],
  claims: [],
  rates: [],
  windows: [],
  bursts: [],
  lines: [],
  throttles: [],
  runs: [],
})

const claimed = (claims: Claims, claim: Claim | null, at: Instant): Claims =>
  claim === null ? claims : recordClaim(claims, claim, at)

const join = (gate: OpenGate, fact: FactOf<'gate.window_joined'>): OpenGate => {
  const window = valueAt(gate.windows, fact.key)
  if (window === undefined) return gate
  const windows = put(gate.windows, fact.key, joinWindow(window, fact.arrival, fact.take), fact.firesAt)
  return { ...gate, windows, claims: claimed(gate.claims, fact.claim, fact.at) }
}

const start = (gate: OpenGate, fact: FactOf<'gate.started'>): OpenGate => {
  const { at, run, keys, line, how, turn, attempt, trigger } = fact
  const life = fact.call?.retry?.life
  const known = {
    ...(attempt !== undefined && { attempt }),
    ...(trigger !== undefined && { trigger }),
    ...(life !== undefined && { life }),
  }
  const tracked = { keys, line, how, stop: null, ...known }
  return {
    ...gate,
    claims: claimed(gate.claims, fact.claim, at),
    throttles: turn === null ? gate.throttles : recordTurn(gate.throttles, turn, at),
    lines: line === null ? gate.lines : enterLine(gate.lines, line, run),
    runs: fact.tracked ? put(gate.runs, run, tracked, null) : gate.runs,
  }
}

const withdraw = (gate: OpenGate, place: WaitingPlace, sequence: number): OpenGate => {
  switch (place.kind) {
    case 'held':
      return { ...gate, held: gate.held.filter(({ arrival }) => arrival.sequence !== sequence) }
    case 'window':
      return { ...gate, windows: withdrawFromWindow(gate.windows, place.key, sequence) }
    case 'line':
      return { ...gate, lines: withdrawFromLine(gate.lines, place.key, sequence) }
  }
}

const stop = (gate: OpenGate, { run, mode }: FactOf<'gate.cancel_wanted'>): OpenGate => {
  const tracked = valueAt(gate.runs, run)
  if (tracked === undefined) return gate
  // No run waits for a terminated one: its line is free at once.
  const leaves = mode === 'terminate' && tracked.line !== null
  return {
    ...gate,
    runs: put(gate.runs, run, { ...tracked, stop: mode }, null),
    lines: leaves ? leaveLine(gate.lines, tracked.line, run) : gate.lines,
  }
}

const end = (gate: OpenGate, { at, run, keepMs, items }: FactOf<'gate.run_ended'>): OpenGate => {
  const tracked = valueAt(gate.runs, run)
  if (tracked === undefined) return gate
  return {
    ...gate,
    runs: remove(gate.runs, run),
    lines: tracked.line === null ? gate.lines : leaveLine(gate.lines, tracked.line, run),
    claims: endClaims(gate.claims, { run, keys: tracked.keys, keepMs, at, ...(items !== undefined && { items }) }),
  }
}

const forget = (gate: OpenGate, { keys, swept }: FactOf<'gate.keys_kept'>): OpenGate => {
  const { since = 0, after = '' } = gate.sweep ?? {}
  const sweep = swept === undefined ? { since: since + keys.length, after } : { since: 0, after: swept }
  return { ...gate, sweep, claims: keys.reduce((claims, key) => remove(claims, key), gate.claims) }
}

export const evolveOpen = (gate: OpenGate, fact: GateFact): OpenGate => {
  switch (fact.type) {
    case 'gate.opened':
      return gate
    case 'gate.listened':
      return { ...gate, types: fact.types }
    case 'gate.read':
      return { ...gate, cursor: fact.cursor, beyond: fact.beyond }
    case 'gate.turned':
      return { ...gate, throttles: recordTurn(gate.throttles, fact.turn, fact.at) }
    case 'gate.start_given':
    case 'gate.start_made':
    case 'gate.start_delayed':
      return { ...gate, starts: recordStart(gate.starts ?? [], fact) }
    case 'gate.asked':
      return { ...gate, calls: fact.number }
    case 'trigger.suppressed':
      return { ...gate, claims: freeKey(gate.claims, fact) }
    case 'gate.held':
      return {
        ...gate,
        held: [...gate.held, { arrival: fact.arrival, claim: fact.claim }],
        claims: claimed(gate.claims, fact.claim, fact.at),
      }
    case 'gate.released':
      return { ...gate, held: gate.held.slice(fact.count) }
    case 'gate.counted':
      return { ...gate, rates: countRate(gate.rates, fact.key, fact.at, fact.countsUntil) }
    case 'gate.window_opened':
      return {
        ...gate,
        windows: put(gate.windows, fact.key, fact.window, fact.firesAt),
        claims: claimed(gate.claims, fact.claim, fact.at),
      }
    case 'gate.window_joined':
      return join(gate, fact)
    case 'gate.window_closed':
      return { ...gate, windows: remove(gate.windows, fact.key) }
    case 'gate.burst_extended': {
      const { run, openedAt } = fact
      return { ...gate, bursts: put(dropDue(gate.bursts, fact.at), fact.key, { run, openedAt }, fact.endsAt) }
    }
    case 'gate.buffered':
      return {
        ...gate,
        lines: waitInLine(gate.lines, fact.candidate, fact.displaces),
        claims: claimed(gate.claims, fact.claim, fact.at),
      }
    case 'gate.called':
      return { ...gate, lines: callFromLine(gate.lines, fact.line) }
    case 'gate.started':
      return start(gate, fact)
    case 'gate.withdrawn':
      return withdraw(gate, fact.place, fact.sequence)
    case 'gate.followed':
      return addFollower(gate, fact)
    case 'gate.unfollowed':
      return dropFollower(gate, fact)
    case 'gate.cancel_wanted':
      return stop(gate, fact)
    case 'gate.run_ended':
      return end(gate, fact)
    case 'gate.paused':
      return { ...gate, pausedBy: fact.by }
    case 'gate.resumed':
      return { ...gate, pausedBy: null }
    case 'gate.checkpointed':
      return fact.state
    case 'gate.keys_kept':
      return forget(gate, fact)
  }
}

export const evolveGate = (state: GateState, fact: GateFact): GateState => {
  if (state.kind === 'open') return evolveOpen(state, fact)
  if (fact.type === 'gate.opened') return openGate(fact.cursor)
  // A reader that begins at a checkpoint has seen nothing before it.
  return fact.type === 'gate.checkpointed' ? fact.state : state
}
