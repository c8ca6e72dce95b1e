/**
 * Pool of processes for isolated modules: a few per module, kept while there is work, and all ended with this process.
 *
 * Owns the number of processes, the queue for one, and when an idle one is retired.
 *
 * isolation-2  A module never has more processes than its limit, and no process outlives the close of the pool.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Isolation } from '#model/access/module.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { CodeProcess, CodeProcesses } from '#ports/code-process.ts'
import { Child, type ChildOwner } from './child.ts'
import { type CodeFiles, readCode } from './code-files.ts'
import { PROGRAM } from './program-code.ts'

/*
 * How a process for isolated code is started, and which flags its version of Node.js knows.
 * Owns the flags. The process may only read the module's own folder; a version of Node.js without permissions is refused.
 */

/** The first major version with the permission model. */
const FIRST = 20

const numbers = (version: string): readonly [number, number] => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return [major, minor]
}

/** The flag has its present name since 22.13 and 23.5. */
const permissionFlag = ([major, minor]: readonly [number, number]): string => {
  const isEarly = major < 22 || (major === 22 && minor < 13) || (major === 23 && minor < 5)
  return isEarly ? '--experimental-permission' : '--permission'
}

interface Place {
  /** Real path, with symbolic links resolved. */
  readonly folder: string
  readonly memoryMb: number
}

const startFlags = (version: string, { folder, memoryMb }: Place): readonly string[] => {
  const known = numbers(version)
  if (known[0] < FIRST)
    throw new TrihandError(
      'ISOLATION_UNAVAILABLE',
      `Node.js ${version} has no permission model; isolation needs ${FIRST}`,
    )
  // Either character would make the flag cover more than this folder.
  if (/[,*]/.test(folder)) throw new TrihandError('LOAD_FAILED', `${folder} has a comma or an asterisk in its name`)
  return [
    permissionFlag(known),
    `--allow-fs-read=${folder}/`,
    // For the program below only; it closes them again before any other code is loaded.
    '--expose-internals',
    '--no-addons',
    '--no-warnings',
    `--max-old-space-size=${memoryMb}`,
    '--eval',
    PROGRAM,
  ]
}

export interface IsolationOptions {
  /** Most processes per module. Default: 4. */
  readonly processes?: number
  /** A process without work is ended after this time. Default: 60,000 ms. */
  readonly idleMs?: number
  /** A process that does not respond for this time is ended. Default: 10,000 ms. */
  readonly hangMs?: number
  /** Heap limit for its code, in megabytes. Default: 256. */
  readonly memoryMb?: number
  /** Path of the Node.js executable. Default: that of this process. */
  readonly node?: string
}

const DEFAULTS = { processes: 4, idleMs: 60_000, hangMs: 10_000, memoryMb: 256, node: process.execPath }

interface Waiter {
  readonly take: (child: Child) => void
  readonly fail: (error: unknown) => void
}

type Settings = Required<IsolationOptions>

interface Begun {
  readonly code: CodeFiles
  readonly version: string
}

/** The processes of one module, with its files as they were when the first process started. */
class ModuleProcesses implements ChildOwner {
  readonly #module: string
  readonly #settings: Settings
  readonly #begin: () => Promise<Begun>
  readonly #all = new Set<Child>()
  readonly #idle: Child[] = []
  readonly #waiting: Waiter[] = []
  readonly #timers = new Map<Child, NodeJS.Timeout>()
  /** Processes that run or are starting. */
  #count = 0
  #starting = 0
  #isRetired = false

  constructor(module: string, settings: Settings, begin: () => Promise<Begun>) {
    this.#module = module
    this.#settings = settings
    this.#begin = begin
  }

  acquire(signal: AbortSignal): Promise<CodeProcess> {
    return new Promise((resolve, reject) => {
      const settled =
        <Value>(settle: (value: Value) => void) =>
        (value: Value): void => {
          signal.removeEventListener('abort', stop)
          settle(value)
        }
      const waiter: Waiter = { take: settled(resolve), fail: settled(reject) }
      const stop = (): void => {
        const at = this.#waiting.indexOf(waiter)
        if (at >= 0) this.#waiting.splice(at, 1)
        reject(new TrihandError('STEP_ABORTED', 'the run has moved to another process'))
      }
      if (signal.aborted) return stop()
      signal.addEventListener('abort', stop, { once: true })
      this.#waiting.push(waiter)
      this.#serve()
    })
  }

  close(): void {
    this.retire()
    for (const { fail } of this.#waiting.splice(0)) fail(new TrihandError('STEP_ABORTED', 'the host is shutting down'))
    for (const child of [...this.#all]) child.kill('was ended with its host')
  }

  /** Running and queued work finishes; after that no process is left. */
  retire(): void {
    this.#isRetired = true
    for (const child of [...this.#idle]) child.kill()
  }

  get isOver(): boolean {
    return this.#count === 0 && this.#waiting.length === 0
  }

  idle(child: Child): void {
    if (this.#isRetired && this.#waiting.length === 0) return child.kill()
    const timer = setTimeout(() => child.kill(), this.#settings.idleMs)
    timer.unref()
    this.#timers.set(child, timer)
    this.#idle.push(child)
    this.#serve()
  }

  gone(child: Child): void {
    this.#count -= 1
    this.#all.delete(child)
    this.#wake(child)
    const at = this.#idle.indexOf(child)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#serve()
  }

  #wake(child: Child): void {
    clearTimeout(this.#timers.get(child))
    this.#timers.delete(child)
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const child = this.#idle.pop()
      if (child === undefined) break
      this.#wake(child)
      this.#waiting.shift()?.take(child)
    }
    while (this.#starting < this.#waiting.length && this.#count < this.#settings.processes) void this.#start()
  }

  async #start(): Promise<void> {
    this.#count += 1
    this.#starting += 1
    try {
      const child = await this.#spawn()
      await child.ready
      this.#starting -= 1
      this.idle(child)
    } catch (error) {
      this.#starting -= 1
      this.#waiting.shift()?.fail(error)
      // No process ended, so that nothing else would look at those who still wait.
      this.#serve()
    }
  }

  async #spawn(): Promise<Child> {
    try {
      const { code, version } = await this.#begin()
      const { node, memoryMb, hangMs } = this.#settings
      const flags = startFlags(version, { folder: code.folder, memoryMb })
      const child = new Child({ node, flags, module: this.#module, code, hangMs }, this)
      this.#all.add(child)
      return child
    } catch (error) {
      this.#count -= 1
      throw error
    }
  }
}

export class IsolatedProcesses implements CodeProcesses {
  readonly #settings: Settings
  readonly #modules = new Map<string, ModuleProcesses>()
  /** Retired processes that run with earlier versions of the files. */
  #before: ModuleProcesses[] = []
  #version: Promise<string> | null = null
  #isClosed = false
  readonly #endAll = (): void => this.#closeAll()

  constructor(options: IsolationOptions = {}) {
    this.#settings = { ...DEFAULTS, ...options }
    // Also ends a process in an endless loop, which does not notice that its pipe closes.
    process.once('exit', this.#endAll)
  }

  async acquire(module: string, { folder }: Isolation, signal: AbortSignal): Promise<CodeProcess> {
    if (this.#isClosed) throw new TrihandError('STEP_ABORTED', 'the host is shutting down')
    const key = `${module}\n${folder}`
    let processes = this.#modules.get(key)
    if (processes === undefined) {
      let code: Promise<CodeFiles> | null = null
      processes = new ModuleProcesses(module, this.#settings, async () => {
        code ??= readCode(folder)
        return { code: await code, version: await this.#versionOf() }
      })
      this.#modules.set(key, processes)
    }
    return processes.acquire(signal)
  }

  /** Work that starts from now on reads the files again. */
  refresh(): void {
    for (const processes of this.#modules.values()) processes.retire()
    this.#before = [...this.#before, ...this.#modules.values()].filter(({ isOver }) => !isOver)
    this.#modules.clear()
  }

  close(): void {
    this.#isClosed = true
    process.off('exit', this.#endAll)
    this.#closeAll()
  }

  #closeAll(): void {
    for (const processes of [...this.#before, ...this.#modules.values()]) processes.close()
  }

  #versionOf(): Promise<string> {
    const { node } = this.#settings
    this.#version ??=
      node === process.execPath
        ? Promise.resolve(process.versions.node)
        : promisify(execFile)(node, ['--version']).then(({ stdout }) => stdout.trim())
    return this.#version
  }
}
