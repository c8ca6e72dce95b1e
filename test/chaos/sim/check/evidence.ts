/** What a check may read: the store, what the witness saw at each call, what callers were answered, what the world saw. */
import type { Client } from '#test/chaos/sim/client.ts'
import type { Look } from '#test/chaos/sim/look.ts'
import type { Absence, Witness } from '#test/chaos/sim/witness.ts'
import type { World } from '#test/chaos/sim/world.ts'

export interface Evidence {
  readonly look: Look
  readonly witness: Witness
  readonly client: Client
  readonly world: World
  /** Some clock was wrong, so two workers may disagree about one span of time. */
  readonly isSkewed: boolean
  /** When each worker was dead, about to stop, asleep or silent for longer than a lease. */
  readonly absences: readonly Absence[]
}
