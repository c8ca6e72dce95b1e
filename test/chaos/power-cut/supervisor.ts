/**
 * Keeps a child working on one ledger, through deaths and disk failures, and reads its messages.
 *
 * Owns restarting it. Never touches the ledger's files.
 */
import { join } from 'node:path'
import { Program } from '#test/support/program.ts'
import { until } from '#test/support/until.ts'
import type { ChildInput, ChildLine } from './child.ts'
import type { StorageFault } from './storage-fault.ts'

const DEATH_MS = 300

export interface SupervisorOptions {
  readonly shim: string
  readonly folder: string
  readonly fault: StorageFault
  readonly log: string
  readonly seed: number
}

export class Supervisor {
  readonly #options: SupervisorOptions
  #program: Program | null = null
  #lives = 0
  /** Acknowledgement lines so far, over all lives. */
  acknowledgements = 0
  /** How often the child met which error, by code and outcome. */
  readonly troubles = new Map<string, number>()

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  get isOver(): boolean {
    return this.#program?.isOver ?? true
  }

  get complaint(): string {
    return this.#program?.complaint ?? ''
  }

  start(): void {
    const { shim, folder, fault, log, seed } = this.#options
    this.#lives += 1
    const input: ChildInput = {
      file: join(folder, 'ledger.db'),
      ackFile: join(folder, 'acks.ack'),
      durability: 'full',
      appends: null,
      seed: seed + this.#lives,
    }
    const env = { LD_PRELOAD: shim, TRIHAND_SHIM_LOG: log, TRIHAND_SHIM_FAULT: fault.path }
    const program = new Program({ source: 'test/chaos/power-cut/child.ts', input, env })
    this.#program = program
    void this.#listen(program)
  }

  /** kill -9 between two operations, because within one it could tear the shim's log. A process without disk operations is killed as it is. */
  async kill(): Promise<void> {
    const { fault } = this.#options
    fault.orderDeath(true)
    await until(
      () => this.isOver,
      (over) => over,
      { timeoutMs: DEATH_MS },
    ).catch(() => {})
    await this.#program?.kill()
    fault.orderDeath(false)
  }

  async #listen(program: Program): Promise<void> {
    for (;;) {
      const text = await program.line()
      if (text === null) return
      const line = JSON.parse(text) as ChildLine
      if (line.kind === 'acknowledged') this.acknowledgements += 1
      if (line.kind === 'trouble') {
        const name = `${line.code.toLowerCase()}_${line.outcome}`
        this.troubles.set(name, (this.troubles.get(name) ?? 0) + 1)
      }
    }
  }
}
