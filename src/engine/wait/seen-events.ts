/**
 * What a run in memory has seen of events for its waits (the ones received, and how many were looked at) and of its children's ends.
 *
 * Owns both for one stay in memory. Most runs wait for nothing, so nothing is allocated before it is needed.
 */
import type { StoredEvent } from '#model/event/event.ts'
import type { RunId, TaskId } from '#model/kernel/ids.ts'

const placeOf = (step: string, type: string): string => `${step}\n${type}`

export class SeenEvents {
  private events: Map<number, StoredEvent> | null = null
  private counts: Map<string, number> | null = null
  private offered: Set<RunId | TaskId> | null = null
  private promised: Map<number, string> | null = null
  private turns: Map<string, Promise<unknown>> | null = null

  /** Keeps an event that a wait receives, so that it is read once. */
  keep(event: StoredEvent): void {
    this.events ??= new Map()
    this.events.set(event.sequence, event)
  }

  get(sequence: number): StoredEvent | undefined {
    return this.events?.get(sequence)
  }

  /** The run was asked to record that a step's wait receives this event. */
  promise(sequence: number, step: string): void {
    this.promised ??= new Map()
    this.promised.set(sequence, step)
  }

  /** The run has answered the request to record this event. */
  redeem(sequence: number): void {
    this.promised?.delete(sequence)
  }

  /** Whether the wait of another step is about to receive it. */
  isPromised(sequence: number, step: string): boolean {
    const promised = this.promised?.get(sequence)
    return promised !== undefined && promised !== step
  }

  /** Looks for events of the same type happen in the order in which they were asked for: the first wait gets the first event. */
  inTurn<T>(types: readonly string[], look: () => Promise<T>): Promise<T> {
    const turns = this.turns ?? new Map<string, Promise<unknown>>()
    this.turns = turns
    const before = types.flatMap((type) => turns.get(type) ?? [])
    const mine = before.length === 0 ? look() : Promise.allSettled(before).then(look)
    for (const type of types) turns.set(type, mine)
    const over = (): void => {
      for (const type of types) if (turns.get(type) === mine) turns.delete(type)
    }
    mine.then(over, over)
    return mine
  }

  /** Remembers a child whose end the run was asked to record, until the run has answered. */
  offer(child: RunId | TaskId): void {
    this.offered ??= new Set()
    this.offered.add(child)
  }

  isOffered(child: RunId | TaskId): boolean {
    return this.offered?.has(child) ?? false
  }

  answered(child: RunId | TaskId): void {
    this.offered?.delete(child)
  }

  /** Remembers how many events of the type, and with the value, a step's wait has read: the ledger compares it when the wait is opened. */
  count(step: string, type: string, count: number): void {
    this.counts ??= new Map()
    this.counts.set(placeOf(step, type), count)
  }

  countOf(step: string, type: string): number {
    return this.counts?.get(placeOf(step, type)) ?? 0
  }
}
