/**
 * Copies a ledger while others go on writing to it: a consistent snapshot, which gets its name only when it is on disk.
 *
 * Reads the ledger without changing it. Never overwrites a file.
 */
import { closeSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import { loadDriver } from './driver.ts'

const BUSY_TIMEOUT_MS = 5_000

const toDisk = (file: string): void => {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Throws EEXIST if the target file exists. */
export const backUpSqlite = async (file: string, to: string): Promise<void> => {
  const Database = await loadDriver()
  const part = `${to}.${process.pid}.part`
  const db = new Database(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true })
  try {
    db.prepare('vacuum into ?').run(part)
    toDisk(part)
    // A link, because a rename would overwrite an existing file.
    linkSync(part, to)
  } finally {
    db.close()
    rmSync(part, { force: true })
  }
}
