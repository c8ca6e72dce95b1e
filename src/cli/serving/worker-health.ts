/**
 * The port of a worker: health and metrics for its supervisor (http/server/worker-app.ts).
 *
 * Owns which port: the one that was asked for, or the first free one of 4410 to 4419, or any. A worker works also where all are taken.
 */
import type { Settings } from '#cli/connect/settings.ts'
import type { Log } from '#cli/terminal/log.ts'
import type { Shell } from '#cli/terminal/shell.ts'
import { VERSION } from '#cli/version.ts'
import type { Trihand } from '#compose/assemble.ts'
import { type AuthSettings, authSettings, LOOPBACK } from '#http/access/auth-settings.ts'
import { randomText } from '#http/access/random.ts'
import { followReadiness } from '#http/server/readiness.ts'
import { type Listening, listen } from '#http/server/server.ts'
import { createWorkerApp } from '#http/server/worker-app.ts'
import { TrihandError } from '#model/kernel/errors.ts'

const FIRST_PORT = 4410
const ANY = 0

/** There are no logins here, so the key that would sign them is empty. */
const authOf = ({ host, metricsToken }: Settings): AuthSettings => {
  const auth = authSettings({ host, publicUrl: null }, randomText())
  return { ...(auth.isRequired ? auth : LOOPBACK), metricsToken }
}

export const openWorkerHealth = async (
  shell: Shell,
  trihand: Trihand,
  port: number | null,
  log: Log,
): Promise<Listening> => {
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
