/**
 * Queries over a gate: when it wakes, which types it listens for, which runs it wants cancelled, and its state from the end of its facts.
 *
 * Owns queries only. The rules are in gate.ts.
 */
import { type CandidateEvent, eventOf } from '#model/event/arrival.ts'
import type { Turn } from '#model/flow/policies/throttle.ts'
import { entriesOf, nextDueAt, valueAt } from '#model/kernel/due-map.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { GateFact, GateState, OpenGate, StopMode, Waiter } from './gate-fact.ts'
import { evolveGate } from './gate-state.ts'

/** Returns when the gate has something to do without new input; null: never. An instant in the past: now. */
export const gateWakeAt = (state: GateState): Instant | null => {
  if (state.kind === 'none' || state.pausedBy !== null) return null
  if (state.held.length > 0) return 0
  const [lines, windows] = [nextDueAt(state.lines), nextDueAt(state.windows)]
  return lines === null || windows === null ? (lines ?? windows) : Math.min(lines, windows)
}

/** Returns the event types of which every new event wakes the gate. */
export const listenedTypes = (state: GateState): readonly string[] =>
  state.kind === 'none' ? [] : state.types.flatMap(({ type, until }) => (until === null ? [type] : []))

/** Returns the turns that these facts take of the shared budget. */
export const sharedTurns = (facts: readonly GateFact[]): readonly Turn[] =>
  facts.flatMap((fact) => (fact.type === 'gate.started' ? (fact.sharedTurn ?? []) : []))

/** Returns whether the gate listens for exactly these types. */
export const hearsJust = (state: GateState, types: readonly string[]): boolean => {
  const heard = listenedTypes(state)
  return types.length === heard.length && types.every((type) => heard.includes(type))
}

/**
 * Returns the runs that the gate wants cancelled and whose end was not reported yet: the gate's coordinator cancels them, again after a crash.
 */
export const wantedCancels = (state: GateState): readonly { readonly run: RunId; readonly mode: StopMode }[] =>
  state.kind === 'none'
    ? []
    : entriesOf(state.runs).flatMap(([run, { stop: mode }]) => (mode === null ? [] : [{ run: run as RunId, mode }]))

/** Returns the first waiting event or call that matches, and where it waits. */
export const waiterOf = (
  { held, windows, lines }: OpenGate,
  matches: (event: CandidateEvent) => boolean,
): Waiter | null => {
  const kept = held.map(({ arrival }) => eventOf(arrival)).find(matches)
  if (kept !== undefined) return { event: kept, place: { kind: 'held' } }
  for (const [key, { candidate }] of entriesOf(windows)) {
    const event = candidate.events.find(matches)
    if (event !== undefined) return { event, place: { kind: 'window', key } }
  }
  for (const [key, { waiting }] of entriesOf(lines)) {
    const event = waiting.flatMap(({ events }) => events).find(matches)
    if (event !== undefined) return { event, place: { kind: 'line', key } }
  }
  return null
}

/** Returns whether this run was called before: it waits here, or the gate tracks it. */
export const isTaken = (state: GateState, run: RunId): boolean =>
  state.kind === 'open' &&
  (valueAt(state.runs, run) !== undefined || waiterOf(state, (event) => event.call?.run === run) !== null)

/** Returns whether this run, which may not have started, holds a key. */
export const holdsKey = (state: GateState, run: RunId): boolean =>
  state.kind === 'open' && entriesOf(state.claims).some(([, claim]) => claim.run === run)

/** Returns whether the gate may still start a run for this event: it has not read the event, or keeps it waiting. */
export const isUndecided = (
  state: GateState,
  { type, sequence }: { readonly type: string; readonly sequence: number },
): boolean => {
  if (state.kind === 'none') return false
  if (sequence <= state.cursor || state.beyond.includes(sequence))
    return waiterOf(state, (event) => event.sequence === sequence) !== null
  return state.types.some(
    (heard) => heard.type === type && sequence > heard.after && (heard.until === null || sequence <= heard.until),
  )
}

/** Returns the state after these last facts of a gate; null if they do not reach back to a checkpoint or to the opening. */
export const resumeGateFrom = (tail: readonly GateFact[]): GateState | null => {
  const begin = tail.findLastIndex(({ type }) => type === 'gate.checkpointed' || type === 'gate.opened')
  return begin === -1 ? null : tail.slice(begin).reduce<GateState>(evolveGate, { kind: 'none' })
}
