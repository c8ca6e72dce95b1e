/**
 * A child process that runs one of our compiled programs, talks in lines of JSON and dies when told.
 *
 * Owns its life: a program that outlives its test would be a leak, so it ends with its stdin. Kills by process id only.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { compiled } from './places.ts'

export interface ProgramOptions {
  readonly source: string
  /** Handed over as one JSON argument. */
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
    void this.#ended.then(() => this.#tell())
    // A program that was killed does not read what it was told.
    this.#child.stdin?.on('error', () => {})
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString()).slice(-4_000)
    })
    if (this.#child.stdout === null) throw new Error('a program without stdout cannot answer')
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#lines.push(line)
      this.#tell()
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

  /** What it wrote to stderr last. */
  get complaint(): string {
    return this.#complaint
  }

  /** The next line it says, or null once it has ended and said everything. */
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

  /** The next line, which must come: a program that ends instead has failed. */
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

  /** kill -9, and only then goes on. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.#ended
  }

  #tell(): void {
    const waiting = this.#listeners
    this.#listeners = []
    for (const resolve of waiting) resolve()
  }
}
