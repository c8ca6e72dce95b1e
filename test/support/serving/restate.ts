/**
 * A real, temporary Restate server: the binary from npm, its own folder, its own loopback ports, removed after the test.
 *
 * Owns its life: start, crash, restart on the same folder and ports, stop by process id. Telemetry is off.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '#test/support/free-port.ts'
import { until } from '#test/support/until.ts'

export interface RestateServer {
  readonly ingress: string
  readonly admin: string
  pid(): number | null
  /** Like kill -9. */
  crash(): Promise<void>
  start(): Promise<void>
  /** Ends the server and deletes its folder. Safe to call twice. */
  stop(): Promise<void>
}

const START_MS = 30_000

const binary = (): string => {
  const require = createRequire(import.meta.url)
  const inside = createRequire(require.resolve('@restatedev/restate-server/package.json'))
  return inside.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`)
}

export interface RestateSettings {
  /** A private key in PEM: then every call to a worker is signed with it. */
  readonly identity?: string
}

const config = (folder: string, ports: readonly [number, number, number]): string => `
node-name = "test"
base-dir = ${JSON.stringify(join(folder, 'data'))}
default-num-partitions = 2
disable-telemetry = true
log-filter = "error"
listen-mode = "tcp"
rocksdb-total-memory-size = "256.0 MiB"
bind-address = "127.0.0.1:${ports[2]}"
[admin]
bind-address = "127.0.0.1:${ports[1]}"
disable-web-ui = true
[ingress]
bind-address = "127.0.0.1:${ports[0]}"
`

const identityConfig = (folder: string, { identity }: RestateSettings): string => {
  if (identity === undefined) return ''
  const file = join(folder, 'identity.pem')
  writeFileSync(file, identity, { mode: 0o600 })
  return `[worker.invoker]\nrequest-identity-private-key-pem-file = ${JSON.stringify(file)}\n`
}

const isUp = async (...urls: readonly string[]): Promise<boolean> => {
  try {
    for (const url of urls) if (!(await fetch(url)).ok) return false
    return true
  } catch {
    return false
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (hasEnded(child)) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })

const launch = async (file: string, ingress: string, admin: string): Promise<ChildProcess> => {
  const child = spawn(binary(), ['--config-file', file, '--no-logo'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2_000)
  })
  child.once('error', (error) => {
    said += error.message
  })
  const state = async (): Promise<'up' | 'down' | 'ended'> => {
    if (hasEnded(child) || child.pid === undefined) return 'ended'
    return (await isUp(`${admin}/health`, `${ingress}/restate/health`)) ? 'up' : 'down'
  }
  const reached = await until(state, (found) => found !== 'down', { timeoutMs: START_MS, what: 'a Restate that is up' })
  if (reached === 'ended') throw new Error(`restate-server ended at its start: ${said}`)
  return child
}

export const startRestate = async (settings: RestateSettings = {}): Promise<RestateServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'trihand-restate-'))
  const file = join(folder, 'restate.toml')
  const ports = [await freePort(), await freePort(), await freePort()] as const
  writeFileSync(file, config(folder, ports) + identityConfig(folder, settings))
  const [ingress, admin] = [`http://127.0.0.1:${ports[0]}`, `http://127.0.0.1:${ports[1]}`]
  let child: ChildProcess | null = null
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const killAtExit = (): void => {
    child?.kill('SIGKILL')
    remove()
  }
  const crash = async (): Promise<void> => {
    const running = child
    child = null
    if (running !== null) await end(running)
  }
  const start = async (): Promise<void> => {
    child ??= await launch(file, ingress, admin)
  }
  process.once('exit', killAtExit)
  const stop = async (): Promise<void> => {
    await crash()
    process.removeListener('exit', killAtExit)
    remove()
  }
  try {
    await start()
  } catch (error) {
    await stop()
    throw error
  }
  return { ingress, admin, pid: () => child?.pid ?? null, crash, start, stop }
}
