/**
 * Seals made with a key: the first key of a list seals, all of them verify.
 *
 * model/kernel/seal.ts defines the text that a seal covers.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type EventIdentity, eventText, isKeyedSeal, KEYED, keyIdOf, type SealCheck } from '#model/kernel/seal.ts'
import type { Seals } from '#ports/seals.ts'
import type { Key } from './keys.ts'

const isEqual = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

export class KeyedSeals implements Seals {
  readonly #keys = new Map<string, Buffer>()
  #first: { readonly id: string; readonly bytes: Buffer } | null = null

  constructor(keys: readonly Key[]) {
    for (const key of keys) this.add(key)
  }

  /** Adds a key after the others. */
  add(key: Key): void {
    const bytes = key.derive('seal')
    this.#keys.set(key.id, bytes)
    this.#first ??= { id: key.id, bytes }
  }

  get hasKey(): boolean {
    return this.#first !== null
  }

  seal(text: string): string {
    if (this.#first === null) throw new Error('a ledger is opened before anything is sealed')
    return this.#keyed(this.#first.id, this.#first.bytes, text)
  }

  checkSeal(seal: string, text: string): SealCheck {
    if (!isKeyedSeal(seal)) return 'unkeyed'
    const id = keyIdOf(seal)
    const bytes = this.#keys.get(id)
    if (bytes === undefined) return 'key_missing'
    return isEqual(seal, this.#keyed(id, bytes, text)) ? 'fits' : 'broken'
  }

  sealEvent(identity: EventIdentity, data: string): string {
    return this.seal(eventText(identity, data))
  }

  checkEventSeal(seal: string, identity: EventIdentity, data: string): SealCheck {
    return this.checkSeal(seal, eventText(identity, data))
  }

  #keyed(id: string, bytes: Buffer, text: string): string {
    return `${KEYED}${id}:${createHmac('sha256', bytes).update(text).digest('base64url')}`
  }
}
