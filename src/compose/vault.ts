/**
 * The wiring of keys: what is placed between a store and the engine where a ledger is sealed or encrypted. Loaded for such a ledger only.
 *
 * Owns nothing else. Which keys a process has is keys.ts, what they do is adapters/system.
 */
import { Cipher } from '#adapters/system/cipher.ts'
import type { SystemIds } from '#adapters/system/ids.ts'
import { readKeyRecord } from '#adapters/system/key-document.ts'
import { type KeyRing, openKeyRecord } from '#adapters/system/key-record.ts'
import type { Key } from '#adapters/system/keys.ts'
import { Payloads } from '#adapters/system/payloads.ts'
import { VaultLedger, vaultBlobs, vaultReader } from '#adapters/system/vault.ts'
import type { Store } from './stores.ts'

const isSome = (keys: readonly Key[]): keys is readonly [Key, ...Key[]] => keys.length > 0

/** Throws unless the keys are those that the ledger names. */
export const withVault = async (store: Store, ring: KeyRing, ids: SystemIds): Promise<Store> => {
  const keys = ring.ledger
  const own = await openKeyRecord(store, ids, ring)
  if (own === null || !isSome(keys)) return store
  const payloads = new Payloads(new Cipher(keys, own))
  const isNamed = async (key: string): Promise<boolean> =>
    (await readKeyRecord(store))?.encrypted.includes(key) ?? false
  return {
    ...store,
    ledger: new VaultLedger(store.ledger, payloads, isNamed),
    reader: vaultReader(store.reader, payloads),
    blobs: vaultBlobs(store.blobs, payloads),
  }
}
