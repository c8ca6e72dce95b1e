/**
 * Judges a ledger by its own words: reads it once, stream by stream, and reports every invariant that does not hold.
 *
 * Imports nothing of ours and shares no rule with what it judges. Reads only, also beside a live server; memory grows with the
 * longest run, never with the ledger.
 *
 * verify-1  Everything is read in one snapshot, so that a writer at work is never taken for a fault.
 * verify-2  A ledger that cannot be read is an UnreadableLedger; whatever can be read is a finding, never an exception.
 */
import { Anchor } from './anchor.ts'
import { Cursor } from './cursor.ts'
import type { Evidence } from './evidence.ts'
import { inspectClerk } from './inspect-clerk.ts'
import { inspectRun } from './inspect-run.ts'
import { inspectSession } from './inspect-session.ts'
import { inspectTask } from './inspect-task.ts'
import { endInspection, type Inspection, type Instruments, openInspection, settleInspection } from './inspection.ts'
import { openPostgres } from './postgres-source.ts'
import type { Report } from './report.ts'
import { Scratch } from './scratch.ts'
import { Seals } from './seals.ts'
import { type Source, UnreadableLedger, unreadable } from './source.ts'
import { openSqlite } from './sqlite-source.ts'
import { isClerk, isRun, isTask, Tables } from './tables.ts'

export type Target = { readonly file: string } | { readonly url: string; readonly schema?: string }

export interface VerifyOptions {
  /** Only this tenant's streams and events. Blobs are shared, so all of them are checked. */
  readonly tenant?: string
  readonly evidence?: Evidence
  /** How late it is for those who write, if that is not the store's own clock. */
  readonly now?: number
  /** The secrets of `TRIHAND_SEAL_KEY`, the newest first, with commas. */
  readonly sealKey?: string
  /** A file that keeps the signed heads of all streams: compared with the ledger, then replaced. For a whole ledger, and with a key. */
  readonly anchor?: string
}

/** The newest breaking change of the schema that this checker can read. */
const KNOWN_SCHEMA = 13

export const verifyLedger = async (target: Target, options: VerifyOptions = {}): Promise<Report> => {
  const source = await openSource(target)
  try {
    const tables = new Tables(source, { tenant: options.tenant ?? null, now: options.now ?? null })
    await checkSchema(tables)
    const seals = new Seals(options.sealKey)
    await checkKeys(tables, seals)
    return await inspect(tables, seals, options)
  } finally {
    await source.close()
  }
}

const openSource = async (target: Target): Promise<Source> =>
  'file' in target ? openSqlite(target.file) : await openPostgres(target.url, target.schema)

const checkSchema = async (tables: Tables): Promise<void> => {
  let newest = 0
  try {
    for await (const { version, breaking } of tables.migrations()) if (breaking) newest = Math.max(newest, version)
  } catch (error) {
    throw unreadable('this as a ledger', error)
  }
  if (newest === 0) throw new UnreadableLedger('cannot read this as a ledger: it is empty')
  if (newest > KNOWN_SCHEMA) {
    throw new UnreadableLedger(
      `the ledger has schema version ${newest}, this verifier knows up to ${KNOWN_SCHEMA}: upgrade trihand`,
    )
  }
}

/** Without the key a thousand findings would say the same. */
const checkKeys = async (tables: Tables, seals: Seals): Promise<void> => {
  const record = JSON.parse((await tables.keyRecord()) ?? '{}') as { readonly seal?: string | null }
  if (record.seal != null && !seals.hasKey)
    throw new UnreadableLedger(
      'the ledger is sealed with a key: set TRIHAND_SEAL_KEY to the keys that it was sealed with',
    )
}

const inspect = async (tables: Tables, seals: Seals, { evidence, anchor: file }: VerifyOptions): Promise<Report> => {
  const scratch = new Scratch()
  try {
    const anchor = file === undefined ? null : await Anchor.open(file, seals, scratch)
    return await inspectWith(tables, scratch, { evidence, seals, anchor })
  } finally {
    scratch.close()
  }
}

const inspectWith = async (tables: Tables, scratch: Scratch, instruments: Instruments): Promise<Report> => {
  const { anchor } = instruments
  try {
    const inspection = await openInspection(tables, scratch, instruments)
    await walk(inspection, tables)
    await endInspection(inspection, tables)
    const { findings } = inspection
    const isWhole = (['V2', 'V3', 'V27'] as const).every((id) => findings.found(id) === 0)
    return findings.report(anchor?.close(isWhole) ?? null)
  } catch (error) {
    anchor?.close(false)
    throw error
  }
}

const walk = async (inspection: Inspection, tables: Tables): Promise<void> => {
  const facts = new Cursor(tables.facts())
  const waits = new Cursor(tables.waits())
  const caused = new Cursor(tables.caused())
  const tasks = new Cursor(tables.tasks())
  for await (const row of tables.streams()) {
    const { key } = row
    const own = { waits: await waits.all(key), caused: await caused.all(key) }
    if (isRun(row)) await inspectRun(inspection, { row, facts: facts.of(key), ...own })
    else if (isClerk(row)) await inspectClerk(inspection, row, facts.of(key), own.waits)
    else if (isTask(row)) await inspectTask(inspection, row, facts.of(key), await tasks.all(key))
    else await inspectSession(inspection, row, facts.of(key))
    await settleInspection(inspection)
  }
}
