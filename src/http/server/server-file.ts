/**
 * A file with the address of the server of a folder, or of a ledger, for commands that are called beside it.
 *
 * Owns the file. It cannot be trusted: a server that died leaves it behind, so a reader must ask the server first.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface ServerFile {
  readonly url: string
  readonly pid: number
  /** The path of its SQLite file; null if the ledger is elsewhere. */
  readonly ledger: string | null
  /** A token for this server: a user who may read this file may read the ledger, too. Absent: the server needs no token, or one of its own. */
  readonly token?: string
}

/** The file of `trihand dev`, in its data folder. */
export const folderServer = (folder: string): string => join(folder, 'server.json')

/** The file of an application that embeds this, beside its ledger. */
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

/** Writes atomically, readable for the owner only. The folder must exist. */
export const writeServerFile = (path: string, server: ServerFile): void => {
  const next = `${path}.${server.pid}`
  writeFileSync(next, `${JSON.stringify(server)}\n`, { mode: 0o600 })
  renameSync(next, path)
}

/** Only removes the file of this process: another server may have replaced it since. */
export const removeServerFile = (path: string, pid: number): void => {
  if (readServerFile(path)?.pid === pid) rmSync(path, { force: true })
}
