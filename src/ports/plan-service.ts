/**
 * Plans that people write down and approve, as those need them who run one: a chat that proposes a plan, and the run of a plan.
 *
 * Each call may be repeated: the same proposal, the same word and the same question have the same answer.
 */
import type { PlanId, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { PlanApproval, PlanDraft, PlanOrder } from '#model/plan/draft.ts'

export interface PlanWord {
  readonly hash: string
  readonly by: string
}

export interface PlanService {
  /** Keeps it as a draft under this name. What cannot be read as a plan is refused with a question. */
  propose(tenant: TenantId, id: PlanId, given: Json, by: string): Promise<PlanDraft>
  /** A person's word on exactly this revision; answers what a run of it is given. */
  agree(tenant: TenantId, id: PlanId, word: PlanWord): Promise<PlanOrder>
  /** Who has approved what this run was given; refused if nobody has, or if it is something else. */
  vouch(tenant: TenantId, order: PlanOrder): Promise<PlanApproval>
}
