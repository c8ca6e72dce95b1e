/**
 * When the facts of a coordinator get a checkpoint: after some facts, and after more of them the larger the checkpoint is.
 *
 * Owns the count. It is kept by each writer of a coordinator: the worker that holds it, and the queue of commands from outside.
 *
 * checkpoint-pace-1  What a reader must load of a coordinator is bounded by the size of its state, however many facts it has, and what
 *                    checkpoints add to the ledger stays in proportion to the facts.
 */
import type { Checkpoint, CoordinatorFact } from './coordinator-logic.ts'

const FACTS_PER_CHECKPOINT = 64
const BYTES_PER_FACT = 200

/** A stored fact, as far as the count needs it. */
interface Stored {
  readonly type: string
  readonly body: string
}

const isCheckpoint = ({ type }: { readonly type: string }): boolean => type.endsWith('.checkpointed')

const factsFor = (bytes: number): number => Math.max(FACTS_PER_CHECKPOINT, bytes / BYTES_PER_FACT)

export class CheckpointPace {
  private since = 0
  private after = FACTS_PER_CHECKPOINT

  /** These facts were read: the last of a coordinator that is restored, or news that others wrote. */
  read(facts: readonly Stored[]): void {
    const last = facts.findLastIndex(isCheckpoint)
    if (last === -1) {
      this.since += facts.length
      return
    }
    this.since = facts.length - 1 - last
    this.after = factsFor(facts[last]?.body.length ?? 0)
  }

  /** A checkpoint to write behind so many facts; null: none is due. Count what is written with `wrote` once it is in the ledger. */
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
