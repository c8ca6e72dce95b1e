/**
 * Looking for a seeded bug: schedules are played until one finds it.
 *
 * Owns planting and removing. Seeds are the same for all mutants, so that the number of schedules can be compared.
 */
import { playSeed } from '../campaign.ts'
import type { Systems } from '../system.ts'
import { ENGINE_MUTANTS } from './engine.ts'
import type { Mutant } from './mutant.ts'
import { STORE_MUTANTS } from './store.ts'

export const MUTANTS: readonly Mutant[] = [...STORE_MUTANTS, ...ENGINE_MUTANTS]

export interface Hunted {
  readonly mutant: string
  /** After so many schedules; null if none found it. */
  readonly foundAt: number | null
  readonly by: string
}

export const hunt = async (mutant: Mutant, systems: Systems, limit: number): Promise<Hunted> => {
  const { atStore, atEngine } = mutant
  const options = {
    systems,
    ...(atStore === undefined ? {} : { atStore }),
    ...(atEngine === undefined ? {} : { atEngine }),
  }
  const remove = mutant.plant?.() ?? (() => {})
  try {
    for (let seed = 1; seed <= limit; seed++) {
      const { violations } = await playSeed(seed, options)
      const [first] = violations
      if (first !== undefined) return { mutant: mutant.name, foundAt: seed, by: first.split('\n')[0] ?? first }
    }
    return { mutant: mutant.name, foundAt: null, by: 'nothing' }
  } finally {
    remove()
  }
}
