/**
 * Reads the outcome of each event of a batch from the output of its run: `items: [{ id, status }]`, by the ids of the events.
 *
 * Owns the reading of that list. An event that is not in it has failed; an output without a list applies to all events together.
 */
import type { Json } from '#model/kernel/json.ts'

/** `each`: every event must be named. `shared`: a list is ignored. Null: a list counts if there is one. */
export type BatchOutputs = 'each' | 'shared' | null

export interface BatchOutcome {
  /** `failed`: all of them have failed. */
  readonly status: 'success' | 'partial' | 'failed'
  /** The ids of the events that have failed, in the order of the events. */
  readonly failed: readonly string[]
}

const ALL_WELL: BatchOutcome = { status: 'success', failed: [] }
const WELL: ReadonlySet<unknown> = new Set(['success', 'skipped'])

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const itemsIn = (output: Json): readonly unknown[] | null => {
  const items = isRecord(output) ? output['items'] : null
  return Array.isArray(items) ? items : null
}

export const batchOutcome = (ids: readonly string[], output: Json, outputs: BatchOutputs): BatchOutcome => {
  const items = outputs === 'shared' ? null : itemsIn(output)
  if (items === null && outputs !== 'each') return ALL_WELL
  // If an event is named twice, the worse status counts.
  const verdicts = new Map<unknown, boolean>()
  for (const item of items ?? [])
    if (isRecord(item)) verdicts.set(item['id'], WELL.has(item['status']) && verdicts.get(item['id']) !== false)
  const failed = ids.filter((id) => verdicts.get(id) !== true)
  if (failed.length === 0) return ALL_WELL
  return { status: failed.length === ids.length ? 'failed' : 'partial', failed }
}
