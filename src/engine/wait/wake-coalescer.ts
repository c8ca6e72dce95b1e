/**
 * Makes runs in memory look again after a signal or a write by others.
 *
 * Owns when a run looks, and that it looks once at a time, however often it is woken. The looks themselves are reconcile.ts.
 *
 * wake-coalescer-1  All looks of a run with many children together read a small multiple of their number, however few end at a time. A look
 *           reads each open child, so it waits until a quarter of them has ended, as far as this process knows. It waits for a number
 *           of batches in proportion to the open steps and no longer, and not at all if no batch is under way.
 */
import type { ActiveRun } from '#engine/run/active-run.ts'
import { offerParentEnd } from '#engine/run/parent-end.ts'
import { applyResolutions } from '#engine/step/uncertain-step.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import { offerChildren, offerEvents } from './reconcile.ts'

/** A look is worth it once there are signals for this share of the open steps. */
const SHARE_OF_STEPS = 1 / 4
/** A look is delayed by at most one batch for each this many open steps. */
const STEPS_PER_BATCH = 64

/** The signals that the next look will answer. */
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

  /** Notices, by the heads of these runs, what another process did to them (a cancel, a signal). */
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
