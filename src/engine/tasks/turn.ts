/**
 * A task that a worker holds for a moment, because a timer or a signal has made it due: reminders, deadlines, the end of its run.
 *
 * Owns that one turn: load, decide, and one append that releases it. The task's own rules say what a deadline does.
 *
 * task-turn-1  A task that its run no longer waits for is withdrawn.
 * task-turn-2  The facts and the release of the lease are one append, fenced by the epoch.
 */
import { advanceTask } from '#engine/core/advance.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { commitSpawned } from '#engine/run/spawned.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { Instant, TaskId, WorkerId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { TaskCommand, TaskState } from '#model/task/fact.ts'
import { taskWakeAt } from '#model/task/time.ts'
import { taskAppend } from './append.ts'
import { type Emitted, emittedByActions } from './events.ts'
import { loadTask } from './state.ts'

export interface TaskHold {
  readonly id: TaskId
  readonly lease: WorkerId
  readonly epoch: number
  readonly signal: number
}

type Departed = (releaseReason: 'parked' | 'fenced' | 'dropped', wakeAt: Instant | null) => void

/** A store whose clock is ahead lets a task be claimed early: it is then kept until it is due, or it would be claimed again and again. */
const KEEP_MS = 1_000

export class TaskTurn {
  readonly hold: TaskHold
  private readonly context: EngineContext
  private readonly departed: Departed
  private isGone = false
  private wait: (() => void) | null = null

  constructor(context: EngineContext, hold: TaskHold, departed: Departed) {
    this.context = context
    this.hold = hold
    this.departed = departed
  }

  /** Ends a wait. Nothing gets lost: its own append detects other writers, and a signal makes the task due again. */
  wakeSoon(): void {
    this.wait?.()
  }

  leave(): void {
    this.wait?.()
  }

  /** Stops without a write to the ledger. */
  drop(): void {
    this.go('fenced', null)
  }

  async work(): Promise<void> {
    try {
      while (!this.isGone) await this.turn()
    } catch {
      this.go('dropped', null)
    }
  }

  private go(releaseReason: 'parked' | 'fenced' | 'dropped', wakeAt: Instant | null): void {
    if (this.isGone) return
    this.isGone = true
    this.wait?.()
    this.departed(releaseReason, wakeAt)
  }

  private async turn(): Promise<void> {
    const { context, hold } = this
    const { state: before, record } = await loadTask(context, hold.id)
    if (record.epoch !== hold.epoch) return this.go('fenced', null)
    await this.untilDue(before)
    if (this.isGone) return
    const { state, facts } = advanceTask(before, await this.command(before))
    const change = { before, state, facts }
    const { append, told, wakeAt } = taskAppend(context, record, change, await this.emitted(record, change), hold)
    const outcome = await commitSpawned(context, append, told.runs)
    if (outcome.kind !== 'conflict') this.go('parked', wakeAt)
    else if (outcome.reason !== 'version') this.go(outcome.reason === 'epoch' ? 'fenced' : 'dropped', null)
  }

  private async command(state: TaskState): Promise<TaskCommand> {
    // Uses only this process's clock: a deadline must not pass early because another clock is ahead.
    const now = this.context.clock.now()
    if (this.hold.signal === 0 || (await this.isWanted(state))) return { type: 'pass_time', now }
    return { type: 'withdraw_task', now, reason: 'the run no longer waits for this task' }
  }

  /** task-turn-1: true if the run still waits for this task. The run signals the task when it ends; a retried run opens a new task. */
  private async isWanted(state: TaskState): Promise<boolean> {
    if (state.kind !== 'open') return true
    const [record] = await this.context.ledger.load([state.run])
    if (record == null) return false
    const run = fold(runMachine, record.facts.map(readRunFact))
    return run.kind === 'live' && run.tasks.includes(this.hold.id)
  }

  /** Ignores an event that may not be sent, because no person is there to correct it: the deadline still takes effect. */
  private async emitted(
    { handler }: { readonly handler: string },
    change: Parameters<typeof emittedByActions>[2],
  ): Promise<readonly Emitted[]> {
    try {
      return await emittedByActions(this.context, { id: this.hold.id, handler }, change)
    } catch {
      return []
    }
  }

  private async untilDue(state: TaskState): Promise<void> {
    const { clock } = this.context
    const wakeAt = taskWakeAt(state)
    if (this.hold.signal > 0 || wakeAt === null || wakeAt <= clock.now() || wakeAt > clock.now() + KEEP_MS) return
    await new Promise<void>((resolve) => {
      const cancel = clock.at(wakeAt, resolve)
      this.wait = () => {
        cancel()
        resolve()
      }
    })
    this.wait = null
  }
}
