/**
 * Chooses how a command connects: to the server that was named, to the server of this folder if it answers, or to the ledger itself.
 *
 * Owns that order. If a server was named and does not answer, that is an error, and nothing else is opened.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CommonFlags, Shell } from '#cli/terminal/shell.ts'
import { ledgerChoice } from '#compose/config.ts'
import { folderServer, ledgerServer, readServerFile, type ServerFile } from '#http/server/server-file.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Api, remoteApi } from './api.ts'
import { codeFolder, defaultLedger, isServerUrl, type Settings } from './settings.ts'

/** Long, because a dead server refuses at once, and a busy one is still the one to use. */
const ALIVE_WITHIN_MS = 10_000

/** The server that a file names, if it is alive and the one that wrote the file. */
const serverOf = async (file: string): Promise<ServerFile | null> => {
  const server = readServerFile(file)
  if (server === null) return null
  try {
    const response = await fetch(`${server.url}/health/live`, { signal: AbortSignal.timeout(ALIVE_WITHIN_MS) })
    const { pid } = (await response.json()) as { readonly pid?: number }
    return pid === server.pid ? server : null
  } catch {
    return null
  }
}

/** The server of a data folder, if it is alive. */
export const liveServer = (dataFolder: string): Promise<ServerFile | null> => serverOf(folderServer(dataFolder))

const checkedUrl = (url: string): string => {
  if (!isServerUrl(url)) throw new TrihandError('CONFIG_INVALID', `--server is "${url}"; expected http://host:port`)
  return url
}

const checkExists = (database: string): void => {
  const choice = ledgerChoice(database)
  if (choice.kind === 'sqlite' && !existsSync(choice.file)) {
    throw new TrihandError(
      'SERVER_UNREACHABLE',
      `no server is running here, and the ledger ${choice.file} does not exist`,
    )
  }
}

export interface ConnectionNeeds {
  /** `look` reads a ledger; `know` needs the system, too; `work` also executes the runs that it starts. */
  readonly need: 'look' | 'know' | 'work'
  /** True for sending events, which may create a new ledger; every other command needs an existing one. */
  readonly mayCreate?: boolean
  /** False: an older ledger is refused instead of migrated. */
  readonly migrate?: boolean
}

const systemAt = async (settings: Settings, path: string | undefined): Promise<SystemSource> => {
  const { loadSystem } = await import('#cli/manifest/load-system.ts')
  return (await loadSystem(path, codeFolder(settings))).source
}

const openHere = async (
  { output, settings }: Shell,
  flags: CommonFlags,
  { need, mayCreate = false, migrate = true }: ConnectionNeeds,
): Promise<Api> => {
  const database = flags.database ?? defaultLedger(settings)
  if (!mayCreate) checkExists(database)
  const { localApi } = await import('./local-api.ts')
  const system = need === 'look' ? null : await systemAt(settings, flags.system)
  return localApi({ database, report: output.report, system, isWorking: need === 'work', migrate })
}

/** The process that has this ledger open: an application that serves commands, or the server of this folder if the ledger is its own. */
export const ownerOf = async ({ settings }: Pick<Shell, 'settings'>, database: string): Promise<ServerFile | null> => {
  const choice = ledgerChoice(database)
  if (choice.kind !== 'sqlite') return null
  const server = await liveServer(settings.dataFolder)
  return server?.ledger === resolve(choice.file) ? server : serverOf(ledgerServer(choice.file))
}

const connect = async (shell: Shell, flags: CommonFlags, door: ConnectionNeeds): Promise<Api> => {
  const { token } = shell.settings
  if (flags.server !== undefined) return remoteApi(checkedUrl(flags.server), token)
  if (flags.database === undefined) {
    if (shell.settings.server !== undefined) return remoteApi(shell.settings.server, token)
    const server = await liveServer(shell.settings.dataFolder)
    if (server !== null) return remoteApi(server.url, token)
  }
  const owner = await ownerOf(shell, flags.database ?? defaultLedger(shell.settings))
  return owner === null ? openHere(shell, flags, door) : remoteApi(owner.url, owner.token ?? token)
}

/** Connects, does the work, and closes the connection whatever happens. */
export const withApi = async <T>(
  shell: Shell,
  flags: CommonFlags,
  door: ConnectionNeeds,
  work: (api: Api) => Promise<T>,
): Promise<T> => {
  const api = await connect(shell, flags, door)
  try {
    return await work(api)
  } finally {
    await api.close()
  }
}
