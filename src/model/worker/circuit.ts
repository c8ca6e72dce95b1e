/**
 * A circuit breaker: calls to a target that keeps failing are held back for a while, then one call tries whether it is well again.
 *
 * Owns when it opens, how long it stays open and who may try. Its facts are events that every worker reads; the window of recent
 * results is each worker's own and arrives with the command.
 *
 * circuit-1  It opens only on enough calls with enough failures among the last ones, or on a failed probe.
 * circuit-2  While it is open nothing passes; after that one probe does, and another only if that one is never heard of again.
 * circuit-3  Each time it opens without having closed, it stays open twice as long, up to the limit.
 * circuit-4  A person's word closes it at once; a probe that is under way then says nothing more.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { type Decision, facts, type Machine, refuse } from '#model/kernel/machine.ts'

export interface CircuitPolicy {
  /** So many last results count. */
  readonly window: number
  readonly minCalls: number
  /** 0 to 1. */
  readonly failureRate: number
  readonly openForMs: number
  readonly maxOpenForMs: number
}

/** `round` counts the openings since it was last closed well; `probe` the tries within a round. */
export type CircuitFact =
  | { readonly type: 'opened'; readonly round: number; readonly until: Instant; readonly openForMs: number }
  | { readonly type: 'half_opened'; readonly round: number; readonly probe: number; readonly until: Instant }
  /** `by`: whose word it was; absent: a probe's. */
  | { readonly type: 'closed'; readonly round: number; readonly by?: string }

export type CircuitState =
  | { readonly kind: 'closed'; readonly round: number }
  | { readonly kind: 'open'; readonly round: number; readonly until: Instant; readonly openForMs: number }
  | {
      readonly kind: 'half_open'
      readonly round: number
      readonly probe: number
      /** The probe is given up then. */
      readonly until: Instant
      readonly openForMs: number
    }

export type CircuitCommand =
  | { readonly type: 'call'; readonly now: Instant; readonly policy: CircuitPolicy }
  /** `recent`: this worker's last results, true for a failure, the new one included. `probe`: which probe it was, if one. */
  | {
      readonly type: 'report'
      readonly now: Instant
      readonly policy: CircuitPolicy
      readonly recent: readonly boolean[]
      readonly probe: { readonly round: number; readonly probe: number } | null
    }
  | { readonly type: 'reset'; readonly by: string }

const trips = (recent: readonly boolean[], { window, minCalls, failureRate }: CircuitPolicy): boolean => {
  const counted = recent.slice(-window)
  const failures = counted.filter((failed) => failed).length
  return counted.length >= minCalls && failures / counted.length >= failureRate
}

const call = (state: CircuitState, now: Instant, policy: CircuitPolicy): Decision<CircuitFact> => {
  if (state.kind === 'closed') return facts()
  if (now < state.until) return refuse('CIRCUIT_OPEN', `held back until ${state.until}`)
  const probe = state.kind === 'half_open' ? state.probe + 1 : 1
  return facts({ type: 'half_opened', round: state.round, probe, until: now + policy.openForMs })
}

const report = (
  state: CircuitState,
  { now, policy, recent, probe }: Extract<CircuitCommand, { readonly type: 'report' }>,
): Decision<CircuitFact> => {
  const { openForMs: first, maxOpenForMs } = policy
  if (state.kind === 'closed') {
    if (probe !== null || !trips(recent, policy)) return facts()
    return facts({ type: 'opened', round: state.round + 1, until: now + first, openForMs: first })
  }
  // A result from before it opened, or of a probe that was given up, changes nothing.
  if (state.kind !== 'half_open' || probe?.round !== state.round || probe.probe !== state.probe) return facts()
  if (recent.at(-1) !== true) return facts({ type: 'closed', round: state.round })
  const openForMs = Math.min(state.openForMs * 2, maxOpenForMs)
  return facts({ type: 'opened', round: state.round + 1, until: now + openForMs, openForMs })
}

export const circuit: Machine<CircuitState, CircuitCommand, CircuitFact> = {
  initial: { kind: 'closed', round: 0 },
  decide: (state, command) => {
    switch (command.type) {
      case 'call':
        return call(state, command.now, command.policy)
      case 'report':
        return report(state, command)
      case 'reset':
        return state.kind === 'closed' ? facts() : facts({ type: 'closed', round: state.round, by: command.by })
    }
  },
  evolve: (state, fact) => {
    const { round } = fact
    switch (fact.type) {
      case 'opened':
        return { kind: 'open', round, until: fact.until, openForMs: fact.openForMs }
      case 'half_opened':
        return {
          kind: 'half_open',
          round,
          probe: fact.probe,
          until: fact.until,
          openForMs: state.kind === 'closed' ? 0 : state.openForMs,
        }
      case 'closed':
        return { kind: 'closed', round }
    }
  },
}
