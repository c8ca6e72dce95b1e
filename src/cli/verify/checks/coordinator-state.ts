/** The state of a coordinator, folded from its facts as far as the rest checks need it: event types, open windows and held events, runs. */
import type { CoordinatorFact } from './coordinator-fact.ts'

interface OpenWindow {
  readonly events: Set<number>
  readonly firesAt: number
}

export class CoordinatorState {
  readonly #windows = new Map<string, OpenWindow>()
  readonly #running = new Set<string>()
  #held = 0
  #isPaused = false
  #isLive = false
  types: readonly string[] = []

  apply(fact: CoordinatorFact): void {
    switch (fact.type) {
      case 'gate.listened':
        this.types = fact.types
        return
      case 'gate.window_opened':
        this.#windows.set(fact.key, { events: new Set(fact.events), firesAt: fact.firesAt })
        return
      case 'gate.window_joined':
        return this.#join(fact)
      case 'gate.window_closed':
        this.#windows.delete(fact.key)
        return
      case 'gate.withdrawn':
        return this.#withdraw(fact)
      case 'gate.held':
        this.#held += 1
        return
      case 'gate.released':
        this.#held -= fact.count
        return
      case 'schedule.fired':
        this.#running.add(fact.run)
        return
      case 'schedule.run_ended':
        this.#running.delete(fact.run)
        return
      case 'paused':
      case 'resumed':
        this.#isPaused = fact.type === 'paused'
        return
      case 'created':
      case 'ended':
        this.#isLive = fact.type === 'created'
        return
      case 'gate.started':
      case 'gate.buffered':
      case 'queue.cycle_started':
      case 'trigger.suppressed':
      case 'gate.followed':
      case 'gate.unfollowed':
      case 'gate.start_made':
      case 'other':
    }
  }

  /** The instant at which time alone must move it on; null: there is none, or its facts do not say. */
  get nextAt(): number | null {
    if (this.#isPaused) return null
    if (this.#held > 0) return 0
    const instants = [...this.#windows.values()].map(({ firesAt }) => firesAt)
    return instants.length === 0 ? null : Math.min(...instants)
  }

  /** True for a schedule that has not ended, is not paused and has no running run: it needs a next slot. */
  get needsSlot(): boolean {
    return this.#isLive && !this.#isPaused && this.#running.size === 0
  }

  #join({ key, sequence, replaces, firesAt }: Extract<CoordinatorFact, { readonly type: 'gate.window_joined' }>): void {
    const before = replaces ? [] : (this.#windows.get(key)?.events ?? [])
    this.#windows.set(key, { events: new Set([...before, sequence]), firesAt })
  }

  #withdraw({ sequence, place, key }: Extract<CoordinatorFact, { readonly type: 'gate.withdrawn' }>): void {
    if (place === 'held') this.#held -= 1
    const window = place === 'window' && key !== null ? this.#windows.get(key) : undefined
    window?.events.delete(sequence)
    if (key !== null && window?.events.size === 0) this.#windows.delete(key)
  }
}
