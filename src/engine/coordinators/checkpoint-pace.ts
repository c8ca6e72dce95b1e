/**
 * Decides when a coordinator writes a checkpoint: after a number of facts that grows with the size of the checkpoint.
 *
 * Owns the count. Each writer of a coordinator has its own: the worker that holds it, and the queue of commands from outside.
 *
 * checkpoint-pace-1  The amount that a reader of a coordinator must load is bounded by the size of its state, however many facts it has,
 *                    and the size of the checkpoints in the ledger stays in proportion to the facts.
 */
import type { Checkpoint, CoordinatorFact } from './coordinator-logic.ts'

const FACTS_PER_CHECKPOINT = 64
const BYTES_PER_FACT = 200

/** The part of a stored fact that the count needs. */
interface Stored {
  readonly type: string
  readonly body: string
}

const isCheckpoint = ({ type }: { readonly type: string }): boolean => type.endsWith('.checkpointed')

const factsFor = (bytes: number): number => Math.max(FACTS_PER_CHECKPOINT, bytes / BYTES_PER_FACT)

export class CheckpointPace {
  private since = 0
  private after = FACTS_PER_CHECKPOINT

  /** Counts facts that were read: the last facts of a restored coordinator, or facts that others wrote. */
  read(facts: readonly Stored[]): void {
    const last = facts.findLastIndex(isCheckpoint)
    if (last === -1) {
      this.since += facts.length
      return
    }
    this.since = facts.length - 1 - last
    this.after = factsFor(facts[last]?.body.length ?? 0)
  }

  /** Returns the checkpoint to write after `facts` new facts; null if none is due. Call `wrote` once they are in the ledger. */
  async due<State, Fact extends CoordinatorFact>(
    facts: number,
    checkpoint: () => Promise<Checkpoint<State, Fact>>,
  ): Promise<Checkpoint<State, Fact> | null> {
    if (facts === 0 || this.since + facts < this.after) return null
    const made = await checkpoint()
    this.after = factsFor(JSON.stringify(made.facts).length)
    return this.since + facts < this.after ? null : made
  }

  wrote(facts: readonly CoordinatorFact[]): void {
    const last = facts.findLastIndex(isCheckpoint)
    this.since = last === -1 ? this.since + facts.length : facts.length - 1 - last
  }
}
