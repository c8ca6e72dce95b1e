/**
 * The attempt of a request with an idempotency key, for the handler that does the work: ids of what it creates are derived from the key.
 *
 * Depends on engine/services/idempotency-keys.ts for the attempt. Without a key the handler gets no id from here.
 *
 * work-1  A command that an earlier attempt has recorded is not given again: the run's own facts show it.
 */
import type { Context } from 'hono'
import type { Asked } from '#engine/core/incoming.ts'
import type { Work } from '#engine/services/idempotency-keys.ts'
import { callerName } from '#http/access/identity.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { timedRunId, timedUuid } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { RunSummary } from '#ports/reader.ts'
import type { Service } from './service.ts'

const KEY = 'work'
/** A command that was given during the attempt is among the last facts of its run. */
const FACTS_READ = 500

export const keepWork = (context: Context, work: Work): void => context.set(KEY, work)

/** Null: the request has no key. */
export const workOf = (context: Context): Work | null => (context.get(KEY) as Work | undefined) ?? null

/** The id of the run that is started under this key, the same in every attempt. */
export const askedRun = (context: Context): { readonly asked?: Asked } => {
  const work = workOf(context)
  return work === null ? {} : { asked: { run: timedRunId(work.since, work.id), isRepeated: work.isRepeated } }
}

/** The uuid of what a request under this key creates; undefined: the caller generates one. */
export const uuidOfWork = (context: Context): string | undefined => {
  const work = workOf(context)
  return work === null ? undefined : timedUuid(work.since, work.id)
}

/** True if an earlier attempt may have done the work. */
export const isSecondAttempt = (context: Context): boolean => workOf(context)?.isRepeated === true

export type AttributedFact = Extract<RunFact, { readonly by: string }>['type']

/** work-1 */
export const wasRecorded = async (
  { reader, tenant }: Service,
  context: Context,
  { id, version }: RunSummary,
  told: AttributedFact,
  by: string = callerName(context),
): Promise<boolean> => {
  const work = workOf(context)
  if (work === null || !work.isRepeated) return false
  const after = Math.max(0, version - FACTS_READ)
  const facts = (await reader.facts(tenant, id, { after, limit: FACTS_READ })).map(readRunFact)
  return facts.some((fact) => fact.type === told && 'by' in fact && fact.by === by && fact.at >= work.since)
}
