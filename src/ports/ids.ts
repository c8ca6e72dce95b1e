/** Chance and hashes: everything new or random comes through here. */
export interface Ids {
  /** A uuid v7 as 32 hex digits. */
  uuid(): string
  /** A number in [0, 1), for jitter. */
  roll(): number
  /** sha256 of the text, base64url without padding. Pure; here because the pure rooms may not import a hash. */
  digest(text: string): string
}
