/**
 * Real randomness and hashes. Ids increase with time, also within one millisecond.
 *
 * Owns the format of uuids of version 7: 48 bits of time, a 32-bit counter that starts at a random number, 42 random bits.
 */
import { hash, randomFillSync } from 'node:crypto'
import { type EventIdentity, plainSeals, type SealCheck } from '#model/kernel/seal.ts'
import type { Ids } from '#ports/ids.ts'
import type { Seals } from '#ports/seals.ts'

const UUID_BYTES = 16
/** Random bytes are drawn for many ids at once: one call for a single id takes longer than the rest of its making. */
const POOL_BYTES = 8_192
const CHANCE_PER_ID = 10
const COUNT_LIMIT = 2 ** 32

const digest = (text: string): string => hash('sha256', text, 'base64url')

export class SystemIds implements Ids {
  readonly #pool = Buffer.alloc(POOL_BYTES)
  #drawn = POOL_BYTES
  readonly #seals: Seals
  #now = 0
  #count = 0

  constructor(seals: Seals = plainSeals(digest)) {
    this.#seals = seals
  }

  uuid(): string {
    const from = this.#draw()
    this.#advance(from)
    const bytes = Buffer.allocUnsafe(UUID_BYTES)
    const count = this.#count
    bytes.writeUIntBE(this.#now, 0, 6)
    bytes[6] = 0x70 | (count >>> 28)
    bytes[7] = count >>> 20
    bytes[8] = 0x80 | ((count >>> 14) & 0x3f)
    bytes[9] = count >>> 6
    this.#pool.copy(bytes, 10, from + 4, from + CHANCE_PER_ID)
    bytes[10] = (count << 2) | (bytes.readUInt8(10) & 0x03)
    return bytes.toString('hex')
  }

  roll(): number {
    return Math.random()
  }

  digest(text: string): string {
    return digest(text)
  }

  seal(text: string): string {
    return this.#seals.seal(text)
  }

  checkSeal(seal: string, text: string): SealCheck {
    return this.#seals.checkSeal(seal, text)
  }

  sealEvent(identity: EventIdentity, data: string): string {
    return this.#seals.sealEvent(identity, data)
  }

  checkEventSeal(seal: string, identity: EventIdentity, data: string): SealCheck {
    return this.#seals.checkEventSeal(seal, identity, data)
  }

  /** Index in the pool of the random bytes for the next id. */
  #draw(): number {
    if (this.#drawn + CHANCE_PER_ID > POOL_BYTES) {
      randomFillSync(this.#pool)
      this.#drawn = 0
    }
    const from = this.#drawn
    this.#drawn += CHANCE_PER_ID
    return from
  }

  /** If the clock stops or goes back, the counter continues. */
  #advance(from: number): void {
    const now = Date.now()
    if (now > this.#now) {
      this.#now = now
      // The first bit stays free, so that there is room to count.
      this.#count = this.#pool.readUInt32BE(from) >>> 1
      return
    }
    this.#count += 1
    if (this.#count < COUNT_LIMIT) return
    this.#count = 0
    this.#now += 1
  }
}
