/**
 * Runs in memory that should look again: a signal came, or others wrote to them.
 *
 * Owns that a run looks once at a time, however often it is nudged. What it finds is offered to it (offer.ts).
 */
import type { RunId } from '../model/ids.ts'
import type { Ledger } from '../ports/ledger.ts'
import { offerDoubts } from './doubt.ts'
import { offerChildren, offerEvents } from './offer.ts'
import type { Resident } from './resident.ts'

export class Nudges {
  private readonly nudged = new Set<RunId>()

  /** Something happened to a run in memory: look again at what it waits for. */
  nudge(resident: Resident): void {
    const { id } = resident.record
    if (this.nudged.has(id)) return
    this.nudged.add(id)
    resident.begin()
    void this.look(resident).finally(() => {
      this.nudged.delete(id)
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

  private async look(resident: Resident): Promise<void> {
    try {
      const signal = await resident.reload()
      // From here on a new signal needs a new look.
      this.nudged.delete(resident.record.id)
      await offerEvents(resident)
      await offerChildren(resident)
      await offerDoubts(resident)
      resident.seenSignal = Math.max(resident.seenSignal, signal)
    } catch {
      // Nothing is lost: the signal in the ledger makes the run due again when it is released.
    }
  }
}
