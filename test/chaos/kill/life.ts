/**
 * One life of the process that is killed, from its start to its end, with a client that uses it.
 *
 * Owns the reading of its output and the important moments: ready, first acknowledgement, death.
 */
import { Program } from '#test/support/program.ts'
import { until } from '#test/support/until.ts'
import type { ChildInput, ChildLine, ChildOrder } from './child.ts'
import { backlogOf, type Client } from './client.ts'

const START_MS = 30_000

export class Life {
  readonly #program: Program
  readonly #client: Client
  readonly startedAt = performance.now()
  /** Null until something was acknowledged in this life. */
  firstAcknowledgedAt: number | null = null
  /** The last reported value; null before it is ready. */
  counts: Readonly<Record<string, number>> | null = null
  recoveryMs = 0
  /** The worker id under which it claims, as long as its connection is not cut. */
  worker = ''
  isStopped = false

  constructor(input: ChildInput, client: Client) {
    this.#client = client
    this.#program = new Program({ source: 'test/chaos/kill/child.ts', input })
    void this.#listen()
  }

  get isOver(): boolean {
    return this.#program.isOver
  }

  get complaint(): string {
    return this.#program.complaint
  }

  get pid(): number {
    return this.#program.pid
  }

  async ready(): Promise<number> {
    await this.#reached(() => this.counts !== null, 'a process that is ready')
    return backlogOf(this.counts ?? {})
  }

  async acknowledged(): Promise<void> {
    await this.#reached(() => this.firstAcknowledgedAt !== null, 'an acknowledgement')
  }

  /** Sends what the client has outstanding. */
  deliver(payAll: boolean): void {
    for (const event of this.#client.letters(payAll)) this.tell({ kind: 'send', event })
  }

  tell(order: ChildOrder): void {
    this.#program.say(JSON.stringify(order))
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.isStopped = signal === 'SIGSTOP'
    this.#program.signal(signal)
  }

  async kill(): Promise<void> {
    await this.#program.kill()
  }

  /** A graceful end: drains, releases leases, exits with 0. */
  async close(): Promise<number | null> {
    this.tell({ kind: 'close' })
    await until(
      () => this.isOver,
      (over) => over,
      { timeoutMs: START_MS, what: 'the end of a process that was asked to close' },
    )
    return this.#program.exitCode
  }

  async #reached(holds: () => boolean, what: string): Promise<void> {
    await until(
      () => holds() || this.isOver,
      (reached) => reached,
      { timeoutMs: START_MS, what },
    )
    if (!holds()) throw new Error(`the process ended by itself before ${what}: ${this.complaint}`)
  }

  async #listen(): Promise<void> {
    for (;;) {
      const text = await this.#program.line()
      if (text === null) return
      const line = JSON.parse(text) as ChildLine
      if (line.kind === 'ready') {
        this.recoveryMs = line.recoveryMs
        this.worker = line.worker
      }
      if (line.kind === 'ready' || line.kind === 'counts') this.counts = line.counts
      else if (line.kind !== 'refused') this.firstAcknowledgedAt ??= performance.now()
      this.#client.hear(line)
    }
  }
}
