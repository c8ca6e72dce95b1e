/**
 * The keys of a ledger: read from the options or the environment, and compared with what the ledger records about them.
 *
 * Owns which variable means which key, and what is placed between a store and the engine. What a key does is adapters/system.
 */
import { CheckedLedger } from '#adapters/system/checked-ledger.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { readKeyRecord } from '#adapters/system/key-document.ts'
import type { KeyRing } from '#adapters/system/key-record.ts'
import { KeyedSeals } from '#adapters/system/keyed-seals.ts'
import { LEDGER_KEY, readKeys } from '#adapters/system/keys.ts'
import type { Environment } from '#manifest/expressions/reference.ts'
import type { Store } from './stores.ts'

/** The keys of a ledger: `{ sealKey: process.env.SEAL_KEY }`. */
export interface KeyOptions {
  /** Seals facts and events with HMAC. Several keys, separated by commas: the first seals, all verify. Default: `TRIHAND_SEAL_KEY`. */
  readonly sealKey?: string
  /** Encrypts payloads. Several keys, separated by commas: the first encrypts, all decrypt. Default: `TRIHAND_LEDGER_KEY`. */
  readonly ledgerKey?: string
}

/** An encrypted ledger is sealed, too: a plain hash would confirm a guess at a payload. */
export const readKeyRing = ({ sealKey, ledgerKey }: KeyOptions, environment: Environment): KeyRing => {
  const seals = new KeyedSeals(readKeys('TRIHAND_SEAL_KEY', sealKey ?? environment['TRIHAND_SEAL_KEY']))
  return { seals, ledger: readKeys(LEDGER_KEY, ledgerKey ?? environment[LEDGER_KEY]) }
}

export const idsWith = ({ seals, ledger }: KeyRing): SystemIds =>
  seals.hasKey || ledger.length > 0 ? new SystemIds(seals) : new SystemIds()

/** Most ledgers have no key, so the code for keys is loaded only if the ring or the ledger has one. */
const opens = async (store: Store, ring: KeyRing, ids: SystemIds): Promise<Store> => {
  const isPlain = !ring.seals.hasKey && ring.ledger.length === 0
  if (isPlain && (await readKeyRecord(store)) === null) return store
  return (await import('./vault.ts')).withVault(store, ring, ids)
}

/** The store as the engine may use it: with these keys, and checked. Closes the store if the keys are not those of the ledger. */
export const withKeys = async (store: Store, ring: KeyRing, ids: SystemIds): Promise<Store> => {
  try {
    const opened = await opens(store, ring, ids)
    return { ...opened, ledger: new CheckedLedger(opened.ledger, ids) }
  } catch (error) {
    await store.ledger.close()
    throw error
  }
}
