/**
 * What a ledger says of the keys that it was written with: one document, made by the first process that opens it with a key.
 *
 * Owns the refusals at the start. The record tells nothing of a key but its id. Without it a ledger that has entries is refused, so that
 * deleting it hides nothing.
 *
 * key-record-1  A ledger is opened only with a ring that has the keys its record names, and only without keys if it names none.
 * key-record-2  A ledger that has entries of before the key is refused, never read half and half.
 */
import { TrihandError } from '../../model/errors.ts'
import { LOCAL_TENANT } from '../../model/ids.ts'
import type { Json } from '../../model/json.ts'
import { keyIdOf } from '../../model/seal.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Ledger } from '../../ports/ledger.ts'
import type { Reader } from '../../ports/reader.ts'

const TABLE = 'trihand.ledger'
const KEY = 'keys'
/** What the check of a seal key is made of. */
const SEALED_TEXT = 'trihand ledger'

interface KeyRecord {
  /** A seal that only the right key makes. */
  readonly seal: string | null
}

export interface RecordedStore {
  readonly ledger: Pick<Ledger, 'append'>
  readonly reader: Pick<Reader, 'document' | 'documents' | 'runs' | 'events'>
}

export const openKeyRecord = async (store: RecordedStore, ids: Ids, isSealed: boolean): Promise<void> => {
  const found = (await store.reader.document(LOCAL_TENANT, TABLE, KEY)) as unknown as KeyRecord | null
  const seal = found?.seal ?? null
  if (seal === null && !isSealed) return
  if (seal === null) return begin(store, ids)
  if (!isSealed)
    throw new TrihandError('SEAL_KEY_MISSING', `the ledger is sealed with key ${keyIdOf(seal)}, and there is no key`)
  if (ids.checkSeal(seal, SEALED_TEXT) !== 'fits')
    throw new TrihandError(
      'SEAL_KEY_WRONG',
      `the ledger is sealed with key ${keyIdOf(seal)}, which the list does not have`,
    )
}

const begin = async (store: RecordedStore, ids: Ids): Promise<void> => {
  if (!(await isEmpty(store.reader)))
    throw new TrihandError('LEDGER_NOT_SEALED', 'the ledger has entries that were written without the seal key')
  await writeKeyRecord(store, ids)
}

const writeKeyRecord = async (store: RecordedStore, ids: Ids): Promise<void> => {
  const record: KeyRecord = { seal: ids.seal(SEALED_TEXT) }
  const document = { tenant: LOCAL_TENANT, table: TABLE, key: KEY, value: record as unknown as Json }
  await store.ledger.append([{ appendId: ids.uuid(), writes: [], events: [], signals: [], documents: [document] }])
}

/** Every process that works writes down its system before it does anything else. */
const isEmpty = async (reader: RecordedStore['reader']): Promise<boolean> => {
  const tenant = LOCAL_TENANT
  const found = await Promise.all([
    reader.documents({ tenant, table: 'trihand.system', after: null, limit: 1 }),
    reader.runs({ tenant, status: null, handler: null, before: null, limit: 1 }),
    reader.events({ tenant, type: null, before: null, limit: 1 }),
  ])
  return found.every((rows) => rows.length === 0)
}
