/**
 * The clerks and tasks that this worker holds: each with its duty, nudged by signals, let go when the worker stops.
 *
 * Owns which claim becomes which of them. Never decides for one (duty.ts, task-turn.ts).
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { TaskTurn } from '#engine/tasks/turn.ts'
import type { System } from '#manifest/define/system.ts'
import {
  type ClaimableId,
  type ClerkId,
  isTaskId,
  type TaskId,
  type TenantId,
  type WorkerId,
} from '#model/kernel/ids.ts'
import type { Claim } from '#ports/ledger.ts'
import { Clerk, type ClerkDeparture } from './clerk.ts'
import type { ClerkFact, Duty } from './duty.ts'

type Held = Clerk<unknown, ClerkFact> | TaskTurn

/** The duty behind a clerk's name under the definition in force; null if that knows no such clerk. */
export type FindDuty = (context: EngineContext, system: System, id: ClerkId) => Duty<unknown, ClerkFact> | null

interface Deps {
  readonly contextOf: (tenant: TenantId) => EngineContext
  readonly findDuty: FindDuty
  readonly departed: (id: ClerkId | TaskId, departure: ClerkDeparture, wakeAt: number | null) => void
}

export class Clerks {
  private readonly deps: Deps
  private readonly held = new Map<ClaimableId, Held>()

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
  take(claim: Claim, lease: WorkerId): void {
    const id = claim.stream as ClerkId | TaskId
    const known = this.held.get(id)
    if (known !== undefined && known.hold.epoch >= claim.epoch) return
    known?.drop()
    const held = this.make(id, claim, lease, (departure, wakeAt) => this.leave(id, held, departure, wakeAt))
    if (held === null) return this.deps.departed(id, 'dropped', null)
    this.held.set(id, held)
    void held.work()
  }

  private make(
    id: ClerkId | TaskId,
    { tenant, version, epoch, signal }: Claim,
    lease: WorkerId,
    departed: (departure: ClerkDeparture, wakeAt: number | null) => void,
  ): Held | null {
    const context = this.deps.contextOf(tenant)
    if (isTaskId(id)) return new TaskTurn(context, { id, lease, epoch, signal }, departed)
    const duty = this.deps.findDuty(context, context.system(), id)
    return duty === null ? null : new Clerk(context, { id, lease, epoch, signal, version }, duty, departed)
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

  private leave(id: ClerkId | TaskId, clerk: Held | null, departure: ClerkDeparture, wakeAt: number | null): void {
    if (this.held.get(id) === clerk) this.held.delete(id)
    this.deps.departed(id, departure, wakeAt)
  }
}
