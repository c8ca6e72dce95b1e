/** The triggers of a handler in the author's form, and the other keys that all handlers share. */
import { triggerShape } from '#manifest/yaml/check/handler-sections.ts'
import { list } from '#manifest/yaml/check/shape.ts'
import { authorForm } from '#manifest/yaml/normalise/author-form.ts'
import type { Json } from '#model/kernel/json.ts'
import { type HandlerEntry, type Manifest, startingTypes, type TriggerEntry } from './manifest.ts'
import { isRecord } from './record.ts'

/** The keys for triggers and flow control: the same for all handlers. */
export const STARTING: readonly string[] =
  'idempotency while_paused rate_limit debounce batch overlap overlap_key throttle concurrency priority fairness deadline allow_reentry cancel_on circuit placement pool pin pin_for module internal'.split(
    ' ',
  )

const MANAGED = 'managed'

const isWatched = ({ kind }: TriggerEntry): boolean => !['event', 'manual', 'webhook'].includes(kind)

/** A table trigger uses the database that the manifest names, unless it names its own. */
const withDatabase = (trigger: TriggerEntry, manifest: Manifest): TriggerEntry => {
  const database = manifest['database']
  const source = isRecord(database) ? database['source'] : undefined
  const isNamed = trigger.kind !== 'table' || (trigger as { readonly database?: unknown }).database !== undefined
  return isNamed || typeof source !== 'string' || source === MANAGED ? trigger : { ...trigger, database: source }
}

/** A disabled handler keeps its definition and is started only by hand. */
export const eventTriggers = (handler: HandlerEntry, manifest: Manifest): readonly Json[] => {
  if (handler['enabled'] === false) return []
  const direct = handler.triggers.filter(({ event }) => event !== undefined)
  const named = new Set(direct.map(({ event }) => event))
  const through = startingTypes(handler, manifest).filter((event) => !named.has(event))
  const watched = handler.triggers.filter(isWatched).map((trigger) => withDatabase(trigger, manifest))
  const triggers = [...direct, ...through.map((event) => ({ event })), ...watched]
  const without = triggers.map(({ kind: _, ...trigger }: Record<string, unknown>) => trigger as Json)
  return authorForm(list(triggerShape), without) as readonly Json[]
}
