/**
 * What a ledger says of the keys that it was written with: one document in clear, made by the first process that opens it with a key.
 *
 * Owns the refusals at the start. The record tells nothing of a key but its id. Without it a ledger that has entries is refused, so that
 * deleting it hides nothing.
 *
 * key-record-1  A ledger is opened only with all keys that its record names, and without keys only if it names none.
 * key-record-2  A ledger that has entries of before a key is refused and never read half and half.
 */
import { TrihandError } from '../../model/errors.ts'
import { LOCAL_TENANT } from '../../model/ids.ts'
import type { Json } from '../../model/json.ts'
import { keyIdOf } from '../../model/seal.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Ledger } from '../../ports/ledger.ts'
import type { Reader } from '../../ports/reader.ts'
import type { Key } from './keys.ts'

const KEY_RECORD = { tenant: LOCAL_TENANT, table: 'trihand.ledger', key: 'keys' } as const

export interface KeyRecord {
  /** One seal for each key that has sealed. They cover `index`. */
  readonly seals: readonly string[]
  /** The ids of the keys that have encrypted. */
  readonly encrypted: readonly string[]
  /** The id of the key that makes the tokens of this ledger; null: it is not encrypted. */
  readonly index: string | null
}

export interface RecordedStore {
  readonly ledger: Pick<Ledger, 'append'>
  readonly reader: Pick<Reader, 'document' | 'documents' | 'runs' | 'events'>
}

/** The keys of this process. `seal`: all that check a seal, the one that seals first. */
export interface KeyRing {
  readonly seal: readonly Key[]
  readonly ledger: readonly Key[]
}

const sealedText = (index: string | null): string => `trihand ledger ${index ?? ''}`

/** Answers the id of the key that makes the tokens; null: the ledger is not encrypted. */
export const openKeyRecord = async (store: RecordedStore, ids: Ids, ring: KeyRing): Promise<string | null> => {
  const { tenant, table, key } = KEY_RECORD
  const found = (await store.reader.document(tenant, table, key)) as unknown as KeyRecord | null
  if (found !== null) check(found, ids, ring)
  const isNew = ring.seal.length > 0 && (found === null || (found.index === null && ring.ledger.length > 0))
  if (isNew && !(await isEmpty(store.reader)))
    throw new TrihandError('LEDGER_NOT_SEALED', 'the ledger has entries that were written without this key')
  const record = recordWith(found, ids, ring)
  if (JSON.stringify(record) !== JSON.stringify(found) && ring.seal.length > 0) await write(store, ids, record)
  return record.index
}

const check = ({ seals, encrypted, index }: KeyRecord, ids: Ids, ring: KeyRing): void => {
  if (index !== null && ring.ledger.length === 0)
    throw new TrihandError('LEDGER_KEY_MISSING', `the ledger is encrypted with key ${index}, and there is no key`)
  const lacking = [...encrypted, ...(index === null ? [] : [index])].find(
    (id) => !ring.ledger.some((key) => key.id === id),
  )
  if (lacking !== undefined)
    throw new TrihandError('LEDGER_KEY_WRONG', `the ledger is encrypted with key ${lacking}, which is not in the list`)
  const [first] = seals
  if (first !== undefined && ring.seal.length === 0)
    throw new TrihandError('SEAL_KEY_MISSING', `the ledger is sealed with key ${keyIdOf(first)}, and there is no key`)
  const misfit = seals.find((seal) => ids.checkSeal(seal, sealedText(index)) !== 'fits')
  if (misfit !== undefined)
    throw new TrihandError(
      'SEAL_KEY_WRONG',
      `the ledger is sealed with key ${keyIdOf(misfit)}, which is not in the list`,
    )
}

/** With the keys that this process uses. */
const recordWith = (found: KeyRecord | null, ids: Pick<Ids, 'seal'>, { seal, ledger }: KeyRing): KeyRecord => {
  const { seals = [], encrypted = [], index = null } = found ?? {}
  const token = index ?? ledger[0]?.id ?? null
  const own = seal.length === 0 ? [] : [ids.seal(sealedText(token))]
  const others = seals.filter((one) => own.every((mine) => keyIdOf(mine) !== keyIdOf(one)))
  return {
    seals: [...others, ...own],
    encrypted: [...new Set([...encrypted, ...ledger.slice(0, 1).map(({ id }) => id)])],
    index: token,
  }
}

const write = async (store: RecordedStore, ids: Ids, record: KeyRecord): Promise<void> => {
  const document = { ...KEY_RECORD, value: record as unknown as Json }
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
