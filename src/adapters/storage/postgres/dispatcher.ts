/**
 * Dispatcher that wakes runs in this process at once, and notifies the other processes over a wire.
 *
 * Owns when the handler is called and how often the wire is used: at once after a quiet moment, and with a pause that grows with the
 * number of runs sent. Holds hints only, and a bounded number of them: the sweep finds in the ledger what is lost here.
 */
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import { claimableId } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import { toUuid } from './rows.ts'
import { Wire, type WireOptions } from './wire.ts'

export interface DispatcherOptions extends Omit<WireOptions, 'onMessage'> {
  readonly clock: Clock
  /** True: other processes are notified. */
  readonly notify: boolean
}

/** The pause per run that was sent: single wakes are sent at once, many share a message. */
const SILENCE_PER_RUN_MS = 1
const LONGEST_SILENCE_MS = 10
/** A notification is limited to less than 8000 bytes: 240 ids of 32 digits with a comma each. */
const MAX_TOLD = 240
const MAX_TIMERS = 10_000

interface Timer {
  readonly at: Instant
  readonly cancel: () => void
}

export class PostgresDispatcher implements Dispatcher {
  readonly #clock: Clock
  readonly #wire: Wire | null
  readonly #timers = new Map<ClaimableId, Timer>()
  #handler: ((run: ClaimableId) => void) | null = null
  #isStopped = false
  /** Runs whose handler is called in the next turn. */
  #woken = new Set<ClaimableId>()
  /** Runs that the other processes have not been notified of yet. */
  #untold = new Set<string>()
  #silence: NodeJS.Timeout | null = null

  constructor({ clock, notify, ...place }: DispatcherOptions) {
    this.#clock = clock
    this.#wire = notify ? new Wire({ ...place, onMessage: (payload) => this.#hear(payload) }) : null
  }

  wake(run: ClaimableId, at: Instant): void {
    if (this.#isStopped) return
    if (at > this.#clock.now()) return this.#remind(run, at)
    this.#wakeHere(run)
    if (this.#wire === null || this.#untold.size >= MAX_TOLD) return
    this.#untold.add(toUuid(run))
    if (this.#silence === null) this.#tell()
  }

  async start(handler: (run: ClaimableId) => void): Promise<void> {
    this.#handler = handler
    this.#isStopped = false
    await this.#wire?.open()
  }

  async stop(): Promise<void> {
    this.#handler = null
    this.#isStopped = true
    for (const { cancel } of this.#timers.values()) cancel()
    this.#timers.clear()
    this.#woken.clear()
    this.#untold.clear()
    if (this.#silence !== null) clearTimeout(this.#silence)
    this.#silence = null
    await this.#wire?.close()
  }

  #wakeHere(run: ClaimableId): void {
    if (this.#handler === null || this.#woken.has(run)) return
    // Deferred: the caller is in the middle of its own work.
    if (this.#woken.size === 0) this.#clock.defer(() => this.#callAll())
    this.#woken.add(run)
  }

  #callAll(): void {
    const woken = this.#woken
    this.#woken = new Set()
    for (const run of woken) this.#handler?.(run)
  }

  /** Calls the handler directly: no other work is in progress when a notification arrives. */
  #hear(payload: string): void {
    for (const uuid of payload.split(',')) this.#handler?.(claimableId(uuid))
  }

  /** Keeps only the earliest wake of a run. Its claim or its next write brings the next one. */
  #remind(run: ClaimableId, at: Instant): void {
    const known = this.#timers.get(run)
    if (known !== undefined && known.at <= at) return
    if (known === undefined && this.#timers.size >= MAX_TIMERS) return
    known?.cancel()
    const cancel = this.#clock.at(at, () => {
      this.#timers.delete(run)
      this.wake(run, at)
    })
    this.#timers.set(run, { at, cancel })
  }

  /** Sends the pending runs, pauses, then sends those that were added meanwhile. */
  #tell(): void {
    const told = this.#untold
    if (told.size === 0) return
    this.#wire?.send([...told].join(','))
    this.#untold = new Set()
    this.#silence = setTimeout(
      () => {
        this.#silence = null
        this.#tell()
      },
      Math.min(told.size * SILENCE_PER_RUN_MS, LONGEST_SILENCE_MS),
    ).unref()
  }
}
