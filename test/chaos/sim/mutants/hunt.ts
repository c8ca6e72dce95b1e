/**
 * Searches for a seeded bug: schedules are run until one finds it.
 *
 * Owns planting and removing. At full size seeds are the same for all mutants, so that the number of schedules can be compared.
 */
import { playSeed } from '#test/chaos/sim/campaign.ts'
import type { Systems } from '#test/chaos/sim/system.ts'
import { ENGINE_MUTANTS } from './engine.ts'
import type { Mutant } from './mutant.ts'
import { STORE_MUTANTS } from './store.ts'

export const MUTANTS: readonly Mutant[] = [...STORE_MUTANTS, ...ENGINE_MUTANTS]

export interface Hunted {
  readonly mutant: string
  /** The seed that found it, which is the number of schedules if all were tried in turn; null if none did. */
  readonly foundAt: number | null
  readonly by: string
}

/** Every seed in turn, up to a limit. */
export const hunt = (mutant: Mutant, systems: Systems, limit: number): Promise<Hunted> =>
  huntIn(
    mutant,
    systems,
    Array.from({ length: limit }, (_, at) => at + 1),
  )

/** The seed that has shown it before, tried before all others: as certain to find it, and faster. */
export const huntAgain = async (mutant: Mutant, systems: Systems, limit: number): Promise<Hunted> => {
  const again = mutant.seenAt === undefined ? null : await huntIn(mutant, systems, [mutant.seenAt])
  return again === null || again.foundAt === null ? hunt(mutant, systems, limit) : again
}

const huntIn = async (mutant: Mutant, systems: Systems, seeds: readonly number[]): Promise<Hunted> => {
  const { atStore, atEngine } = mutant
  const options = {
    systems,
    ...(atStore === undefined ? {} : { atStore }),
    ...(atEngine === undefined ? {} : { atEngine }),
  }
  const remove = mutant.plant?.() ?? (() => {})
  try {
    for (const seed of seeds) {
      const { violations } = await playSeed(seed, options)
      const [first] = violations
      if (first !== undefined) return { mutant: mutant.name, foundAt: seed, by: first.split('\n')[0] ?? first }
    }
    return { mutant: mutant.name, foundAt: null, by: 'nothing' }
  } finally {
    remove()
  }
}
