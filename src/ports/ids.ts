/** Random numbers, ids, hashes and seals: everything new or random comes through here. */
import type { Seals } from './seals.ts'

export interface Ids extends Seals {
  /** A uuid v7 as 32 hex digits. */
  uuid(): string
  /** A number in [0, 1), for jitter. */
  roll(): number
  /** sha256 of the text, base64url without padding. Pure; here because the pure folders may not import a hash function. */
  digest(text: string): string
}
