/**
 * Drives a gate under a virtual clock: passes arrivals and ends of runs, wakes it when it asks, and rebuilds it from its history at will.
 *
 * Owns the driving and a plain list of the results. Knows no policy: an oracle decides which results are right.
 */
import type { Arrival } from '#model/event/arrival.ts'
import { gate } from '#model/flow/gate.ts'
import type { FlowPolicies, GateCommand, GateFact, GateState, OpenGate, RefusedEvent } from '#model/flow/gate-fact.ts'
import { gateWakeAt } from '#model/flow/gate-read.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import { runOf } from './gate-story.ts'

export interface GateDrive {
  readonly history: readonly GateFact[]
  readonly state: () => OpenGate
  /** Performs every wake up to this instant, in order. */
  readonly passTo: (now: Instant) => void
  readonly arrive: (
    now: Instant,
    arrivals: readonly Arrival[],
    refused?: readonly RefusedEvent[],
  ) => readonly GateFact[]
  readonly end: (now: Instant, run: RunId, status: RunStatus) => readonly GateFact[]
  readonly give: (command: GateCommand) => readonly GateFact[]
  /** Rebuilds the state as another process would read it. */
  readonly restart: () => void
}

/** Limits wakes without effect. */
const MAX_WAKES = 10_000

/** Policies may be a function: a new version of the handler returns others. */
export const driveGate = (given: FlowPolicies | (() => FlowPolicies)): GateDrive => {
  const inForce = typeof given === 'function' ? given : () => given
  const history: GateFact[] = []
  let state: GateState = gate.initial

  const give = (command: GateCommand): readonly GateFact[] => {
    const decision = gate.decide(state, command)
    if (decision.kind === 'refused') throw new Error(`${decision.code}: ${decision.detail}`)
    history.push(...decision.facts)
    state = decision.facts.reduce(gate.evolve, state)
    return decision.facts
  }

  const passTo = (now: Instant): void => {
    let last = 0
    for (let wakes = 0; wakes < MAX_WAKES; wakes++) {
      const wakeAt = gateWakeAt(state)
      if (wakeAt === null || wakeAt > now) return
      last = Math.max(last, wakeAt)
      give({ type: 'pass_time', now: last, policies: inForce(), runOf })
    }
    throw new Error('the gate wakes without end')
  }

  give({ type: 'open_gate', now: 0, cursor: 0 })
  return {
    history,
    state: () => state as OpenGate,
    passTo,
    arrive: (now, arrivals, refused = []) => {
      const cursor = Math.max(0, ...[...arrivals, ...refused].map(({ sequence }) => sequence))
      return give({ type: 'arrive', now, policies: inForce(), runOf, arrivals, refused, cursor })
    },
    end: (now, run, status) => give({ type: 'end_runs', now, policies: inForce(), runOf, ended: [{ run, status }] }),
    give,
    restart: () => {
      state = JSON.parse(JSON.stringify(state)) as GateState
    },
  }
}

/** The results, one line each. */
export const startsOf = (facts: readonly GateFact[]): readonly string[] =>
  facts.flatMap((fact) =>
    fact.type === 'gate.started' ? [`${fact.events.join('+')} ${fact.how} @${fact.notBefore ?? fact.at}`] : [],
  )

export const suppressionsOf = (facts: readonly GateFact[]): readonly string[] =>
  facts.flatMap((fact) => {
    if (fact.type !== 'trigger.suppressed') return []
    const into = fact.into === null ? '' : ` into ${Number.parseInt(fact.into.slice(-8), 16)}`
    const retry = fact.retryAt === null ? '' : ` retry ${fact.retryAt}`
    return [`${fact.sequence} ${fact.reason}${into}${retry}`]
  })
