/**
 * The wiring of chats: one function for each declared chat, and the service through which people use them.
 *
 * Owns nothing else. A system without a chat has no such function.
 */
import type { Engine } from '#engine/core/engine.ts'
import { chatFunctions } from '#executors/workflow/chat/chat.ts'
import { normalise, type SystemSource } from '#manifest/define/define.ts'
import type { System } from '#manifest/define/system.ts'
import { Chats } from '#modes/chats.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { PlanService } from '#ports/plan-service.ts'
import type { Reader } from '#ports/reader.ts'
import { withPlanRuns } from './plans.ts'

interface World {
  readonly ids: Pick<Ids, 'digest'>
  readonly clock: Pick<Clock, 'now'>
}

interface TurnWorld extends World {
  readonly planService: PlanService
}

/** A system in its normal form, with functions added for the turns of its chats and for runs of drafted plans. */
export const defineWithChats = (source: SystemSource, { ids, clock, planService }: TurnWorld): System => {
  const digest = (text: string): string => ids.digest(text)
  const plain = normalise(source, digest)
  if (plain.chats.size === 0) return withPlanRuns(plain, planService)
  const turns = chatFunctions([...plain.chats.values()], { now: () => clock.now(), planService })
  return withPlanRuns(normalise({ ...source, functions: [...(source.functions ?? []), ...turns] }, digest), planService)
}

export const openChats = (engine: Engine, reader: Pick<Reader, 'runs'>, { ids, clock }: World): Chats =>
  new Chats({
    tenant: engine.tenant,
    system: () => engine.definition,
    now: () => clock.now(),
    digest: (text) => ids.digest(text),
    start: (name, input, options) => engine.startRun(name, input, options),
    cancel: (run, by, reason) => engine.cancel(run, by, reason),
    retry: async (run, by, kind) => {
      await engine.retry(run, by, kind)
    },
    steps: (run) => engine.steps(run),
    listen: (run, listener) => engine.listen(run, listener),
    sessions: engine.sessions,
    reader,
  })
