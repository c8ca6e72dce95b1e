/**
 * A serving process from start to end: ledger, HTTP, the server file that other commands find it by, and a clean stop.
 *
 * Owns the order of start and stop. Whatever was opened is closed again, also after a failure; `dev` and `demo` add only their own parts.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Activity } from '#cli/terminal/activity.ts'
import { announce, type Invitation, type Serving } from '#cli/terminal/announce.ts'
import { type Log, openLog } from '#cli/terminal/log.ts'
import { EXIT } from '#cli/terminal/output.ts'
import type { Shell } from '#cli/terminal/shell.ts'
import { untilAskedToStop } from '#cli/terminal/stop-signal.ts'
import { VERSION } from '#cli/version.ts'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { prepareFolder } from '#compose/stores.ts'
import type { IncomingEvent } from '#engine/core/incoming.ts'
import { type AuthSettings, authSettings, LOOPBACK, needsAuth } from '#http/access/auth-settings.ts'
import { randomText } from '#http/access/random.ts'
import { createApp } from '#http/server/app.ts'
import { followReadiness } from '#http/server/readiness.ts'
import { type Listening, listen } from '#http/server/server.ts'
import { folderServer, removeServerFile, writeServerFile } from '#http/server/server-file.ts'
import { readWebApp, WEB_APP } from '#http/web-app.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { configurationOf } from './configuration.ts'
import { liveServer } from './connect.ts'
import { defaultLedger, placeOf, type Settings } from './settings.ts'

/*
 * What a serving process needs where credentials are required: a key for logins, and a first administrator. Owns the key's file and the
 * first token. Never shows a token twice: it is not stored.
 */

const FILE = 'signing-key'

const existing = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8').trim() || null
  } catch {
    return null
  }
}

/** The key of this folder's server; if two processes start together, the first one creates it. */
const ownKey = (folder: string): string => {
  const file = join(folder, FILE)
  const known = existing(file)
  if (known !== null) return known
  prepareFolder(folder)
  try {
    writeFileSync(file, `${randomText()}${randomText()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (existing(file) === null) throw error
  }
  return existing(file) ?? ''
}

const signingKey = ({ signingKey: given, dataFolder }: Settings, { ledger }: Trihand): string => {
  if (given !== undefined) return given
  if (ledger.kind === 'postgres')
    throw new TrihandError(
      'CONFIG_INVALID',
      'TRIHAND_SIGNING_KEY is not set: servers that share a ledger need the same key',
    )
  return ownKey(dataFolder)
}

/** Creates a first administrator, who can create the other tokens. */
const firstAdmin = async ({ output }: Shell, { tokens }: Trihand): Promise<void> => {
  if (await tokens.hasAny('admin')) return
  const intent = { tenant: LOCAL_TENANT, name: 'admin', kind: 'user', roles: ['admin'], groups: [] }
  const { token } = await tokens.create(intent, 'first start')
  if (output.isJson) output.document({ type: 'admin_token', token }, { isStream: true })
  else output.line(`Token   ${token} (administrator; shown only once)`)
}

const openAuth = async (shell: Shell, trihand: Trihand): Promise<AuthSettings> => {
  const { host, publicUrl, metricsToken, trustsProxy } = shell.settings
  if (!needsAuth({ host, publicUrl })) return { ...LOOPBACK, metricsToken, trustsProxy }
  const settings = authSettings({ host, publicUrl }, signingKey(shell.settings, trihand))
  await firstAdmin(shell, trihand)
  return { ...settings, metricsToken, trustsProxy }
}

export interface ServeOptions extends Invitation {
  readonly source: SystemSource
  readonly database: string
  /** The folder with the files of the system: instructions of agents, scripts, templates. */
  readonly folder: string
  /** Default true. False: other processes execute the runs that this one accepts. */
  readonly work?: boolean
  /** Called once it serves; the returned function is called before it stops. */
  readonly begin?: (serving: Serving) => () => void
  /** Sent at every start. An event with a fixed id takes effect only once. */
  readonly first?: IncomingEvent
}

const ledgerFile = ({ kind, description }: Trihand['ledger']): string | null =>
  kind === 'sqlite' ? resolve(description) : null

/** The flags that differ from the settings. */
const flagsIn = ({ settings }: Shell, { database, port }: ServeOptions) => ({
  ...(database === defaultLedger(settings) ? {} : { DATABASE_URL: database }),
  ...(port === settings.port || port === null ? {} : { PORT: String(port) }),
})

const openHttp = async (shell: Shell, trihand: Trihand, options: ServeOptions, log: Log): Promise<Listening> => {
  const { output, settings, env, fromFile } = shell
  const { port } = options
  const auth = await openAuth(shell, trihand)
  const ending = new AbortController()
  const app = createApp(trihand, {
    version: VERSION,
    pid: process.pid,
    report: output.report,
    auth,
    limits: settings.limits,
    webApp: readWebApp(WEB_APP),
    ending: ending.signal,
    answered: (...answer) => log.answered(...answer),
    configuration: configurationOf({ env, fromFile, flags: flagsIn(shell, options) }),
    ...(settings.retention === undefined ? {} : { retentionMs: settings.retention }),
  })
  if (!log.isQuiet) followReadiness(trihand, ending.signal, (now) => log.ready(now))
  const listening = await listen({ fetch: (request, peer) => app.fetch(request, peer), port, host: settings.host })
  const stop = (): Promise<void> => {
    ending.abort()
    return listening.stop()
  }
  return { ...listening, stop }
}

const whileOpen = async (
  shell: Shell,
  options: ServeOptions,
  trihand: Trihand,
  listening: Listening,
): Promise<void> => {
  const { dataFolder } = shell.settings
  const serving = { trihand, url: listening.url }
  const stopped = untilAskedToStop()
  prepareFolder(dataFolder)
  const serverFile = folderServer(dataFolder)
  writeServerFile(serverFile, { url: listening.url, pid: process.pid, ledger: ledgerFile(trihand.ledger) })
  const end = options.begin?.(serving)
  announce(shell.output, serving, options)
  const activity = new Activity(shell.output)
  const forget = trihand.subscribe('runs', (notice) => activity.hear(notice))
  if (options.first !== undefined) await trihand.send(options.first)
  await stopped
  shell.output.talk('stopping: waiting for running steps; press Ctrl+C again to stop now')
  end?.()
  await listening.stop()
  await trihand.close()
  forget()
  activity.stop()
  removeServerFile(serverFile, process.pid)
}

const open = ({ settings }: Shell, options: ServeOptions): Promise<Trihand> =>
  createTrihand({
    system: options.source,
    database: options.database,
    folder: options.folder,
    work: options.work ?? true,
    ...placeOf(settings.worker),
    intake: settings.intake,
    ...(settings.dispatcher === null ? {} : { dispatcher: settings.dispatcher }),
    commands: false,
    tuneProcess: true,
    // Also if workers do the work: workers watch no sources, so that each change is seen by one process.
    sources: true,
  })

/** Adds to the error which process has the ledger open, if it is the server of this folder. */
const nameOwner = async ({ settings }: Shell, error: unknown): Promise<unknown> => {
  if (!(error instanceof TrihandError) || error.code !== 'LEDGER_IN_USE') return error
  const server = await liveServer(settings.dataFolder)
  if (server === null) return error
  const who = `the server at ${server.url}, process ${server.pid}`
  return new TrihandError(error.code, `${error.detail}: ${who}`, { cause: error })
}

export const serve = async (shell: Shell, options: ServeOptions): Promise<number> => {
  const trihand = await open(shell, options).catch(async (error: unknown) => {
    throw await nameOwner(shell, error)
  })
  try {
    const log = openLog(shell, trihand)
    log.follow(trihand)
    const listening = await openHttp(shell, trihand, options, log)
    await whileOpen(shell, options, trihand, listening)
    return EXIT.done
  } finally {
    await trihand.close()
  }
}
