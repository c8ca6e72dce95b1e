/**
 * The run of a drafted plan: performs the steps that it was given, once it is verified that a person has approved exactly these.
 *
 * Owns that order. How steps are performed is plan.ts; a drafted plan and a declared one are executed the same way.
 *
 * plan-run-1  No step begins before the ledger has said who approved this hash; what was ordered is recorded with the run.
 */
import type { FunctionContext } from '#executors/workflow/function.ts'
import { newestFirstKey, type TenantId } from '#model/kernel/ids.ts'
import { type PlanApproval, type PlanRunInput, planRunsTable } from '#model/plan/draft.ts'
import type { PlanSpec } from '#model/plan/plan.ts'
import { planned } from './plan.ts'

interface PlanRunDeps {
  vouch(tenant: TenantId, order: PlanRunInput): Promise<PlanApproval>
  define(order: PlanRunInput): PlanSpec
}

export const planRun =
  ({ vouch, define }: PlanRunDeps) =>
  async (context: FunctionContext<PlanRunInput>): Promise<unknown> => {
    const { input: order, run, step } = context
    // plan-run-1
    await step.run(
      'plan',
      async ({ write }) => {
        const approval = await vouch(run.tenant, order)
        write(planRunsTable(order.plan), newestFirstKey(run.id), run.id)
        return approval
      },
      { key: 'approved' },
    )
    const roots = { event: null, trigger: null, run: { id: run.id, attempt: run.attempt } }
    return planned(define(order), roots)({ input: order.input, step })
  }
