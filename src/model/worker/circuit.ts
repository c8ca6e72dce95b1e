/**
 * A circuit breaker: calls to a target that keeps failing are refused for a while, then one call probes whether the target has recovered.
 *
 * Owns when it opens, how long it stays open and who may probe. Its facts are events that every worker reads; each worker keeps the window of
 * recent results for itself and sends it with the command.
 *
 * circuit-1  It opens only on enough calls with enough failures among the last ones, or on a failed probe.
 * circuit-2  While it is open no call passes; after that one probe does, and another only if that probe never reports.
 * circuit-3  Each time it opens without having closed, it stays open twice as long, up to the limit.
 * circuit-4  A person's reset closes it at once; a probe that is under way then changes nothing.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { type Decision, facts, type Machine, refuse } from '#model/kernel/machine.ts'

export interface CircuitPolicy {
  /** The number of last results that count. */
  readonly window: number
  readonly minCalls: number
  /** 0 to 1. */
  readonly failureRate: number
  readonly openForMs: number
  readonly maxOpenForMs: number
}

/** `round` counts openings; `probe` counts the probes within a round. */
export type CircuitFact =
  | { readonly type: 'opened'; readonly round: number; readonly until: Instant; readonly openForMs: number }
  | { readonly type: 'half_opened'; readonly round: number; readonly probe: number; readonly until: Instant }
  /** `by`: the person who closed it; absent: a probe did. */
  | { readonly type: 'closed'; readonly round: number; readonly by?: string }

export type CircuitState =
  | { readonly kind: 'closed'; readonly round: number }
  | { readonly kind: 'open'; readonly round: number; readonly until: Instant; readonly openForMs: number }
  | {
      readonly kind: 'half_open'
      readonly round: number
      readonly probe: number
      /** The probe is given up at this instant. */
      readonly until: Instant
      readonly openForMs: number
    }

export type CircuitCommand =
  | { readonly type: 'call'; readonly now: Instant; readonly policy: CircuitPolicy }
  /** `recent`: this worker's last results, true for a failure, including the new one. `probe`: which probe the call was; null: it was none. */
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
  // A result from before the breaker opened, or of a probe that was given up, changes nothing.
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
