/**
 * The document in which a ledger records its keys, and how it is read: at every start, also for a ledger without keys.
 *
 * Owns the format of the document. key-record.ts interprets it, and is loaded only where there are keys.
 */
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Reader } from '#ports/reader.ts'

export const KEY_RECORD = { tenant: LOCAL_TENANT, table: 'trihand.ledger', key: 'keys' } as const

export interface KeyRecord {
  /** One seal for each key that has sealed. They cover the id of the ledger's own key. */
  readonly seals: readonly string[]
  /** The ids of the keys that payloads may be encrypted with. */
  readonly encrypted: readonly string[]
  /**
   * The ledger's own secret, encrypted with each of these keys: it makes tokens and seals, and stays when keys change. Empty: the ledger is in
   * clear.
   */
  readonly secret: readonly string[]
  /** The id of the new key of a `trihand rekey` that has begun and not finished. */
  readonly changingTo?: string
}

export const readKeyRecord = async ({
  reader,
}: {
  readonly reader: Pick<Reader, 'document'>
}): Promise<KeyRecord | null> => {
  const { tenant, table, key } = KEY_RECORD
  return (await reader.document(tenant, table, key)) as unknown as KeyRecord | null
}
