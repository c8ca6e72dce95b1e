/**
 * Checks a ledger by its content alone: reads it once, stream by stream, and reports every invariant that does not hold.
 *
 * Imports nothing from outside this folder and shares no rule with what it checks. Only reads, also beside a live server; memory grows with
 * the longest run, never with the ledger.
 *
 * verify-1  Everything is read in one snapshot, so that a concurrent writer is never taken for a fault.
 * verify-2  A ledger that cannot be read is an UnreadableLedger; anything that can be read is a finding, never an exception.
 */
import type { Evidence } from '#cli/verify/source/evidence.ts'
import { openPostgres } from '#cli/verify/source/postgres-source.ts'
import { Seals } from '#cli/verify/source/seals.ts'
import { type Source, UnreadableLedger, unreadable } from '#cli/verify/source/source.ts'
import { openSqlite } from '#cli/verify/source/sqlite-source.ts'
import { Anchor } from './anchor.ts'
import { Cursor } from './cursor.ts'
import { inspectCoordinator } from './inspect-coordinator.ts'
import { inspectRun } from './inspect-run.ts'
import { inspectSession } from './inspect-session.ts'
import { inspectTask } from './inspect-task.ts'
import { endInspection, type Inspection, type Instruments, openInspection, settleInspection } from './inspection.ts'
import { Opened } from './opened.ts'
import type { Report } from './report.ts'
import { Scratch } from './scratch.ts'
import { type FactRow, isCoordinator, isRun, isTask, nameOf, type StreamRow, Tables } from './tables.ts'

export type Target = { readonly file: string } | { readonly url: string; readonly schema?: string }

export interface VerifyOptions {
  /** Only this tenant's streams and events. Blobs are shared, so all of them are checked. */
  readonly tenant?: string
  readonly evidence?: Evidence
  /** The present for those who write, if it is not the store's own clock. */
  readonly now?: number
  /** The secrets of `TRIHAND_SEAL_KEY`, comma-separated, the newest first. */
  readonly sealKey?: string
  /** The secrets of `TRIHAND_LEDGER_KEY`, for an encrypted ledger. */
  readonly ledgerKey?: string
  /**
   * A file with the signed heads of all streams: compared with the ledger, then replaced. Needs a seal key; for a whole ledger only,
   * without `tenant`.
   */
  readonly anchor?: string
}

/** The newest breaking change of the schema that this checker can read. */
const KNOWN_SCHEMA = 13

export const verifyLedger = async (target: Target, options: VerifyOptions = {}): Promise<Report> => {
  const source = await openSource(target)
  try {
    const tables = new Tables(source)
    await checkSchema(tables)
    return await inspect(source, options, await readKeys(tables, options))
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
      `the ledger has schema version ${newest}; this verifier supports up to ${KNOWN_SCHEMA}: upgrade trihand`,
    )
  }
}

interface Keys {
  readonly seals: Seals
  readonly opened: Opened
}

interface KeyRecord {
  readonly seals?: readonly string[]
  readonly encrypted?: readonly string[]
  readonly secret?: readonly string[]
}

/** Throws if keys are missing, because otherwise a thousand findings would have the same cause. */
const readKeys = async (tables: Tables, { sealKey, ledgerKey }: VerifyOptions): Promise<Keys> => {
  const record = JSON.parse((await tables.keyRecord()) ?? '{}') as KeyRecord
  const { encrypted = [], secret = [] } = record
  const opened = new Opened(ledgerKey, secret)
  if (secret.length > 0 && !(opened.isEncrypted && opened.hasKeys(encrypted)))
    throw new UnreadableLedger(
      `the ledger is encrypted with key ${encrypted.join(', ')}: set TRIHAND_LEDGER_KEY to its keys`,
    )
  const seals = new Seals({ TRIHAND_SEAL_KEY: sealKey, TRIHAND_LEDGER_KEY: opened.own ?? undefined })
  if (record.seals?.length && !seals.hasKey)
    throw new UnreadableLedger('the ledger is sealed with a key: set TRIHAND_SEAL_KEY to its keys')
  return { seals, opened }
}

const inspect = async (source: Source, options: VerifyOptions, { seals, opened }: Keys): Promise<Report> => {
  const { tenant = null, now = null, evidence, anchor: file } = options
  const tables = new Tables(source, { tenant, now, opened })
  const scratch = new Scratch()
  try {
    const anchor = file === undefined ? null : await Anchor.open(file, seals, scratch)
    return await inspectWith(tables, scratch, { evidence, seals, anchor, opened })
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
    const shown = shownFacts(inspection, row, facts.of(key))
    if (isRun(row)) await inspectRun(inspection, { row, facts: shown, ...own })
    else if (isCoordinator(row)) await inspectCoordinator(inspection, row, shown, own.waits)
    else if (isTask(row)) await inspectTask(inspection, row, shown, await tasks.all(key))
    else await inspectSession(inspection, row, shown)
    await settleInspection(inspection)
  }
}

const shownFacts = ({ opened }: Inspection, row: StreamRow, facts: AsyncIterable<FactRow>): AsyncIterable<FactRow> =>
  opened.isEncrypted ? decrypted(opened, row, facts) : facts

const decrypted = async function* (opened: Opened, row: StreamRow, facts: AsyncIterable<FactRow>) {
  const stream = nameOf(row)
  for await (const fact of facts) yield { ...fact, body: opened.fact(row.tenant, stream, fact.seq, fact.body) }
}
