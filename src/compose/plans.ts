/**
 * The wiring of plans that people draft: the function that runs them in every system, and the service through which people use them.
 *
 * Owns nothing else.
 */
import type { Engine } from '#engine/core/engine.ts'
import { forEachOwner, pauseAfterConflict, TurnQueue } from '#engine/core/turn-queue.ts'
import { planRun } from '#executors/workflow/plan/run.ts'
import { ownFunction } from '#manifest/define/builtin-functions.ts'
import type { System } from '#manifest/define/system.ts'
import { defineContent } from '#manifest/plan/reading.ts'
import type { PlanId, TenantId } from '#model/kernel/ids.ts'
import { PLAN_RUN } from '#model/plan/draft.ts'
import { Plans } from '#planner/plans.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { PlanService } from '#ports/plan-service.ts'
import type { Reader } from '#ports/reader.ts'

interface World {
  readonly ids: Pick<Ids, 'digest' | 'uuid' | 'roll'>
  readonly clock: Clock
}

type PlanReader = Pick<Reader, 'document' | 'documents' | 'run'>

const turnsOf = forEachOwner((_: Engine) => new TurnQueue<PlanId>())

export const openPlans = (engine: Engine, reader: PlanReader, { ids, clock }: World): Plans =>
  new Plans({
    tenant: engine.tenant,
    system: () => engine.definition,
    now: () => clock.now(),
    uuid: () => ids.uuid(),
    digest: (text) => ids.digest(text),
    redact: (value) => engine.redact(value),
    send: (event, options) => engine.send(event, options),
    start: (name, input, options) => engine.startRun(name, input, { ...options, isOwn: true }),
    reader,
    inTurn: (id, change) => turnsOf(engine).run(id, change),
    pause: (conflicts) => pauseAfterConflict({ ids, clock }, conflicts),
  })

/** `plansOf` is called when a run needs plans, because the engine is made after the system. */
export const newPlanService = (plansOf: (tenant: TenantId) => Plans): PlanService => ({
  propose: (tenant, id, given, by) => plansOf(tenant).propose(given, { by, author: 'model' }, id),
  agree: async (tenant, id, { hash, by }) => {
    const plans = plansOf(tenant)
    return plans.order(await plans.approve(id, hash, { id: by, kind: 'user' }))
  },
  vouch: (tenant, order) => plansOf(tenant).vouch(order),
})

export const withPlanRuns = (system: System, planService: Pick<PlanService, 'vouch'>): System => {
  const code = planRun({ vouch: planService.vouch, define: defineContent })
  return { ...system, functions: new Map([...system.functions, [PLAN_RUN, ownFunction(PLAN_RUN, code)]]) }
}
