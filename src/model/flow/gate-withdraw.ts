/**
 * Calls that wait at a gate and will not continue from there.
 *
 * Owns the two reasons: the call is withdrawn, or its run exists already.
 *
 * gate-7  A call that was made twice, by the worker that lost its caller and by the one that took the caller over, starts one run: what still
 *         waits of it is dropped when its run turns out to exist.
 */
import { type Decision, facts, refuse } from '#model/kernel/machine.ts'
import type { GateCommand, GateFact, OpenGate } from './gate-fact.ts'
import { waiterOf } from './gate-read.ts'

type CommandOf<Type extends GateCommand['type']> = Extract<GateCommand, { readonly type: Type }>

/** The run of a withdrawn call is created and ended in one append, so that its caller finds the reason. */
export const withdrawCall = (
  state: OpenGate,
  { now: at, run, by, detail }: CommandOf<'withdraw_call'>,
): Decision<GateFact> => {
  const waiter = waiterOf(state, (event) => event.call?.run === run)
  const call = waiter?.event.call
  if (waiter === null || call === undefined) return refuse('NOT_FOUND', `no waiting call has the run ${run}`)
  const { place } = waiter
  const { sequence, key } = waiter.event
  const ended = { reason: 'cancelled', detail: `${detail} (${by})`, into: null, retryAt: null } as const
  return facts(
    { type: 'gate.withdrawn', at, sequence, place },
    { type: 'trigger.suppressed', at, sequence, key, call, ...ended },
  )
}

/** gate-7. */
export const forgetCall = (state: OpenGate, { now: at, run }: CommandOf<'forget_call'>): Decision<GateFact> => {
  const waiter = waiterOf(state, (event) => event.call?.run === run)
  const call = waiter?.event.call
  if (waiter === null || call === undefined) return facts()
  const { sequence } = waiter.event
  const ended = { reason: 'duplicate', detail: 'its run has already started', into: run, retryAt: null } as const
  return facts(
    { type: 'gate.withdrawn', at, sequence, place: waiter.place },
    { type: 'trigger.suppressed', at, sequence, key: null, call, ...ended },
  )
}
