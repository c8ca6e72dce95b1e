/**
 * A ledger's record of the keys that it was written with: one unencrypted document, made by the first process that opens it with a key.
 *
 * Owns the refusals at start. The record reveals nothing of a key but its id. A ledger with entries but without the record is refused, so
 * that deleting the record hides nothing.
 *
 * key-record-1  A ledger is opened only with all keys that its record names, and without keys only if it names none.
 * key-record-2  A ledger with entries from before a key is refused and never read in part.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT, SERVER_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { keyIdOf } from '#model/kernel/seal.ts'
import type { Ids } from '#ports/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { Cipher } from './cipher.ts'
import { KEY_RECORD, type KeyRecord, readKeyRecord } from './key-document.ts'
import type { KeyedSeals } from './keyed-seals.ts'
import { firstSecret, type Key, ownKey } from './keys.ts'

const SECRET_PLACE = 'ledger secret'

export interface RecordedStore {
  readonly ledger: Pick<Ledger, 'append'>
  readonly reader: Pick<Reader, 'document' | 'documents' | 'runs' | 'events'>
}

/** The keys of this process. `seals` gets the ledger's own key when the ledger is opened. */
export interface KeyRing {
  readonly seals: KeyedSeals
  readonly ledger: readonly Key[]
}

const sealedText = (own: Key | null): string => `trihand ledger ${own?.id ?? ''}`

/** Returns the ledger's own key; null: the ledger is not encrypted. Nothing is written unless every key fits. */
export const openKeyRecord = async (store: RecordedStore, ids: Ids, ring: KeyRing): Promise<Key | null> => {
  const found = await readKeyRecord(store)
  if (found !== null) checkLedgerKeys(found, ring)
  const own = ownKeyOf(found, ring)
  if (own !== null) ring.seals.add(own)
  if (found !== null) checkSeals(found, own, ids, ring)
  const isNew = ring.seals.hasKey && (found === null || (found.secret.length === 0 && own !== null))
  if (isNew && !(await isEmpty(store.reader)))
    throw new TrihandError('LEDGER_NOT_SEALED', 'the ledger has entries that were written without this key')
  const record = recordWith(found, own, ids, ring)
  if (JSON.stringify(record) !== JSON.stringify(found) && ring.seals.hasKey) await writeKeyRecord(store, ids, record)
  return own
}

const checkLedgerKeys = ({ encrypted, changingTo }: KeyRecord, { ledger }: KeyRing): void => {
  const [newest] = ledger
  if (encrypted.length > 0 && newest === undefined)
    throw new TrihandError(
      'LEDGER_KEY_MISSING',
      `the ledger is encrypted with key ${encrypted.join(', ')}, and no key is given`,
    )
  const lacking = encrypted.find((id) => !ledger.some((key) => key.id === id))
  if (lacking !== undefined)
    throw new TrihandError(
      'LEDGER_KEY_WRONG',
      `the ledger is encrypted with key ${lacking}, which is not in the list of keys`,
    )
  if (changingTo !== undefined && newest?.id !== changingTo)
    throw new TrihandError(
      'LEDGER_KEY_WRONG',
      `the change of the payloads to key ${changingTo} is not complete: put this key first, and run trihand rekey again`,
    )
}

const checkSeals = ({ seals }: KeyRecord, own: Key | null, ids: Ids, ring: KeyRing): void => {
  const [first] = seals
  if (first !== undefined && !ring.seals.hasKey)
    throw new TrihandError('SEAL_KEY_MISSING', `the ledger is sealed with key ${keyIdOf(first)}, and no key is given`)
  const misfit = seals.find((seal) => ids.checkSeal(seal, sealedText(own)) !== 'fits')
  if (misfit !== undefined)
    throw new TrihandError(
      'SEAL_KEY_WRONG',
      `the ledger is sealed with key ${keyIdOf(misfit)}, which is not in the list of keys`,
    )
}

/** A new ledger begins with the oldest key, so that processes with and without a newer key begin it alike. */
const ownKeyOf = (found: KeyRecord | null, { ledger }: KeyRing): Key | null => {
  const [oldest, wrapped] = [ledger.at(-1), found?.secret[0]]
  if (oldest === undefined) return null
  if (wrapped === undefined) return ownKey(firstSecret(oldest))
  return ownKey(wrapping(ledger, oldest).show('', SECRET_PLACE, wrapped))
}

const wrapping = (keys: readonly Key[], first: Key): Cipher => new Cipher([first, ...keys], first)

/** The record extended by the keys that this process uses. */
const recordWith = (found: KeyRecord | null, own: Key | null, ids: Pick<Ids, 'seal'>, ring: KeyRing): KeyRecord => {
  const { seals = [], encrypted = [], secret = [], ...rest } = found ?? {}
  const [newest] = ring.ledger
  const mine = ring.seals.hasKey ? [ids.seal(sealedText(own))] : []
  const others = seals.filter((one) => mine.every((seal) => keyIdOf(seal) !== keyIdOf(one)))
  const isKnown = newest === undefined || encrypted.includes(newest.id)
  return {
    seals: [...others, ...mine],
    encrypted: isKnown ? encrypted : [...encrypted, newest.id],
    secret: isKnown ? secret : [...secret, ...secretFor(found, ring.ledger, newest)],
    ...rest,
  }
}

/** The ledger's own secret, encrypted with this key. */
const secretFor = (found: KeyRecord | null, keys: readonly Key[], key: Key): readonly string[] => {
  const oldest = keys.at(-1) as Key
  const wrapped = found?.secret[0]
  const cipher = wrapping(keys, key)
  const text = wrapped === undefined ? firstSecret(oldest) : cipher.show('', SECRET_PLACE, wrapped)
  return [cipher.hide('', SECRET_PLACE, text)]
}

/** The record while all payloads are changed to the first key; `changedRecord` is the one after it. */
export const changingRecord = (found: KeyRecord, { ledger: [newest] }: KeyRing): KeyRecord =>
  newest === undefined ? found : { ...found, changingTo: newest.id }

export const changedRecord = (found: KeyRecord, { ledger }: KeyRing): KeyRecord => {
  const [newest] = ledger
  const { seals } = found
  return newest === undefined ? found : { seals, encrypted: [newest.id], secret: secretFor(found, ledger, newest) }
}

export const writeKeyRecord = async (store: RecordedStore, ids: Ids, record: KeyRecord): Promise<void> => {
  const document = { ...KEY_RECORD, value: record as unknown as Json }
  await store.ledger.append([{ appendId: ids.uuid(), writes: [], events: [], signals: [], documents: [document] }])
}

/** Every process that works writes its system document before anything else. */
const isEmpty = async (reader: RecordedStore['reader']): Promise<boolean> => {
  const tenant = LOCAL_TENANT
  const found = await Promise.all([
    reader.documents({ tenant: SERVER_TENANT, table: 'trihand.system', after: null, limit: 1 }),
    reader.runs({ tenant, status: null, handler: null, before: null, limit: 1 }),
    reader.events({ tenant, type: null, before: null, limit: 1 }),
  ])
  return found.every((rows) => rows.length === 0)
}
