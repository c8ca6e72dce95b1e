/**
 * Where a ledger keeps what it says of its keys, and how that is read: at every start, also of a ledger that has none.
 *
 * Owns the shape of the document. What it means is key-record.ts, which is loaded where there are keys.
 */
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Reader } from '#ports/reader.ts'

export const KEY_RECORD = { tenant: LOCAL_TENANT, table: 'trihand.ledger', key: 'keys' } as const

export interface KeyRecord {
  /** One seal for each key that has sealed. They cover the id of the ledger's own key. */
  readonly seals: readonly string[]
  /** The ids of the keys that payloads may be encrypted with. */
  readonly encrypted: readonly string[]
  /** The ledger's own secret, encrypted with each of these keys: it makes tokens and seals, and stays when they change. None: in clear. */
  readonly secret: readonly string[]
  /** The id of the key that a `trihand rekey` was begun with and has not reached yet. */
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
