/**
 * Runs in memory that should look again: a signal came, or others wrote to them.
 *
 * Owns that a run looks once at a time, however often it is nudged, and when. What it finds is offered to it (offer.ts).
 *
 * nudges-1  All looks of a run with many children read some multiple of their number, however few of them end at a time: a look reads each
 *           child that is open, so it waits until a quarter of them has ended, as far as this process knows. It waits for a share of
 *           the batches under way and no longer, and not at all where there is none.
 */
import { offerParentEnd } from '#engine/run/parent-end.ts'
import type { Resident } from '#engine/run/resident.ts'
import { offerDoubts } from '#engine/step/doubt.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import { offerChildren, offerEvents } from './offer.ts'

/** Of its open steps: so many signals make a look worth it. */
const SHARE_OF_STEPS = 1 / 4
/** For so many open steps a look is put off by a batch. */
const STEPS_PER_BATCH = 64

/** The signals that a look to come will answer. */
interface Nudged {
  signals: number
}

export class Nudges {
  private readonly nudged = new Map<RunId, Nudged>()

  /** Something happened to a run in memory: look again at what it waits for. */
  nudge(resident: Resident): void {
    const { id } = resident.record
    const known = this.nudged.get(id)
    if (known !== undefined) {
      known.signals += 1
      return
    }
    const nudged = { signals: 1 }
    this.nudged.set(id, nudged)
    resident.begin()
    void this.look(resident, nudged).finally(() => {
      this.forget(id, nudged)
      resident.end()
    })
  }

  /** What another process did to these (a cancel, a signal) is noticed by their heads. */
  async compare(ledger: Pick<Ledger, 'load'>, residents: readonly Resident[]): Promise<void> {
    if (residents.length === 0) return
    const heads = await ledger.load(
      residents.map((resident) => resident.record.id),
      { after: Number.MAX_SAFE_INTEGER },
    )
    heads.forEach((head, i) => {
      const resident = residents[i] as Resident
      if (head != null && resident.isBehind(head)) this.nudge(resident)
    })
  }

  private async look(resident: Resident, nudged: Nudged): Promise<void> {
    try {
      if ((resident.live?.open.size ?? 0) >= STEPS_PER_BATCH) await worthIt(resident, nudged)
      const signal = await resident.reload()
      // From here on a new signal needs a new look.
      this.forget(resident.record.id, nudged)
      await offerEvents(resident)
      await offerChildren(resident)
      await offerDoubts(resident)
      await offerParentEnd(resident)
      resident.seenSignal = Math.max(resident.seenSignal, signal)
    } catch {
      // Nothing is lost: the signal in the ledger makes the run due again when it is released.
    }
  }

  private forget(id: RunId, nudged: Nudged): void {
    if (this.nudged.get(id) === nudged) this.nudged.delete(id)
  }
}

/** nudges-1. */
const worthIt = async (resident: Resident, nudged: Nudged): Promise<void> => {
  const { commit } = resident.context
  const open = resident.live?.open.size ?? 0
  for (let batches = 0; batches < open / STEPS_PER_BATCH; batches++) {
    if (resident.isGone || !commit.pending || nudged.signals >= open * SHARE_OF_STEPS) return
    await commit.batchOver()
  }
}
