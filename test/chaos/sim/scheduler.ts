/**
 * Everything that could happen next in a schedule, and virtual time.
 *
 * Owns the order in which callbacks of all workers run: the caller, who holds the tape, picks one. A crashed owner's callbacks are dropped,
 * a paused owner's are held back. Never decides which fault happens.
 */
import { drain } from './microtasks.ts'

/** The owner of a callback: a virtual worker, or the outside world. */
export interface Owner {
  readonly name: string
  state: 'alive' | 'paused' | 'dead'
  /** The offset of its clock from the true time. */
  skewMs: number
}

interface Task {
  readonly owner: Owner
  readonly run: () => void
}

interface Timer extends Task {
  /** By the owner's clock. */
  readonly at: number
  readonly order: number
}

export class Scheduler {
  /** True time. */
  now: number
  /** The owner whose code runs at this moment; null after a drain. */
  current: Owner | null = null
  /** How many callbacks have run: the order of things that happen at one instant. */
  ticks = 0
  #ready: Task[] = []
  #held: Task[] = []
  #timers: Timer[] = []
  #afterwards: (() => void)[] = []
  #ordered = 0

  constructor(now: number) {
    this.now = now
  }

  get readyCount(): number {
    return this.#ready.length
  }

  clockOf(owner: Owner): number {
    return this.now + owner.skewMs
  }

  submit(owner: Owner, run: () => void): void {
    if (owner.state === 'dead') return
    const list = owner.state === 'paused' ? this.#held : this.#ready
    list.push({ owner, run })
  }

  at(owner: Owner, instant: number, run: () => void): () => void {
    if (owner.state === 'dead') return () => {}
    const timer = { owner, run, at: instant, order: this.#ordered++ }
    this.#timers.push(timer)
    return () => {
      const index = this.#timers.indexOf(timer)
      if (index >= 0) this.#timers.splice(index, 1)
    }
  }

  /** Runs one of the ready callbacks, and everything that follows from it without waiting. */
  runReady(index: number): void {
    const [task] = this.#ready.splice(index, 1)
    if (task !== undefined) this.runAs(task.owner, task.run)
  }

  runAs(owner: Owner, run: () => void): void {
    this.ticks++
    this.current = owner
    run()
    drain()
    this.current = null
    const afterwards = this.#afterwards
    this.#afterwards = []
    for (const work of afterwards) work()
  }

  /** After the current callback and everything that follows from it, and before any other. */
  afterwards(work: () => void): void {
    this.#afterwards.push(work)
  }

  hasTimer(owner: Owner): boolean {
    return this.#timers.some((timer) => timer.owner === owner)
  }

  /** When the next timer of an owner that is awake is due in true time; null if none is set. */
  nextAt(): number | null {
    let earliest: number | null = null
    for (const { owner, at } of this.#timers) {
      if (owner.state !== 'alive') continue
      const due = Math.ceil(at) - owner.skewMs
      if (earliest === null || due < earliest) earliest = due
    }
    return earliest
  }

  /** Advances time at least to that instant; the timers that are due by then become ready in their order. */
  advanceTo(instant: number): void {
    this.now = Math.max(this.now, instant)
    const isDue = ({ owner, at }: Timer): boolean => owner.state === 'alive' && at <= this.clockOf(owner)
    const due = this.#timers.filter(isDue).sort((a, b) => a.at - b.at || a.order - b.order)
    if (due.length === 0) return
    this.#timers = this.#timers.filter((timer) => !isDue(timer))
    for (const { owner, run } of due) this.submit(owner, run)
  }

  pause(owner: Owner): void {
    owner.state = 'paused'
    this.#held.push(...this.#ready.filter((task) => task.owner === owner))
    this.#ready = this.#ready.filter((task) => task.owner !== owner)
  }

  resume(owner: Owner): void {
    owner.state = 'alive'
    this.#ready.push(...this.#held.filter((task) => task.owner === owner))
    this.#held = this.#held.filter((task) => task.owner !== owner)
    this.advanceTo(this.now)
  }

  /** A crash: nothing of this owner ever runs again, not even its `finally` blocks. */
  kill(owner: Owner): void {
    owner.state = 'dead'
    const isOthers = (task: Task): boolean => task.owner !== owner
    this.#ready = this.#ready.filter(isOthers)
    this.#held = this.#held.filter(isOthers)
    this.#timers = this.#timers.filter(isOthers)
  }
}
