/**
 * What the simulator runs: each bill (a list of plays) with the seeded bugs that its plays must find.
 *
 * Owns the table. How much of each is run is up to the caller.
 */
import { COORDINATOR_MUTANTS } from '#test/chaos/sim/mutants/coordinators.ts'
import { MUTANTS } from '#test/chaos/sim/mutants/hunt.ts'
import { LIFE_MUTANTS } from '#test/chaos/sim/mutants/lives.ts'
import type { Mutant } from '#test/chaos/sim/mutants/mutant.ts'
import { PEOPLE_MUTANTS } from '#test/chaos/sim/mutants/people.ts'
import { newCoordinatorSystems, newLifeSystems, newPeopleSystems, newSystems } from './campaign.ts'
import type { Systems } from './system.ts'

export const BILL_NAMES = ['plain', 'coordinators', 'people', 'lives'] as const
export type BillName = (typeof BILL_NAMES)[number]

export interface BillToPlay {
  /** After `npm run sim --`. */
  readonly flag: string
  readonly systems: () => Systems
  readonly mutants: readonly Mutant[]
}

export const BILLS: { readonly [Name in BillName]: BillToPlay } = {
  /** Steps, waits, effects, children. */
  plain: { flag: '', systems: newSystems, mutants: MUTANTS },
  /** Handlers with gates, and schedules. */
  coordinators: { flag: ' --coordinators', systems: newCoordinatorSystems, mutants: COORDINATOR_MUTANTS },
  /** People with tasks. */
  people: { flag: ' --people', systems: newPeopleSystems, mutants: PEOPLE_MUTANTS },
  /** Runs that fail and are retried, the keys that they hold, slots of the past. */
  lives: { flag: ' --lives', systems: newLifeSystems, mutants: LIFE_MUTANTS },
}
