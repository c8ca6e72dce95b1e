/**
 * Checks `cancelOn` of a handler: which events end its runs.
 *
 * Owns every refusal at definition time.
 */
import { oneOf, ruleAt, withPath } from '#manifest/expressions/ranges.ts'
import { durationMs } from '#manifest/time/duration.ts'
import type { CancelMode, CancelRule, CancelSource } from '#model/event/cancel-on.ts'
import { isEventType } from '#model/event/event.ts'
import { keyProblem, MATCH_PATH } from '#model/kernel/row-key.ts'
import { invalid } from './invalid.ts'

const MAX_RULES = 10
const MODES: readonly CancelMode[] = ['between_steps', 'abort']

const defineRule = (source: CancelSource, path: string): CancelRule => {
  const { event, match = null, timeout, mode = 'between_steps' } = source
  if (!isEventType(event)) throw invalid(`${path}.event`, `"${event}" is not an event type`)
  if (match !== null && source.if !== undefined) throw invalid(path, 'needs match or if, not both')
  const unmatched = match === null ? null : keyProblem(MATCH_PATH, match)
  if (unmatched !== null) throw invalid(`${path}.match`, unmatched)
  if (source.if !== undefined) ruleAt(`${path}.if`, source.if)
  return {
    event,
    match,
    condition: source.if ?? null,
    timeoutMs: timeout === undefined ? null : withPath(`${path}.timeout`, () => durationMs(timeout)),
    mode: oneOf(`${path}.mode`, mode, MODES),
  }
}

export const defineCancelOn = (sources: readonly CancelSource[] | undefined, path: string): readonly CancelRule[] => {
  if (sources === undefined) return []
  if (!Array.isArray(sources) || sources.length > MAX_RULES)
    throw invalid(path, `expected a list of at most ${MAX_RULES} events`)
  return sources.map((source, i) => defineRule(source, `${path}[${i}]`))
}
