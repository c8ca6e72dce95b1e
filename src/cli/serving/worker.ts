/**
 * `trihand worker [path]`: a process that only works, beside others on one ledger, until it is stopped.
 *
 * Owns its start and stop messages. Accepts no events and serves health and metrics only; a signal or an order (`workers drain`) lets runs
 * at work finish.
 */
import { dirname } from 'node:path'
import { codeFolder, defaultLedger, placeOf, type Settings } from '#cli/connect/settings.ts'
import { loadSystem } from '#cli/manifest/load-system.ts'
import { Activity } from '#cli/terminal/activity.ts'
import { type Log, openLog } from '#cli/terminal/log.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { Shell, Verb } from '#cli/terminal/shell.ts'
import { untilAskedToStop } from '#cli/terminal/stop-signal.ts'
import { VERSION } from '#cli/version.ts'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { type AuthSettings, authSettings, LOOPBACK } from '#http/access/auth-settings.ts'
import { randomText } from '#http/access/random.ts'
import { followReadiness } from '#http/server/readiness.ts'
import { type Listening, listen } from '#http/server/server.ts'
import { createWorkerApp } from '#http/server/worker-app.ts'
import { TrihandError } from '#model/kernel/errors.ts'

/*
 * The port of a worker: health and metrics for its supervisor (http/server/worker-app.ts). Owns the choice of the port: the given one, or
 * the first free one of 4410 to 4419, or any. A worker also works if all of those are taken.
 */

const FIRST_PORT = 4410
const ANY = 0

/** There are no logins here, so the signing key is random and never stored. */
const authOf = ({ host, metricsToken }: Settings): AuthSettings => {
  const auth = authSettings({ host, publicUrl: null }, randomText())
  return { ...(auth.isRequired ? auth : LOOPBACK), metricsToken }
}

const openWorkerHealth = async (shell: Shell, trihand: Trihand, port: number | null, log: Log): Promise<Listening> => {
  const { settings, output } = shell
  const ending = new AbortController()
  const about = { version: VERSION, pid: process.pid, report: output.report, ending: ending.signal }
  const app = createWorkerApp(trihand, { ...about, auth: authOf(settings) })
  if (!log.isQuiet) followReadiness(trihand, ending.signal, (now) => log.ready(now))
  const place = { fetch: app.fetch, host: settings.host, first: FIRST_PORT } as const
  const listening = await listen({ ...place, port }).catch((error: unknown) => {
    const isTaken = error instanceof TrihandError && error.code === 'PORT_IN_USE'
    if (port !== null || !isTaken) throw error
    return listen({ ...place, port: ANY })
  })
  const stop = (): Promise<void> => {
    ending.abort()
    return listening.stop()
  }
  return { ...listening, stop }
}

export interface WorkerFlags {
  readonly path?: string
  readonly pool?: string
  readonly labels?: string
  readonly slots?: number
  readonly name?: string
  readonly database?: string
  readonly schema?: string
  readonly drain?: number
  /** The port of health and metrics. */
  readonly port?: number
}

/** Inngest would receive the worker's wakes and call the only address it knows, which is that of a server. */
const NO_ADDRESS =
  'Inngest calls a server by its address, and a worker has no address: unset TRIHAND_DISPATCHER for workers; workers read the ledger directly'

type Why = 'signal' | 'order'

const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')

const sayReady = (output: Output, { worker, system, ledger }: Trihand, url: string): void => {
  const { id, name, pool, labels, slots } = worker
  if (output.isJson) {
    const rest = { slots, pid: process.pid, version: VERSION, system: system.name, ledger: ledger.description, url }
    output.document({ type: 'ready', worker_id: id, name, pool, labels, ...rest }, { isStream: true })
    return
  }
  output.line(visible(`Trihand ${VERSION} · ${system.name} · worker ${name} (${id})`))
  const place = [pool === null ? 'no pool' : `pool ${pool}`, labelText(labels)]
    .filter((part) => part !== '')
    .join(' · ')
  output.line(visible(`Place   ${place} · ${slots} slots`))
  output.line(`Health  ${url}/health · metrics ${url}/metrics`)
  output.line('Stop    Ctrl+C, SIGTERM or `trihand workers drain`; running steps finish first.')
}

const sayStopped = ({ output }: Shell, name: string): void => {
  if (output.isJson) output.document({ type: 'stopped', name }, { isStream: true })
  else output.line(visible(`worker ${name} has stopped`))
}

const sayDraining = ({ output }: Shell, why: Why): void => {
  if (output.isJson) output.document({ type: 'draining', why }, { isStream: true })
  else output.talk('stopping: waiting for running steps; a second signal stops now')
}

const whileAtWork = async (shell: Shell, trihand: Trihand, port: number | null): Promise<void> => {
  const stopped = untilAskedToStop()
  const log = openLog(shell, trihand)
  const health = await openWorkerHealth(shell, trihand, port, log)
  const mute = log.follow(trihand)
  sayReady(shell.output, trihand, health.url)
  const activity = new Activity(shell.output)
  const forget = trihand.subscribe('runs', (notice) => activity.hear(notice))
  const why = await Promise.race([stopped.then((): Why => 'signal'), trihand.drained.then((): Why => 'order')])
  sayDraining(shell, why)
  await trihand.close()
  await health.stop()
  mute()
  forget()
  activity.stop()
  sayStopped(shell, trihand.worker.name)
}

export const worker: Verb<WorkerFlags> = async (shell, flags) => {
  const { settings } = shell
  if (settings.dispatcher?.kind === 'inngest') throw new TrihandError('CONFIG_INVALID', NO_ADDRESS)
  const { file, source } = await loadSystem(flags.path, codeFolder(settings))
  const { pool = settings.worker.pool, labels = settings.worker.labels, slots = settings.worker.slots } = flags
  const { schema, name, drain = settings.worker.drain } = flags
  const place = placeOf({ pool, labels, slots, drain })
  const trihand = await createTrihand({
    system: source,
    folder: dirname(file),
    sources: false,
    tuneProcess: true,
    database: flags.database ?? defaultLedger(settings),
    ...place,
    ...(settings.dispatcher === null ? {} : { dispatcher: settings.dispatcher }),
    ...(name === undefined ? {} : { name }),
    ...(schema === undefined ? {} : { schema }),
  })
  try {
    await whileAtWork(shell, trihand, flags.port ?? settings.worker.port)
    return EXIT.done
  } finally {
    await trihand.close()
  }
}
