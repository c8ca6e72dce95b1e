/**
 * A child process that runs one of our compiled programs, exchanges lines of JSON, and is killed on request.
 *
 * Owns its life: it ends with its stdin, so that no program outlives its test. Kills by process id only.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { compiled } from './places.ts'

export interface ProgramOptions {
  readonly source: string
  /** Passed as one JSON argument. */
  readonly input: unknown
  readonly env?: Readonly<Record<string, string>>
}

export class Program {
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  #lines: string[] = []
  #listeners: (() => void)[] = []
  #complaint = ''

  constructor({ source, input, env = {} }: ProgramOptions) {
    this.#child = spawn(process.execPath, [compiled(source), JSON.stringify(input)], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#ended = new Promise((resolve) => this.#child.once('close', () => resolve()))
    void this.#ended.then(() => this.#notify())
    // A killed program does not read its input.
    this.#child.stdin?.on('error', () => {})
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString()).slice(-4_000)
    })
    if (this.#child.stdout === null) throw new Error('a program without stdout cannot answer')
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#lines.push(line)
      this.#notify()
    })
  }

  get pid(): number {
    return this.#child.pid ?? -1
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  get exitCode(): number | null {
    return this.#child.exitCode
  }

  /** The end of its stderr. */
  get complaint(): string {
    return this.#complaint
  }

  /** The next line of its output, or null once it has ended and all was read. */
  async line(): Promise<string | null> {
    for (;;) {
      const next = this.#lines.shift()
      if (next !== undefined) return next
      if (this.isOver) {
        await this.#ended
        return this.#lines.shift() ?? null
      }
      await new Promise<void>((resolve) => this.#listeners.push(resolve))
    }
  }

  /** The next line, which must come: fails if the program ends instead. */
  async answer(): Promise<string> {
    const line = await this.line()
    if (line === null)
      throw new Error(`the program ended (${this.#child.exitCode ?? this.#child.signalCode}): ${this.#complaint}`)
    return line
  }

  say(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.isOver) this.#child.kill(signal)
  }

  /** Sends kill -9 and waits for the end of the process. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.#ended
  }

  #notify(): void {
    const waiting = this.#listeners
    this.#listeners = []
    for (const resolve of waiting) resolve()
  }
}
