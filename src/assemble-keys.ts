/**
 * The keys of a ledger: read from the options or the environment, held against what the ledger says of them.
 *
 * Owns which variable means which key, and what stands between a store and the engine. What a key does is adapters/system.
 */
import { CheckedLedger } from './adapters/system/checked-ledger.ts'
import { Cipher } from './adapters/system/cipher.ts'
import { SystemIds } from './adapters/system/ids.ts'
import { type KeyRing, openKeyRecord, readKeyRecord } from './adapters/system/key-record.ts'
import { KeyedSeals } from './adapters/system/keyed-seals.ts'
import { type Key, LEDGER_KEY, readKeys } from './adapters/system/keys.ts'
import { Payloads } from './adapters/system/payloads.ts'
import { VaultLedger, vaultBlobs, vaultReader } from './adapters/system/vault.ts'
import type { Store } from './assemble-stores.ts'
import type { Environment } from './manifest/reference.ts'

export interface KeyOptions {
  /** Seals facts and events with HMAC. Several keys, with commas: the first seals, all check. Default: `TRIHAND_SEAL_KEY`. */
  readonly sealKey?: string
  /** Encrypts payloads. Several keys, with commas: the first encrypts, all decrypt. Default: `TRIHAND_LEDGER_KEY`. */
  readonly ledgerKey?: string
}

/** An encrypted ledger is sealed, too: a plain hash would tell who guesses a payload that the guess is right. */
export const readKeyRing = ({ sealKey, ledgerKey }: KeyOptions, environment: Environment): KeyRing => {
  const seals = new KeyedSeals(readKeys('TRIHAND_SEAL_KEY', sealKey ?? environment['TRIHAND_SEAL_KEY']))
  return { seals, ledger: readKeys(LEDGER_KEY, ledgerKey ?? environment[LEDGER_KEY]) }
}

const isSome = (keys: readonly Key[]): keys is readonly [Key, ...Key[]] => keys.length > 0

export const idsWith = ({ seals, ledger }: KeyRing): SystemIds =>
  seals.hasKey || isSome(ledger) ? new SystemIds(seals) : new SystemIds()

/** The store as the engine may use it: with these keys, and checked. Closed if the keys are not those of the ledger. */
export const withKeys = async (store: Store, ring: KeyRing, ids: SystemIds): Promise<Store> => {
  try {
    const opened = encrypted(store, ring.ledger, await openKeyRecord(store, ids, ring))
    return { ...opened, ledger: new CheckedLedger(opened.ledger, ids) }
  } catch (error) {
    await store.ledger.close()
    throw error
  }
}

const encrypted = (store: Store, keys: readonly Key[], own: Key | null): Store => {
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
