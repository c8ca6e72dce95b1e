/**
 * The keys of a ledger: read from the options or the environment, held against what the ledger says of them.
 *
 * Owns which variable means which key. What a key does is adapters/system.
 */
import { CheckedLedger } from './adapters/system/checked-ledger.ts'
import { SystemIds } from './adapters/system/ids.ts'
import { openKeyRecord } from './adapters/system/key-record.ts'
import { KeyedSeals } from './adapters/system/keyed-seals.ts'
import { type Key, readKeys } from './adapters/system/keys.ts'
import type { Store } from './assemble-stores.ts'
import type { Environment } from './manifest/reference.ts'

export interface KeyOptions {
  /** Seals the facts and events of the ledger with HMAC: `TRIHAND_SEAL_KEY`. Several keys, with commas: the first seals, all check. */
  readonly sealKey?: string
}

export interface LedgerKeys {
  readonly seal: readonly Key[]
}

export const readLedgerKeys = ({ sealKey }: KeyOptions, environment: Environment): LedgerKeys => ({
  seal: readKeys('TRIHAND_SEAL_KEY', sealKey ?? environment['TRIHAND_SEAL_KEY']),
})

const isSome = (keys: readonly Key[]): keys is readonly [Key, ...Key[]] => keys.length > 0

export const idsWith = ({ seal }: LedgerKeys): SystemIds =>
  isSome(seal) ? new SystemIds(new KeyedSeals(seal)) : new SystemIds()

/** The store as the engine may use it: with these keys, and checked. Closed if the keys are not those of the ledger. */
export const withKeys = async (store: Store, keys: LedgerKeys, ids: SystemIds): Promise<Store> => {
  try {
    await openKeyRecord(store, ids, isSome(keys.seal))
  } catch (error) {
    await store.ledger.close()
    throw error
  }
  return { ...store, ledger: new CheckedLedger(store.ledger, ids) }
}
