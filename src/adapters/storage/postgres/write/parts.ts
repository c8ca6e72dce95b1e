/**
 * How a batch of appends is parted: each part has its own way to the tables, and is a transaction of its own.
 *
 * Owns the choice. Steps of held runs take the short way, in a part of their own or beside other appends in the same transaction: a
 * second commit would cost more than the short way saves.
 */
import type { Append } from '#ports/ledger.ts'
import type { HeldRuns } from './held.ts'

/** Where appends stand in the batch. */
type Places = readonly number[]

/** Steps of held runs alone; releases that bring no fact; any other appends, with steps beside them. */
export type Part =
  | { readonly way: 'steps' | 'releases' | 'any'; readonly places: Places }
  | { readonly way: 'both'; readonly steps: Places; readonly others: Places }

/** Fewer steps than this are not worth a statement of their own. */
const FEW_STEPS = 8

export const partsOf = (batch: readonly Append[], held: HeldRuns): readonly Part[] => {
  const all = batch.map((_, place) => place)
  const isStep = batch.map((append) => held.isStep(append))
  const steps = all.filter((place) => isStep[place])
  if (steps.length === all.length) return [{ way: 'steps', places: all }]
  const isRelease = batch.map(bringsRelease)
  const releases = all.filter((place) => isRelease[place])
  const rest = all.filter((place) => !isRelease[place])
  const others = rest.filter((place) => !isStep[place])
  const isMixed = steps.length >= FEW_STEPS && others.length > 0
  const parts: readonly Part[] = [
    { way: 'releases', places: releases },
    isMixed ? { way: 'both', steps, others } : { way: 'any', places: rest },
  ]
  return parts.filter((part) => part.way === 'both' || part.places.length > 0)
}

const bringsRelease = ({ writes }: Append): boolean =>
  writes.some(({ create, facts }) => create === null && facts.length === 0)
