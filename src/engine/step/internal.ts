/**
 * Functions that only their triggers start: a call of such a function by name is refused.
 *
 * Owns that refusal. The definition says if a function is internal (manifest/define/define.ts).
 *
 * internal-1  A run of an internal function is started by an event, a schedule, a queue or a watched source; no caller, no plan, no
 *             agent and no other function starts one.
 */
import type { FunctionDefinition } from '#manifest/define/system.ts'
import { TrihandError } from '#model/kernel/errors.ts'

export const requireOpen = ({ name, internal }: Pick<FunctionDefinition, 'name' | 'internal'>): void => {
  if (internal) throw new TrihandError('FUNCTION_INTERNAL', `only its triggers start ${name}`)
}
