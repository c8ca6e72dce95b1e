/**
 * The clerks that this worker holds: each with its duty, nudged by signals, let go when the worker stops.
 *
 * Owns which claim becomes which clerk. Never decides for one (duty.ts).
 */
import type { System } from '../manifest/system.ts'
import type { ClaimableId, ClerkId, WorkerId } from '../model/ids.ts'
import type { Claim } from '../ports/ledger.ts'
import { Clerk, type ClerkDeparture } from './clerk.ts'
import type { ClerkFact, Duty } from './duty.ts'
import type { House } from './house.ts'

type AnyClerk = Clerk<unknown, ClerkFact>

/** The duty behind a clerk's name under the definition in force; null if that knows no such clerk. */
export type FindDuty = (house: House, system: System, id: ClerkId) => Duty<unknown, ClerkFact> | null

interface Deps {
  readonly house: () => House
  readonly findDuty: FindDuty
  readonly departed: (id: ClerkId, departure: ClerkDeparture, wakeAt: number | null) => void
}

export class Clerks {
  private readonly deps: Deps
  private readonly held = new Map<ClaimableId, AnyClerk>()

  constructor(deps: Deps) {
    this.deps = deps
  }

  isHeld(id: ClaimableId, epoch: number): boolean {
    return this.held.get(id)?.hold.epoch === epoch
  }

  needs(name: WorkerId): boolean {
    return [...this.held.values()].some(({ hold }) => hold.lease === name)
  }

  /** True if the clerk is here: then it looks again. */
  nudge(id: ClaimableId): boolean {
    const clerk = this.held.get(id)
    clerk?.nudge()
    return clerk !== undefined
  }

  /** A claim of a clerk that no definition knows is given back for a worker that does. */
  take({ version, epoch, signal, ...claim }: Claim, lease: WorkerId): void {
    const id = claim.stream as ClerkId
    const known = this.held.get(id)
    if (known !== undefined && known.hold.epoch >= epoch) return
    known?.drop()
    const house = this.deps.house()
    const duty = this.deps.findDuty(house, house.system(), id)
    if (duty === null) return this.deps.departed(id, 'dropped', null)
    const clerk: AnyClerk = new Clerk(house, { id, lease, epoch, signal, version }, duty, (departure, wakeAt) =>
      this.leave(id, clerk, departure, wakeAt),
    )
    this.held.set(id, clerk)
    void clerk.work()
  }

  get count(): number {
    return this.held.size
  }

  /** All park as soon as they can. */
  letGo(): void {
    for (const clerk of this.held.values()) clerk.leave()
  }

  drop(): void {
    for (const clerk of [...this.held.values()]) clerk.drop()
  }

  private leave(id: ClerkId, clerk: AnyClerk, departure: ClerkDeparture, wakeAt: number | null): void {
    if (this.held.get(id) === clerk) this.held.delete(id)
    this.deps.departed(id, departure, wakeAt)
  }
}
