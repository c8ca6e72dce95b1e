/**
 * The wiring of the integrations that are attached to the engine from outside.
 *
 * Owns which implementation is used for each. Contains no rules.
 */
import type { Engine } from '#engine/core/engine.ts'
import { type Environment, resolveReferences } from '#manifest/expressions/reference.ts'
import type { Chats } from '#modes/chats.ts'
import type { Jobs } from '#modes/jobs.ts'
import type { Plans } from '#planner/plans.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import { ownFolder, reportToStderr, SourceHost } from '#triggers/host.ts'
import { Webhooks } from '#triggers/webhooks.ts'
import { openJobs } from './bulk.ts'
import { openChats } from './chats.ts'
import { openOutbox } from './outboxes.ts'
import { openPlans } from './plans.ts'
import type { Store } from './stores.ts'

/** What is attached to the engine from outside: sources that watch, webhooks that are delivered, chats, plans, jobs. */
export interface Integrations {
  readonly host: SourceHost
  readonly webhooks: Webhooks
  readonly chats: Chats
  readonly plans: Plans
  readonly jobs: Jobs
}

export const openIntegrations = (
  engine: Engine,
  { reader }: Pick<Store, 'reader'>,
  { ids, clock }: { readonly ids: Ids; readonly clock: Clock },
  environment: Environment,
): Integrations => {
  const deps = {
    send: engine.send.bind(engine),
    note: engine.note.bind(engine),
    recall: engine.sessions.recall.bind(engine.sessions),
    waitingIn: async (queue: string) =>
      engine.definition.queues.has(queue) ? (await engine.queues.show(queue)).length : null,
    reader,
    clock,
    ids,
    tenant: engine.tenant,
    report: reportToStderr((text) => engine.redact(text)),
    folder: ownFolder(),
    openOutbox: (database: string) => openOutbox(resolveReferences(database, environment)),
  }
  return {
    host: new SourceHost(deps),
    webhooks: new Webhooks({ ...deps, environment, system: () => engine.definition }),
    chats: openChats(engine, reader, { ids, clock }),
    plans: openPlans(engine, reader, { ids, clock }),
    jobs: openJobs(engine, reader),
  }
}
