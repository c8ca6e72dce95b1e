/**
 * idempotency, batch-items-1: the holder of each key. At most one live or successful run per key, in all lives of all runs; in a batch each event
 * counts separately, and no event is turned away from a key that is free.
 *
 * Owns its own derivation of who holds a key, from runs and from a gate's facts about events. Never reads the claims of a gate.
 */
import type { GateFact } from '#model/flow/gate-fact.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Look, LookedCoordinator, LookedRun } from '#test/chaos/sim/look.ts'
import type { Life } from './lives.ts'

const isSuccess = ({ end }: Life): boolean => end === 'success' || end === 'partial'

/** `lives`: of all runs of one key. */
export const keptByTwo = (lives: readonly Life[]): readonly string[] => {
  const real = lives.filter(({ isEmpty }) => !isEmpty).toSorted((one, other) => one.bornAt - other.bornAt)
  return real.flatMap((life, i) => {
    const before = real.slice(0, i).filter(({ run }) => run.id !== life.run.id)
    const alive = before.find(({ endedAt }) => endedAt >= life.bornAt)
    const done = before.find(isSuccess)
    return [
      ...(alive === undefined ? [] : [`idempotency: ${life.run.id} lives while ${alive.run.id} of its key lives`]),
      ...(done === undefined
        ? []
        : [`idempotency: ${life.run.id} lives after ${done.run.id} of its key has succeeded`]),
    ]
  })
}

/** Ids of the events of an ended run whose items succeeded. */
const wellIn = ({ state }: LookedRun, look: Look): ReadonlySet<string> => {
  const output = state.kind !== 'ended' || state.output === null ? null : look.value(state.output)
  const items = isJsonRecord(output) && Array.isArray(output['items']) ? (output['items'] as readonly Json[]) : []
  return new Set(
    items.flatMap((item) => (isJsonRecord(item) && item['status'] === 'success' ? String(item['id']) : [])),
  )
}

/** batch-items-1, fact by fact. */
export const itemKeys = (
  look: Look,
  { id, facts }: LookedCoordinator<GateFact>,
  keyOf: (sequence: number) => string,
): readonly string[] => {
  // A person who retries a batch asks for all of it again: its items claim nothing.
  if (facts.some((fact) => 'call' in fact && fact.call?.retry !== undefined)) return []
  const holders = new Map<string, number>()
  const contents = new Map<string, readonly number[]>()
  const wrong: string[] = []
  const take = (sequence: number): void => {
    const holder = holders.get(keyOf(sequence)) ?? sequence
    if (holder !== sequence) wrong.push(`batch-items-1: ${id} took event ${sequence}, whose key event ${holder} has`)
    holders.set(keyOf(sequence), sequence)
  }
  const free = (sequence: number): void => {
    if (holders.get(keyOf(sequence)) === sequence) holders.delete(keyOf(sequence))
  }
  for (const [i, fact] of facts.entries()) {
    if (fact.type === 'gate.window_opened') for (const { sequence } of fact.window.candidate.events) take(sequence)
    if (fact.type === 'gate.window_joined') take(fact.arrival.sequence)
    if (fact.type === 'gate.started') contents.set(fact.run, fact.events)
    if (fact.type === 'trigger.suppressed') {
      const isFree = holders.get(keyOf(fact.sequence)) === undefined
      if (fact.reason === 'duplicate' && isFree)
        wrong.push(`batch-items-1: ${id} turned event ${fact.sequence} away, whose key is free`)
      if (fact.reason !== 'duplicate') free(fact.sequence)
    }
    if (fact.type === 'gate.run_ended')
      for (const sequence of freedBy(look, facts, { run: fact.run, at: i, events: contents.get(fact.run) ?? [] }))
        free(sequence)
  }
  return wrong
}

/** Events of an ended run that failed and are not tried again. */
const freedBy = (
  look: Look,
  facts: readonly GateFact[],
  { run, at, events }: { readonly run: string; readonly at: number; readonly events: readonly number[] },
): readonly number[] => {
  const looked = look.runs().find(({ id }) => id === run)
  const well = looked === undefined ? new Set<string>() : wellIn(looked, look)
  const [next] = facts
    .slice(at + 1)
    .filter((fact) => fact.type === 'gate.window_opened' && fact.key === `again\n${run}`)
  const again = new Set(
    next?.type === 'gate.window_opened' ? next.window.candidate.events.map(({ sequence }) => sequence) : [],
  )
  return events.filter((sequence) => {
    const row = look.row(sequence)
    return !again.has(sequence) && !well.has(row === undefined ? '' : (JSON.parse(row.text).id as string))
  })
}
