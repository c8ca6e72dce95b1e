/**
 * Payloads too large for a fact, addressed by the hash of their content.
 *
 * blobs-1  A blob is durable before `put` answers, so a fact may name it.
 * blobs-2  Equal content is stored once.
 */
export interface Blobs {
  put(hash: string, text: string): Promise<void>
  /** Null if there is no such blob. */
  get(hash: string): Promise<string | null>
}
