/**
 * The wiring of `trihand rekey`: re-encrypts the payloads of a ledger that no process uses with the first key of the list.
 *
 * Owns the refusals before anything is written, and the record of keys before and after the work (rekey.ts).
 */
import type { PayloadDatabase } from '#adapters/storage/migrations/payload-tables.ts'
import { Cipher } from '#adapters/system/cipher.ts'
import { SystemClock } from '#adapters/system/clock.ts'
import { type KeyRecord, readKeyRecord } from '#adapters/system/key-document.ts'
import {
  changedRecord,
  changingRecord,
  type KeyRing,
  openKeyRecord,
  writeKeyRecord,
} from '#adapters/system/key-record.ts'
import type { Key } from '#adapters/system/keys.ts'
import { type RekeyProgress, rekeyPayloads } from '#adapters/system/rekey.ts'
import type { Environment } from '#manifest/expressions/reference.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { LedgerChoice } from './config.ts'
import { idsWith, type KeyOptions, readKeyRing } from './keys.ts'
import { openPayloads, openStore, type Store } from './stores.ts'

export interface RekeyOptions extends KeyOptions {
  readonly choice: LedgerChoice
  readonly schema?: string | undefined
  readonly environment: Environment
  readonly onProgress?: (progress: RekeyProgress) => void
}

export interface RekeyReport {
  /** The id of the key that encrypts all payloads now. */
  readonly key: string
  /** Payloads that were changed, by table. */
  readonly changed: Readonly<Record<string, number>>
  /** Payloads that cannot be decrypted: they stay, and the old keys with them. */
  readonly broken: number
}

export const rekeyLedger = async (options: RekeyOptions): Promise<RekeyReport> => {
  const { choice, schema, environment } = options
  const ring = readKeyRing(options, environment)
  const store = await openStore(choice, schema === undefined ? {} : { schema }, new SystemClock())
  try {
    const database = await openPayloads(choice, schema)
    try {
      await refuse(store, database)
      return await change(store, database, ring, options.onProgress)
    } finally {
      await database.close()
    }
  } finally {
    await store.ledger.close()
  }
}

const refuse = async (store: Store, database: PayloadDatabase): Promise<void> => {
  const record = await readKeyRecord(store)
  if (record === null || record.secret.length === 0)
    throw new TrihandError(
      'CONFIG_INVALID',
      'the ledger is not encrypted, and only a new ledger can be; create one with TRIHAND_LEDGER_KEY set',
    )
  const living = await database.living()
  if (living.length > 0)
    throw new TrihandError(
      'LEDGER_IN_USE',
      `${living.length} workers use this ledger (${living.slice(0, 3).join(', ')}): stop every process, wait 15 s, then run this again`,
    )
}

const change = async (
  store: Store,
  database: PayloadDatabase,
  ring: KeyRing,
  onProgress: RekeyOptions['onProgress'],
): Promise<RekeyReport> => {
  const ids = idsWith(ring)
  const own = await openKeyRecord(store, ids, ring)
  const [newest, ...older] = ring.ledger
  if (own === null || newest === undefined)
    throw new TrihandError('LEDGER_KEY_MISSING', 'TRIHAND_LEDGER_KEY has no key to encrypt with')
  await writeKeyRecord(store, ids, changingRecord((await readKeyRecord(store)) as KeyRecord, ring))
  const cipher = new Cipher([newest, ...older] as [Key, ...Key[]], own)
  const changed: Record<string, number> = {}
  // rekey-2: repeat until a pass changes nothing.
  for (;;) {
    let [count, broken] = [0, 0]
    for await (const progress of rekeyPayloads(database, cipher)) {
      onProgress?.(progress)
      changed[progress.table] = (changed[progress.table] ?? 0) + progress.changed
      count += progress.changed
      broken += progress.broken
    }
    if (count > 0) continue
    if (broken === 0) {
      await writeKeyRecord(store, ids, changedRecord((await readKeyRecord(store)) as KeyRecord, ring))
      await database.clean()
    }
    return { key: newest.id, changed, broken }
  }
}
