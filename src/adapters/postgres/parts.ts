/**
 * How a batch of appends is parted: each part has its own way to the tables.
 *
 * Owns the choice. A few steps among other things are not worth a statement of their own.
 */
import type { Append } from '../../ports/ledger.ts'
import type { HeldRuns } from './held.ts'

/** Steps of held runs; releases that bring no fact; the rest. */
export type Way = 'step' | 'release' | 'rest'

/** The places of the appends in the batch, in its order. */
export type Parts = ReadonlyMap<Way, readonly number[]>

const WORTH_A_STATEMENT = 24

export const partsOf = (batch: readonly Append[], held: HeldRuns): Parts => {
  const places: Record<Way, number[]> = { step: [], release: [], rest: [] }
  for (const [place, append] of batch.entries()) places[wayOf(append, held)].push(place)
  const { step, rest } = places
  const others = batch.length - step.length
  const parts: Record<Way, readonly number[]> =
    others > 0 && step.length < WORTH_A_STATEMENT
      ? { ...places, step: [], rest: [...step, ...rest].sort((a, b) => a - b) }
      : places
  return new Map((Object.keys(parts) as Way[]).flatMap((way) => (parts[way].length > 0 ? [[way, parts[way]]] : [])))
}

const wayOf = (append: Append, held: HeldRuns): Way => {
  if (held.isStep(append)) return 'step'
  return append.writes.some(({ create, facts }) => create === null && facts.length === 0) ? 'release' : 'rest'
}
