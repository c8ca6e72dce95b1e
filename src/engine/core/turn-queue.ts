/**
 * Calls for one key (a gate, a task, a session, a run) take turns in this process: they would only conflict with each other in the ledger.
 *
 * Owns the order, and the pause after a conflict with another process. Never writes and never gives up: a call ends by its own answer.
 *
 * turn-queue-1  Calls for one key are worked on in the order in which they came, one group at a time. Keys do not wait for each other.
 * turn-queue-2  Work that fails does not stop the calls behind it.
 * turn-queue-3  No number of conflicts ends a call: it is tried again after a pause.
 */
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'

interface Waiting<Call> {
  calls: Call[]
}

/** Passes all calls that wait for a key to `work`, in order, at most `most` of them at once. `work` answers each call itself. */
export class CallGroups<Key, Call> {
  private readonly lines = new Map<Key, Waiting<Call>>()
  private readonly work: (key: Key, calls: readonly Call[]) => Promise<void>
  private readonly most: number

  constructor(work: (key: Key, calls: readonly Call[]) => Promise<void>, most: number) {
    this.work = work
    this.most = most
  }

  add(key: Key, call: Call): void {
    const line = this.lines.get(key)
    if (line !== undefined) {
      line.calls.push(call)
      return
    }
    const first = { calls: [call] }
    this.lines.set(key, first)
    // Deferred, so that calls of the same moment form one group.
    void Promise.resolve().then(() => this.drain(key, first))
  }

  private async drain(key: Key, line: Waiting<Call>): Promise<void> {
    while (line.calls.length > 0) {
      const calls = line.calls
      line.calls = []
      for (let from = 0; from < calls.length; from += this.most) {
        try {
          await this.work(key, calls.slice(from, from + this.most))
        } catch {
          // turn-queue-2
        }
      }
    }
    this.lines.delete(key)
  }
}

/** One call at a time for each key. */
export class TurnQueue<Key> {
  private readonly groups = new CallGroups<Key, () => Promise<void>>((_, [call]) => call?.() ?? Promise.resolve(), 1)

  run<Value>(key: Key, work: () => Promise<Value>): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      this.groups.add(key, () => work().then(resolve, reject))
    })
  }
}

/** Makes one value for each owner, such as the queues of one engine. */
export const forEachOwner = <Owner extends object, Value>(make: (owner: Owner) => Value): ((owner: Owner) => Value) => {
  const made = new WeakMap<Owner, Value>()
  return (owner) => {
    const known = made.get(owner)
    if (known !== undefined) return known
    const value = make(owner)
    made.set(owner, value)
    return value
  }
}

/** A conflict is most often with one other writer, which has then written: the next try meets no other. */
const TRIES_AT_ONCE = 3
const FIRST_PAUSE_MS = 4
const LONGEST_PAUSE_MS = 100

/** An object, so that a simulation can replace the rule with a faulty one. */
export const conflictRules = {
  /**
   * turn-queue-3: gives a pause for every number of conflicts. The first tries follow at once. Then the pause is random, so that no process
   * is always the slower one; it stays short, because every conflict means that another writer made progress.
   */
  pauseMs(conflicts: number, roll: number): number {
    if (conflicts < TRIES_AT_ONCE) return 0
    return Math.ceil(roll * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (conflicts - TRIES_AT_ONCE)))
  },
}

/** Waits after a conflict with a writer outside the queue. */
export const pauseAfterConflict = async (
  { clock, ids }: { readonly clock: Clock; readonly ids: Pick<Ids, 'roll'> },
  conflicts: number,
): Promise<void> => {
  const ms = conflictRules.pauseMs(conflicts, ids.roll())
  if (ms > 0) await new Promise<void>((resolve) => void clock.at(clock.now() + ms, resolve))
}
