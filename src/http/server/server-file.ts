/**
 * A file that says where the server of a folder, or of a ledger, is: for the commands that are called beside it.
 *
 * Owns the file. Nobody trusts it: a server that died leaves it behind, so whoever reads it asks the server first.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface ServerFile {
  readonly url: string
  readonly pid: number
  /** The path of its SQLite file; null if the ledger is elsewhere. */
  readonly ledger: string | null
  /** What the server lets in: whoever may read this file may read the ledger, too. Absent: it asks for none, or for one of its own. */
  readonly token?: string
}

/** Of `trihand dev`, in its data folder. */
export const folderServer = (folder: string): string => join(folder, 'server.json')

/** Of an application that embeds this, beside its ledger. */
export const ledgerServer = (ledger: string): string => `${resolve(ledger)}.server.json`

const isServerFile = (value: unknown): value is ServerFile =>
  typeof value === 'object' && value !== null && 'url' in value && 'pid' in value && typeof value.url === 'string'

export const readServerFile = (path: string): ServerFile | null => {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isServerFile(value) ? value : null
  } catch {
    return null
  }
}

/** Whole or not at all, and for its owner only. Its folder is there. */
export const writeServerFile = (path: string, server: ServerFile): void => {
  const next = `${path}.${server.pid}`
  writeFileSync(next, `${JSON.stringify(server)}\n`, { mode: 0o600 })
  renameSync(next, path)
}

/** Another server may have taken the name since. */
export const removeServerFile = (path: string, pid: number): void => {
  if (readServerFile(path)?.pid === pid) rmSync(path, { force: true })
}
