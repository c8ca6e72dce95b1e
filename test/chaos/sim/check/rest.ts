/**
 * A system at rest: no worker is active, and every run has ended or waits for a recorded reason (V13, run-3, V4).
 *
 * Owns what rest means. Checks the store and the calls that were made from outside, not the engine.
 */
import { isRunId } from '#model/kernel/ids.ts'
import type { LiveRun } from '#model/run/fact.ts'
import { statusOf, wakeAt } from '#model/run/run.ts'
import { isEnded } from '#model/run/status.ts'
import type { Cast } from '#test/chaos/sim/cast.ts'
import type { Client } from '#test/chaos/sim/client.ts'
import { isPaused, type Look, type LookedCoordinator, type LookedRun } from '#test/chaos/sim/look.ts'
import { goesOnAlone } from './families.ts'
import { checkOpenWaits } from './waits.ts'

export const checkRest = (look: Look, client: Client, cast: Cast): readonly string[] => {
  const runs = look.runs()
  const unanswered = client.unanswered.map((call) => `V30: no answer to: ${call}`)
  const busy = cast.alive.filter(({ engine }) => engine.activeRunCount > 0)
  const kept = busy.map(({ name }) => `active-run-3: ${name} keeps a run in memory although nobody works`)
  return [
    ...unanswered,
    ...kept,
    ...runs.flatMap((run) => restOf(run, look)),
    ...look.coordinators().flatMap(coordinatorAtRest),
    ...checkOpenWaits(look),
  ]
}

/** Schedules have an end, unless they are paused. */
const coordinatorAtRest = (coordinator: LookedCoordinator): readonly string[] => {
  const { id, stream, facts } = coordinator
  const who = `${id} (${stream.handler})`
  if (stream.lease !== null) return [`V13: clerk ${who} is leased to ${stream.lease}, who does nothing with it`]
  if (stream.wakeAt !== null) return [`V13: clerk ${who} is due at ${stream.wakeAt} and nobody takes it`]
  const isOver = id.startsWith('gat_') || isPaused(coordinator) || facts.some(({ type }) => type === 'schedule.ended')
  return isOver ? [] : [`V13: schedule ${who} rests before its end`]
}

const restOf = (run: LookedRun, look: Look): readonly string[] => {
  const { id, stream, state } = run
  const who = `${id} (${stream.handler}, ${stream.status})`
  if (stream.lease !== null) return [`V13: ${who} is leased to ${stream.lease}, who does nothing with it`]
  if (stream.wakeAt !== null) return [`V13: ${who} is due since ${stream.wakeAt} and nobody takes it`]
  if (state.kind === 'none') return [`V13: ${who} has no first fact`]
  const projected = [statusOf(state, true)]
  const status = projected.includes(stream.status as never) ? [] : [`V4: ${who} folds to ${projected.join()}`]
  const rows = sameRows(run) ? [] : [`V4: ${who} has other wait rows than open waits`]
  if (state.kind === 'ended') return [...status, ...rows]
  return [
    ...status,
    ...rows,
    ...untold(state, who, look),
    ...orphaned(run, who, look),
    ...(hasReason(state, look) ? [] : [`V13: ${who} waits for nothing: ${openOf(state)}`]),
  ]
}

/** R12: a run that waits for the end of its children after a cancel has passed the cancel on. */
const untold = (state: LiveRun, who: string, look: Look): readonly string[] => {
  if (state.cancel === null) return []
  const children = state.open.entries().flatMap(([, step]) => (step.kind === 'calling' ? [step.child] : []))
  const waiting = children.filter((child) => look.store.streams.get(child)?.status === 'waiting')
  return waiting.map((child) => `R12: ${who} is cancelling and its child ${child} was not told`)
}

/** parent-end-1. */
const orphaned = (run: LookedRun, who: string, look: Look): readonly string[] => {
  const { parent } = run.stream
  if (parent === null || !isRunId(parent) || goesOnAlone(run)) return []
  const status = look.store.streams.get(parent)?.status
  return status !== undefined && isEnded(status)
    ? [`parent-end-1: ${who} lives on, and its parent ended with ${status}`]
    : []
}

const openOf = (state: LiveRun): string => JSON.stringify(state.open.entries())

/** Wait rows are the open waits, one per type. */
const sameRows = ({ stream, state }: LookedRun): boolean => {
  const open = state.kind === 'live' ? state.open.entries() : []
  const expected = open.flatMap(([step, one]) =>
    one.kind === 'waiting' ? one.wait.spec.types.map((type) => `${step} ${type}`) : [],
  )
  return (
    expected.sort().join() ===
    stream.waits
      .map(({ step, type }) => `${step} ${type}`)
      .sort()
      .join()
  )
}

/** Time would continue it (then it had a wake), or an open step waits for an event, a person or a live child. */
const hasReason = (state: LiveRun, look: Look): boolean => {
  if (wakeAt(state) !== null) return false
  if (state.pause !== null && state.cancel === null) return true
  return state.open.some((step) => {
    if (step.kind === 'waiting') return state.cancel === null
    if (step.kind === 'uncertain') return state.cancel === null
    if (step.kind !== 'calling') return false
    const child = look.store.streams.get(step.child)
    return child !== undefined && !isEnded(child.status)
  })
}
