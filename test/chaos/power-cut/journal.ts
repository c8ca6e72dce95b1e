/**
 * The log of the shim: every operation on the ledger's files and every acknowledgement, in the order they happened.
 *
 * Owns the parsing of that log (its format is shim.c's). Never interprets it: what survives a power cut is disk.ts.
 */
export type Entry =
  | { readonly kind: 'open'; readonly file: number; readonly path: string; readonly created: boolean }
  | { readonly kind: 'write'; readonly file: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'sync'; readonly file: number }
  | { readonly kind: 'sync_failed'; readonly file: number }
  | { readonly kind: 'truncate'; readonly file: number; readonly size: number }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'folder_sync' }
  | { readonly kind: 'ack'; readonly line: string }

const HEADER_BYTES = 24

const entryOf = (op: number, file: number, offset: number, bytes: Buffer): Entry => {
  switch (op) {
    case 1:
      return { kind: 'open', file, path: bytes.toString(), created: offset === 1 }
    case 2:
      return { kind: 'write', file, offset, bytes }
    case 3:
      return { kind: 'sync', file }
    case 4:
      return { kind: 'sync_failed', file }
    case 5:
      return { kind: 'truncate', file, size: offset }
    case 6:
      return { kind: 'unlink', path: bytes.toString() }
    case 7:
      return { kind: 'folder_sync' }
    case 8:
      return { kind: 'ack', line: bytes.toString() }
    default:
      throw new Error(`the shim's log has an operation ${op} that this program does not know`)
  }
}

/** The last record may be truncated: the child was killed while it wrote. */
export const readJournal = (log: Buffer): readonly Entry[] => {
  const entries: Entry[] = []
  let at = 0
  while (at + HEADER_BYTES <= log.length) {
    const length = Number(log.readBigUInt64LE(at + 16))
    const end = at + HEADER_BYTES + length
    if (end > log.length) break
    const offset = Number(log.readBigUInt64LE(at + 8))
    entries.push(entryOf(log.readUInt32LE(at), log.readUInt32LE(at + 4), offset, log.subarray(at + HEADER_BYTES, end)))
    at = end
  }
  return entries
}
