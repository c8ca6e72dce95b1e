/**
 * How a batch of appends is parted: each part has its own way to the tables, and is a transaction of its own.
 *
 * Owns the choice. Steps take the short way only where there is nothing else: two commits cost more than a longer statement.
 */
import type { Append } from '../../ports/ledger.ts'
import type { HeldRuns } from './held.ts'

/** Steps of held runs alone; releases that bring no fact; any other appends. */
export type Way = 'steps' | 'releases' | 'any'

export interface Part {
  readonly way: Way
  /** Where its appends stand in the batch. */
  readonly places: readonly number[]
}

export const partsOf = (batch: readonly Append[], held: HeldRuns): readonly Part[] => {
  const all = batch.map((_, place) => place)
  if (batch.every((append) => held.isStep(append))) return [{ way: 'steps', places: all }]
  const isRelease = batch.map(bringsRelease)
  const parts: readonly Part[] = [
    { way: 'releases', places: all.filter((place) => isRelease[place]) },
    { way: 'any', places: all.filter((place) => !isRelease[place]) },
  ]
  return parts.filter(({ places }) => places.length > 0)
}

const bringsRelease = ({ writes }: Append): boolean =>
  writes.some(({ create, facts }) => create === null && facts.length === 0)
