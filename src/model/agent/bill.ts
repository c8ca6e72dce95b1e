/**
 * What a model call was billed for, kept in the fact itself when the answer is too long to be stored there.
 *
 * Owns which members those are. They keep the places that they have in the whole answer, so that one reader reads both.
 */
import { isJsonRecord, type Json } from '#model/kernel/json.ts'

const pick = (from: Json | undefined, names: readonly string[]): Json =>
  isJsonRecord(from)
    ? Object.fromEntries(names.flatMap((name) => (name in from ? [[name, from[name] as Json]] : [])))
    : null

const OF_REPLY = ['modelUsed', 'usage', 'usageSource', 'cost', 'isSimulated', 'findings', 'ms']
const OF_TASK = ['modelUsed', 'usage']

/** Null: the result of this step does not come from a model. */
export const billOf = (value: Json): Json => {
  if (!isJsonRecord(value)) return null
  const { reply, modelUsed, usage } = value
  if (isJsonRecord(reply) && isJsonRecord(reply['usage'])) return { reply: pick(reply, OF_REPLY) }
  return typeof modelUsed === 'string' && isJsonRecord(usage) ? pick(value, OF_TASK) : null
}
