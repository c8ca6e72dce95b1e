/**
 * Seals: hashes that make changes of the database visible. A seal without a key is the sha256 of the text, which anyone who writes the
 * database can recompute; a seal with a key (`TRIHAND_SEAL_KEY`) cannot be recomputed without it.
 */
import type { EventIdentity, SealCheck } from '#model/kernel/seal.ts'

export interface Seals {
  /** sha256 in base64url, or with a seal key `h1:<key id>:<HMAC-SHA256>`. */
  seal(text: string): string
  checkSeal(seal: string, text: string): SealCheck
  /** Seals the canonical data of an event; with a key, also its identity. */
  sealEvent(identity: EventIdentity, data: string): string
  checkEventSeal(seal: string, identity: EventIdentity, data: string): SealCheck
}
