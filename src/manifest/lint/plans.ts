/**
 * Checks plans before they run: finds steps that no handler of this system does.
 *
 * Owns that finding. Cycles and unknown steps are refused when the system is defined (plans.ts).
 */
import { definePlan } from '#manifest/plan/plans.ts'
import type { AddFinding } from '#manifest/yaml/finding.ts'
import { type HandlerEntry, handlersOf, type Manifest, MODALITY_OF } from '#manifest/yaml/manifest.ts'
import { planOf } from '#manifest/yaml/source.ts'

type Hands = Parameters<typeof definePlan>[2]

const lintPlan = (plan: HandlerEntry, hands: Hands, tell: AddFinding): void => {
  for (const { id, work } of definePlan(`plans.${plan.name}`, planOf(plan), hands).steps)
    if (work.kind === 'nobody') {
      const path = ['plans', plan.name, 'steps', id]
      tell({ level: 'warning', code: 'PLAN_UNASSIGNED', message: `no handler in this system does ${id}`, path })
    }
}

export const lintPlans = (manifest: Manifest, tell: AddFinding): void => {
  const hands = new Map(handlersOf(manifest).map(({ section, handler }) => [handler.name, MODALITY_OF[section]]))
  for (const plan of manifest.plans ?? []) lintPlan(plan, hands, tell)
}
