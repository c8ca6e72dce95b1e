/** What a judge may look at: the store, what the witness saw at each call, what callers were told, what the world saw. */
import type { Client } from '../client.ts'
import type { Look } from '../look.ts'
import type { Witness } from '../witness.ts'
import type { World } from '../world.ts'

export interface Evidence {
  readonly look: Look
  readonly witness: Witness
  readonly client: Client
  readonly world: World
  /** Some clock was wrong: what two workers say of one span of time may differ. */
  readonly isSkewed: boolean
  /** Some worker crashed, or was told to stop and gave back what it had not finished. */
  readonly hasLostWorker: boolean
}
