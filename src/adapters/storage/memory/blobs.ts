/** Blobs in a map: they live as long as this object, which several engines may share. */
import type { Blobs } from '#ports/blobs.ts'

export class MemoryBlobs implements Blobs {
  readonly #texts = new Map<string, string>()

  async put(hash: string, text: string): Promise<void> {
    this.#texts.set(hash, text)
  }

  async get(hash: string): Promise<string | null> {
    return this.#texts.get(hash) ?? null
  }
}
