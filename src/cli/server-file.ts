/**
 * `.trihand/server.json`: where the server of this folder is, for the other commands.
 *
 * Owns the file. Nobody trusts it: a server that died leaves it behind, so whoever reads it asks the server first.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareFolder } from '../assemble-stores.ts'

export interface ServerFile {
  readonly url: string
  readonly pid: number
  /** The path of its SQLite file; null if the ledger is elsewhere. */
  readonly ledger: string | null
}

const pathIn = (folder: string): string => join(folder, 'server.json')

const isServerFile = (value: unknown): value is ServerFile =>
  typeof value === 'object' && value !== null && 'url' in value && 'pid' in value && typeof value.url === 'string'

export const readServerFile = (folder: string): ServerFile | null => {
  try {
    const value: unknown = JSON.parse(readFileSync(pathIn(folder), 'utf8'))
    return isServerFile(value) ? value : null
  } catch {
    return null
  }
}

/** Whole or not at all, and for its owner only. */
export const writeServerFile = (folder: string, server: ServerFile): void => {
  prepareFolder(folder)
  const next = `${pathIn(folder)}.${server.pid}`
  writeFileSync(next, `${JSON.stringify(server)}\n`, { mode: 0o600 })
  renameSync(next, pathIn(folder))
}

/** Another server of this folder may have taken the name since. */
export const removeServerFile = (folder: string, pid: number): void => {
  if (readServerFile(folder)?.pid === pid) rmSync(pathIn(folder), { force: true })
}
