/**
 * Rewrites SQLite's log, byte for byte, before SQLite reads it, so that everything SQLite recovers is on disk.
 *
 * A failed sync leaves its pages in memory and marks them clean: they are read as if they were stored, and no later sync writes them.
 * A process that goes on after them would acknowledge commits behind a gap, and a power cut would lose those (found by the storage stage
 * of test/chaos). Never changes a byte; never touches the main file, because closing it would drop its locks.
 */
import { closeSync, existsSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { TrihandError } from '#model/kernel/errors.ts'

const CHUNK_BYTES = 1_048_576

const rewrite = (fd: number): void => {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  for (let at = 0; ; ) {
    const length = readSync(fd, chunk, 0, CHUNK_BYTES, at)
    if (length === 0) break
    for (let done = 0; done < length; ) done += writeSync(fd, chunk, done, length - done, at + done)
    at += length
  }
  fsyncSync(fd)
}

export const rewriteLog = (file: string): void => {
  const log = `${file}-wal`
  if (!existsSync(log)) return
  try {
    const fd = openSync(log, 'r+')
    try {
      rewrite(fd)
    } finally {
      closeSync(fd)
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TrihandError('LEDGER_UNAVAILABLE', `${log} cannot be rewritten: ${reason}`, { cause })
  }
}
