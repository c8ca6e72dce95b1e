/**
 * Seals made with a key: the first of a list seals, all of them check.
 *
 * What a seal covers is model/seal.ts.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type EventIdentity, eventText, isKeyedSeal, KEYED, keyIdOf, type SealCheck } from '../../model/seal.ts'
import type { Seals } from '../../ports/seals.ts'
import type { Key } from './keys.ts'

const isEqual = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

export class KeyedSeals implements Seals {
  readonly #keys: ReadonlyMap<string, Buffer>
  readonly #first: { readonly id: string; readonly bytes: Buffer }

  constructor(keys: readonly [Key, ...Key[]]) {
    this.#keys = new Map(keys.map((key) => [key.id, key.derive('seal')]))
    const [first] = keys
    this.#first = { id: first.id, bytes: first.derive('seal') }
  }

  seal(text: string): string {
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
