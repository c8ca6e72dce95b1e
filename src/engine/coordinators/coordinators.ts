/**
 * The coordinators and tasks that this worker holds: each with its logic, woken by signals, released when the worker stops.
 *
 * Owns which object a claim becomes. Never makes their decisions (coordinator-logic.ts, tasks/turn.ts).
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { TaskTurn } from '#engine/tasks/turn.ts'
import type { System } from '#manifest/define/system.ts'
import {
  type ClaimableId,
  type CoordinatorId,
  isTaskId,
  type TaskId,
  type TenantId,
  type WorkerId,
} from '#model/kernel/ids.ts'
import type { Claim } from '#ports/ledger.ts'
import { Coordinator, type CoordinatorRelease } from './coordinator.ts'
import type { CoordinatorFact, CoordinatorLogic } from './coordinator-logic.ts'

type Held = Coordinator<unknown, CoordinatorFact> | TaskTurn

/** Returns the logic of a coordinator under the given definition; null if the definition has no coordinator with this id. */
export type FindLogic = (
  context: EngineContext,
  system: System,
  id: CoordinatorId,
) => CoordinatorLogic<unknown, CoordinatorFact> | null

interface Deps {
  readonly contextOf: (tenant: TenantId) => EngineContext
  readonly findLogic: FindLogic
  readonly departed: (id: CoordinatorId | TaskId, releaseReason: CoordinatorRelease, wakeAt: number | null) => void
}

export class Coordinators {
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

  /** Makes the coordinator look again. Returns false if it is not held here. */
  wakeSoon(id: ClaimableId): boolean {
    const coordinator = this.held.get(id)
    coordinator?.wakeSoon()
    return coordinator !== undefined
  }

  /** Takes a claim. If this worker's definition does not have the coordinator, the claim is given back for a worker that has it. */
  take(claim: Claim, lease: WorkerId): void {
    const id = claim.stream as CoordinatorId | TaskId
    const known = this.held.get(id)
    if (known !== undefined && known.hold.epoch >= claim.epoch) return
    known?.drop()
    const held = this.make(id, claim, lease, (releaseReason, wakeAt) => this.leave(id, held, releaseReason, wakeAt))
    if (held === null) return this.deps.departed(id, 'dropped', null)
    this.held.set(id, held)
    void held.work()
  }

  private make(
    id: CoordinatorId | TaskId,
    { tenant, version, epoch, signal }: Claim,
    lease: WorkerId,
    departed: (releaseReason: CoordinatorRelease, wakeAt: number | null) => void,
  ): Held | null {
    const context = this.deps.contextOf(tenant)
    if (isTaskId(id)) return new TaskTurn(context, { id, lease, epoch, signal }, departed)
    const logic = this.deps.findLogic(context, context.system(), id)
    return logic === null ? null : new Coordinator(context, { id, lease, epoch, signal, version }, logic, departed)
  }

  get count(): number {
    return this.held.size
  }

  /** Makes all of them park as soon as they can. */
  letGo(): void {
    for (const coordinator of this.held.values()) coordinator.leave()
  }

  drop(): void {
    for (const coordinator of [...this.held.values()]) coordinator.drop()
  }

  private leave(
    id: CoordinatorId | TaskId,
    coordinator: Held | null,
    releaseReason: CoordinatorRelease,
    wakeAt: number | null,
  ): void {
    if (this.held.get(id) === coordinator) this.held.delete(id)
    this.deps.departed(id, releaseReason, wakeAt)
  }
}
