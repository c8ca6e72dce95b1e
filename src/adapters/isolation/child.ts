/**
 * One process for isolated code: starts it, talks to it over its own pipe, and ends it.
 *
 * Owns the pipe (one line of JSON per message) and the decision whether the process is still alive. Trusts nothing that the process sends;
 * a message proves only that it is alive.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Call, CodeProcess, ProcessListener, ToProcess } from '#ports/code-process.ts'
import type { CodeFiles } from './code-files.ts'

export interface ChildOptions {
  readonly node: string
  readonly flags: readonly string[]
  readonly module: string
  readonly code: CodeFiles
  /** A process that sends nothing for this many milliseconds while it is pinged counts as hung. */
  readonly hangMs: number
}

export interface ChildOwner {
  /** Called when no code runs in it any more. */
  idle(child: Child): void
  gone(child: Child): void
}

const START_MS = 30_000
/** How long code may run on after it was asked to stop. */
const GRACE_MS = 5_000
const MAX_LINE = 32 * 1024 * 1024
const MAX_TOLD = 1_000
const WINDOWS = process.platform === 'win32'

/** Empty: the host's variables are not passed on. Windows starts no process without these two. */
const environment = (): NodeJS.ProcessEnv =>
  WINDOWS ? { SystemRoot: process.env['SystemRoot'], windir: process.env['windir'] } : {}

const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export class Child implements CodeProcess {
  readonly ready: Promise<void>
  readonly #owner: ChildOwner
  readonly #options: ChildOptions
  readonly #process: ChildProcess
  readonly #pipe: Duplex
  readonly #decoder = new StringDecoder('utf8')
  #rest: string[] = []
  #restLength = 0
  #listener: ProcessListener | null = null
  #isLeaving = false
  #isGone = false
  #saidAt = 0
  #watch: NodeJS.Timeout | null = null
  #grace: NodeJS.Timeout | null = null
  #told = ''
  #became: { readonly yes: () => void; readonly no: (error: Error) => void } | null = null

  constructor(options: ChildOptions, owner: ChildOwner) {
    const { node, flags, module, code } = options
    this.#options = options
    this.#owner = owner
    this.#process = spawn(node, [...flags], {
      cwd: code.folder,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    this.#pipe = this.#process.stdio[3] as Duplex
    this.ready = new Promise((yes, no) => {
      this.#became = { yes, no }
    })
    this.#hear()
    this.#setGrace(START_MS)
    this.#write({ t: 'init', module, folder: code.folder, files: code.files })
  }

  get isGone(): boolean {
    return this.#isGone
  }

  begin(listener: ProcessListener): void {
    this.#listener = listener
    this.#keepHost(true)
    this.#saidAt = performance.now()
    const { hangMs } = this.#options
    this.#watch = setInterval(() => this.#look(hangMs), hangMs / 4)
  }

  send(turn: number, message: ToProcess): void {
    if (!this.#isLeaving) this.#write({ turn, ...message })
  }

  leave(reason: string): void {
    this.#listener = null
    if (this.#isGone || this.#isLeaving) return
    this.#isLeaving = true
    this.#write({ t: 'leave', turn: 0, message: reason })
    this.#setGrace(GRACE_MS)
  }

  kill(how = 'was ended'): void {
    this.#process.kill('SIGKILL')
    this.#end(how)
  }

  // -- messages from the process ----------------------------------------------------------------------------------------

  #hear(): void {
    const { stdout, stderr } = this.#process
    stdout?.on('data', (bytes: Buffer) => process.stdout.write(bytes))
    stderr?.on('data', (bytes: Buffer) => {
      this.#told = (this.#told + bytes.toString()).slice(-MAX_TOLD)
      process.stderr.write(bytes)
    })
    this.#process.on('error', (error) => this.#end(`could not be started: ${error.message}`))
    this.#process.on('close', (code, signal) => this.#end(`ended with ${signal ?? `code ${code}`}`))
    this.#pipe.on('error', () => this.kill('closed its pipe'))
    this.#pipe.on('data', (bytes: Buffer) => this.#read(this.#decoder.write(bytes)))
  }

  #read(text: string): void {
    const lines = text.split('\n')
    const last = lines.pop() ?? ''
    for (const line of lines) {
      const whole = this.#restLength === 0 ? line : `${this.#rest.join('')}${line}`
      this.#rest = []
      this.#restLength = 0
      if (!this.#isGone) this.#take(whole)
    }
    if (last === '') return
    this.#rest.push(last)
    this.#restLength += last.length
    if (this.#restLength > MAX_LINE) this.kill(`sent more than ${MAX_LINE} characters in one message`)
  }

  #take(line: string): void {
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      return this.kill('sent an invalid message')
    }
    if (!isRecord(message)) return this.kill('sent an invalid message')
    this.#saidAt = performance.now()
    if (message['t'] === 'ready') this.#isReady()
    else if (message['t'] === 'turn') this.#turn(message)
  }

  #isReady(): void {
    this.#clearGrace()
    this.#became?.yes()
    this.#became = null
  }

  #turn({ turn, calls }: { readonly [name: string]: unknown }): void {
    const list = Array.isArray(calls) ? (calls.filter(isRecord) as unknown as readonly Call[]) : []
    if (!this.#isLeaving) this.#listener?.turn(Number(turn), list)
    else if (list.some(({ op }) => op === 'idle')) this.#isIdle()
  }

  #isIdle(): void {
    this.#isLeaving = false
    this.#calmDown()
    this.#owner.idle(this)
  }

  #calmDown(): void {
    this.#clearGrace()
    if (this.#watch !== null) clearInterval(this.#watch)
    this.#watch = null
    this.#keepHost(false)
  }

  // -- liveness -----------------------------------------------------------------------------------------------------------

  #look(hangMs: number): void {
    if (performance.now() - this.#saidAt > hangMs) this.kill(`did not respond for ${Math.round(hangMs / 100) / 10} s`)
    else this.#write({ t: 'ping', n: 0 })
  }

  #setGrace(ms: number): void {
    this.#clearGrace()
    this.#grace = setTimeout(() => this.kill(`did not stop within ${ms / 1_000} s`), ms)
    this.#grace.unref()
  }

  #clearGrace(): void {
    if (this.#grace !== null) clearTimeout(this.#grace)
    this.#grace = null
  }

  #end(how: string): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#calmDown()
    const listener = this.#listener
    this.#listener = null
    const { module } = this.#options
    const detail = `the process of module ${module} ${how}`
    this.#became?.no(
      new TrihandError('ISOLATION_UNAVAILABLE', `${detail}: ${this.#told.trim() || 'it printed nothing'}`),
    )
    this.#became = null
    this.#owner.gone(this)
    listener?.lost(new TrihandError('MODULE_PROCESS_LOST', detail))
  }

  /** An idle process must not keep the host process alive. */
  #keepHost(isWanted: boolean): void {
    for (const one of [this.#process, this.#pipe, this.#process.stdout, this.#process.stderr] as unknown as {
      ref?(): void
      unref?(): void
    }[])
      if (isWanted) one?.ref?.()
      else one?.unref?.()
  }

  #write(message: object): void {
    if (!this.#isGone && this.#pipe.writable) this.#pipe.write(`${JSON.stringify(message)}\n`)
  }
}
