/**
 * Which of its declared events a handler sends when it ends, and with which data.
 *
 * Owns the choice. Pure: whether the code has sent events, how the handler ended and the values of the roots are arguments.
 *
 * emits-1  If a function has sent events itself, no declared event of its success is sent.
 * emits-2  An entry with a condition is sent if it holds. A single entry without one is sent; several without one only permit the code to send.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { EmitEnd, EmitSpec, Roots } from '#model/workflow/spec.ts'

/** How a handler can end. */
export type Ending = Exclude<EmitEnd, 'always'>

type Members = { readonly [key: string]: Json }
const isMembers = (value: Json | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An accepted partial result also counts as success. */
const isMeant = (on: EmitEnd, ending: Ending): boolean =>
  on === 'always' || on === ending || (on === 'success' && ending === 'partial')

const holds = ({ when, event }: EmitSpec, roots: Roots): boolean => {
  if (when === null) return true
  const answer = when.rule(roots)
  if (answer.kind === 'value' && typeof answer.value === 'boolean') return answer.value
  const found = answer.kind === 'error' ? answer.detail : `gives ${JSON.stringify(answer.value)}, not true or false`
  throw new TrihandError('EXPR_FAILED', `emits ${event} when ${when.text}: ${found}`)
}

/** Throws EXPR_FAILED for a condition that does not give true or false. */
export const chooseEmits = (
  specs: readonly EmitSpec[],
  { ending, hasSent, roots }: { readonly ending: Ending; readonly hasSent: boolean; readonly roots: Roots },
): readonly EmitSpec[] => {
  const isGood = ending === 'success' || ending === 'partial'
  // emits-1
  if (isGood && hasSent) return []
  const meant = specs.filter(({ on }) => isMeant(on, ending))
  const plain = meant.filter(({ when }) => when === null)
  // emits-2
  return meant.filter((spec) => (spec.when === null ? plain.length === 1 : holds(spec, roots)))
}

/** Its own template; else the members that the event declares, from the output, then from the trigger's payload; else the whole output. */
export const emitData = ({ data, fields }: Pick<EmitSpec, 'data' | 'fields'>, roots: Roots): Json => {
  if (data !== null) return data(roots)
  const { output = null, payload = null } = roots
  if (fields === null) return isMembers(output) ? output : { output }
  const sources = [output, payload].filter(isMembers)
  const memberOf = (name: string): Json | undefined => sources.find((source) => Object.hasOwn(source, name))?.[name]
  const found = fields.map((name) => [name, memberOf(name)] as const)
  return Object.fromEntries(found.filter((pair): pair is readonly [string, Json] => pair[1] !== undefined))
}
