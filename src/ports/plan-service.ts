/**
 * The plan operations that a run needs: of a chat that proposes a plan, and of the run of a plan.
 *
 * Each call may be repeated: the same proposal, the same approval and the same question get the same answer.
 */
import type { PlanId, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { PlanApproval, PlanDraft, PlanRunInput } from '#model/plan/draft.ts'

export interface PlanAgreement {
  readonly hash: string
  readonly by: string
}

export interface PlanService {
  /** Stores the proposal as a draft under this id. Input that cannot be read as a plan is refused with a question. */
  propose(tenant: TenantId, id: PlanId, given: Json, by: string): Promise<PlanDraft>
  /** Approves exactly this revision for a person; returns the order that a run of it is given. */
  agree(tenant: TenantId, id: PlanId, word: PlanAgreement): Promise<PlanRunInput>
  /** Returns who approved the order that this run was given; refuses if it was not approved, or if it differs from what was approved. */
  vouch(tenant: TenantId, order: PlanRunInput): Promise<PlanApproval>
}
