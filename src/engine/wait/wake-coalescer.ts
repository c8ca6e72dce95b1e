/**
 * Runs in memory that should look again: a signal came, or others wrote to them.
 *
 * Owns that a run looks once at a time, however often it is woken, and when. What it finds is offered to it (offer.ts).
 *
 * wake-coalescer-1  All looks of a run with many children read some multiple of their number, however few of them end at a time: a look reads each
 *           child that is open, so it waits until a quarter of them has ended, as far as this process knows. It waits for a share of
 *           the batches under way and no longer, and not at all where there is none.
 */
import type { ActiveRun } from '#engine/run/active-run.ts'
import { offerParentEnd } from '#engine/run/parent-end.ts'
import { applyResolutions } from '#engine/step/uncertain-step.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import { offerChildren, offerEvents } from './reconcile.ts'

/** Of its open steps: so many signals make a look worth it. */
const SHARE_OF_STEPS = 1 / 4
/** For so many open steps a look is put off by a batch. */
const STEPS_PER_BATCH = 64

/** The signals that a look to come will answer. */
interface PendingWake {
  signals: number
}

export class WakeCoalescer {
  private readonly pendingWakes = new Map<RunId, PendingWake>()

  /** Something happened to a run in memory: look again at what it waits for. */
  wakeSoon(activeRun: ActiveRun): void {
    const { id } = activeRun.record
    const known = this.pendingWakes.get(id)
    if (known !== undefined) {
      known.signals += 1
      return
    }
    const pendingWakes = { signals: 1 }
    this.pendingWakes.set(id, pendingWakes)
    activeRun.begin()
    void this.look(activeRun, pendingWakes).finally(() => {
      this.forget(id, pendingWakes)
      activeRun.end()
    })
  }

  /** What another process did to these (a cancel, a signal) is noticed by their heads. */
  async compare(ledger: Pick<Ledger, 'load'>, activeRuns: readonly ActiveRun[]): Promise<void> {
    if (activeRuns.length === 0) return
    const heads = await ledger.load(
      activeRuns.map((activeRun) => activeRun.record.id),
      { after: Number.MAX_SAFE_INTEGER },
    )
    heads.forEach((head, i) => {
      const activeRun = activeRuns[i] as ActiveRun
      if (head != null && activeRun.isBehind(head)) this.wakeSoon(activeRun)
    })
  }

  private async look(activeRun: ActiveRun, pendingWakes: PendingWake): Promise<void> {
    try {
      if ((activeRun.live?.open.size ?? 0) >= STEPS_PER_BATCH) await worthIt(activeRun, pendingWakes)
      const signal = await activeRun.reload()
      // From here on a new signal needs a new look.
      this.forget(activeRun.record.id, pendingWakes)
      await offerEvents(activeRun)
      await offerChildren(activeRun)
      await applyResolutions(activeRun)
      await offerParentEnd(activeRun)
      activeRun.seenSignal = Math.max(activeRun.seenSignal, signal)
    } catch {
      // Nothing is lost: the signal in the ledger makes the run due again when it is released.
    }
  }

  private forget(id: RunId, pendingWakes: PendingWake): void {
    if (this.pendingWakes.get(id) === pendingWakes) this.pendingWakes.delete(id)
  }
}

/** wake-coalescer-1. */
const worthIt = async (activeRun: ActiveRun, pendingWakes: PendingWake): Promise<void> => {
  const { commit } = activeRun.context
  const open = activeRun.live?.open.size ?? 0
  for (let batches = 0; batches < open / STEPS_PER_BATCH; batches++) {
    if (activeRun.isGone || !commit.pending || pendingWakes.signals >= open * SHARE_OF_STEPS) return
    await commit.batchOver()
  }
}
