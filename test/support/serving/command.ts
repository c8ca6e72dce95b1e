/**
 * The built command in temporary folders: calls that end, and servers that are stopped.
 *
 * Owns their life: a call that does not end in time fails as hung, a server that outlives its test is killed by its id. A call runs in this
 * process, with its own folder, environment and streams, where a separate process would prove nothing more: that saves most of its time.
 * Tests of processes and pipes pass `apart`, or options that only a process has.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PROJECT, temporaryFolder } from '#test/support/places.ts'
import { until } from '#test/support/until.ts'
import { callHere } from './command-here.ts'

/** The published command. */
export const COMMAND = join(PROJECT, 'bin/trihand.js')
const HUNG_AFTER_MS = 20_000

/** For the set-up of a test file: the command is tested as it is published. */
export const buildCommand = (): void => {
  const { status, stderr } = spawnSync(process.execPath, [join(PROJECT, 'scripts/build.mjs'), '--if-changed'], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the build failed: ${stderr}`)
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface CallOptions {
  /** Runs in a separate process. */
  readonly apart?: boolean
  /** The streams claim to be a terminal. Not for a separate process, which asks the system. */
  readonly terminal?: boolean
  /** Sends the text and closes stdin; `open` leaves it open and silent. Default: closed. */
  readonly stdin?: string | 'open'
  readonly env?: Readonly<Record<string, string>>
  /** Options of node itself. */
  readonly node?: readonly string[]
  /** A program that starts the command, with its own arguments: `['sh', '-c', '…']`. */
  readonly through?: readonly string[]
}

interface Child {
  readonly process: ChildProcess
  readonly text: { stdout: string; stderr: string }
  readonly ended: Promise<Ended>
}

/** Every test has the same environment, in which colours are possible. */
const environment = (extra: CallOptions['env'] = {}): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  CI: '1',
  FORCE_COLOR: '1',
  TERM: 'xterm-256color',
  ...extra,
})

const begin = (cwd: string, args: readonly string[], { stdin, env, node = [], through = [] }: CallOptions): Child => {
  const [program = '', ...rest] = [...through, process.execPath, ...node, COMMAND, ...args]
  const child = spawn(program, rest, {
    cwd,
    env: environment(env),
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (chunk: Buffer) => {
      text[name] += chunk.toString()
    })
  }
  if (stdin !== undefined && stdin !== 'open') child.stdin?.end(stdin)
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, ...text })),
  )
  return { process: child, text, ended }
}

/** A folder with files in it, and the commands run there. */
export class Folder {
  readonly path: string
  readonly #remove: () => void
  readonly #servers: Server[] = []

  constructor(files: Readonly<Record<string, string>> = {}) {
    const { path, remove } = temporaryFolder('cli')
    this.path = path
    this.#remove = remove
    for (const [name, text] of Object.entries(files)) this.write(name, text)
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true })
    writeFileSync(join(this.path, name), text)
  }

  /** Runs a call that must end by itself. */
  run(args: readonly string[], options: CallOptions = {}): Promise<Ended> {
    const { apart = false, stdin, node, through, env, terminal = false } = options
    const needsProcess = apart || stdin !== undefined || node !== undefined || through !== undefined
    return needsProcess
      ? this.#runApart(args, options)
      : callHere(this.path, args, { env: environment(env), isTTY: terminal })
  }

  async #runApart(args: readonly string[], options: CallOptions): Promise<Ended> {
    const child = begin(this.path, args, options)
    let isHung = false
    const timer = setTimeout(() => {
      isHung = true
      child.process.kill('SIGKILL')
    }, HUNG_AFTER_MS)
    const ended = await child.ended
    clearTimeout(timer)
    if (isHung) throw new Error(`trihand ${args.join(' ')} did not end: ${ended.stdout}${ended.stderr}`)
    return ended
  }

  /** Runs a call with `--json` and returns its document. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
  async json(args: readonly string[], options: CallOptions = {}): Promise<any> {
    const { code, stdout, stderr } = await this.run([...args, '--json'], options)
    if (code !== 0) throw new Error(`trihand ${args.join(' ')} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout)
  }

  /** Starts a command that will serve. Killed with the folder. */
  launch(args: readonly string[], options: CallOptions = {}): Server {
    const server = new Server(begin(this.path, [...args, '--json'], options))
    this.#servers.push(server)
    return server
  }

  /** Starts a command that serves, and waits until it does. */
  async serve(args: readonly string[], options: CallOptions = {}): Promise<Server> {
    const server = this.launch(args, options)
    await server.listening()
    return server
  }

  async remove(): Promise<void> {
    for (const server of this.#servers) await server.kill()
    this.#remove()
  }
}

export class Server {
  readonly #child: Child
  url = ''

  constructor(child: Child) {
    this.#child = child
  }

  get stdout(): string {
    return this.#child.text.stdout
  }

  get stderr(): string {
    return this.#child.text.stderr
  }

  async listening(timeoutMs: number = HUNG_AFTER_MS): Promise<void> {
    // A new administrator's token is printed before the server listens, so it does not prove that it listens.
    const first = () =>
      this.stdout
        .split('\n')
        .slice(0, -1)
        .find((line) => !line.startsWith('{"type":"admin_token"')) ?? ''
    const isOver = () => this.#child.process.exitCode !== null
    await until(first, (line) => line.startsWith('{') || isOver(), {
      timeoutMs,
      what: 'the server listens',
    })
    if (first() === '') throw new Error(`the server ended: ${this.stderr}`)
    this.url = JSON.parse(first()).url
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.process.kill(signal)
  }

  /** Stops it, and waits for its end. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.signal(signal)
    return this.#child.ended
  }

  get ended(): Promise<Ended> {
    return this.#child.ended
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.#child.ended
  }
}
