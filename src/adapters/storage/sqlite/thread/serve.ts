/**
 * The side of the thread that has the file: receives calls and posts answers, one after the other (thread-1).
 *
 * Owns the format of calls and answers. The caller's side is thread.ts.
 */
import type { MessagePort } from 'node:worker_threads'
import { Connection } from '#adapters/storage/sqlite/connection.ts'
import { loadDriver } from '#adapters/storage/sqlite/driver.ts'
import { translate } from '#adapters/storage/sqlite/errors.ts'
import { openPresent } from '#adapters/storage/sqlite/open-present.ts'
import { type FileIdentity, Presence } from '#adapters/storage/sqlite/presence.ts'
import { type LedgerSession, SqliteSession } from '#adapters/storage/sqlite/session.ts'
import { type Durability, openForWriting } from '#adapters/storage/sqlite/settings.ts'
import { prepareStatements } from '#adapters/storage/sqlite/statements.ts'
import { RowCache } from '#adapters/storage/sqlite/write/row-cache.ts'
import type { ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import type { ClaimRequest } from '#ports/ledger.ts'
import { type PackedBatch, packOutcomes, unpackBatch } from './packed.ts'
import { packClaims } from './packed-claims.ts'

export interface ServeOptions {
  readonly file: string
  readonly durability: Durability
  /** The file that its owner has open. */
  readonly identity: FileIdentity | null
}

export interface Call {
  readonly id: number
  readonly name: keyof LedgerSession | 'close'
  readonly values: readonly unknown[]
}

interface Failed {
  readonly code: ErrorCode
  readonly detail: string
  readonly outcome: TrihandError['outcome']
}

export type Answer = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: Failed }

/** Opens a file that its owner has prepared, and serves calls until `close`. */
export const serveFile = async (port: MessagePort, { file, durability, identity }: ServeOptions): Promise<void> => {
  const driver = await loadDriver()
  const known = new RowCache()
  const presence = new Presence(file, identity)
  presence.beforeOpening()
  const connection = new Connection({
    db: openForWriting(driver, file, durability),
    reopen: () => openPresent(presence, driver, file, durability),
    presence,
    prepare: prepareStatements,
    forget: () => known.forget(),
  })
  serve(port, new SqliteSession(connection, known), () => connection.close())
}

const serve = (port: MessagePort, session: SqliteSession, close: () => void): void => {
  const perform = async ({ name, values }: Call): Promise<unknown> => {
    if (name === 'append') return packOutcomes(await session.append(unpackBatch(values[0] as PackedBatch)))
    if (name === 'claim') return packClaims(await session.claim(values[0] as ClaimRequest))
    if (name !== 'close')
      return (session[name] as (...given: unknown[]) => Promise<unknown>).apply(session, [...values])
    close()
    // After the answer is posted: without a port the thread has nothing left to do and ends.
    setImmediate(() => port.close())
    return null
  }
  port.on('message', (call: Call) => {
    const { id } = call
    perform(call).then(
      (value) => port.postMessage({ id, value }),
      (error: unknown) => port.postMessage({ id, error: failedBy(error) }),
    )
  })
}

const failedBy = (error: unknown): Failed => {
  const { code, detail, outcome } = translate(error)
  return { code, detail, outcome }
}
