/**
 * Brings a circuit breaker from what an author writes to the normal form.
 *
 * Owns defaults and every refusal at definition time. When it opens is model/worker/circuit.ts.
 */
import { ruleAt } from '#manifest/expressions/ranges.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isPlainText } from '#model/kernel/ids.ts'
import type { Rule } from '#model/kernel/rule.ts'
import type { CircuitPolicy } from '#model/worker/circuit.ts'
import type { CircuitSource } from '#model/worker/source.ts'

const WHEN_OPEN = ['wait', 'fail', 'fallback'] as const
type WhenOpen = (typeof WHEN_OPEN)[number]

export interface Circuit {
  readonly key: string
  /** Computes the key from what the run works on; null: the key is the one above. */
  readonly keyRule: Rule | null
  readonly policy: CircuitPolicy
  readonly codes: readonly string[] | null
  readonly whenOpen: WhenOpen
}

const MAX_KEY = 128
const MAX_WINDOW = 1_000
const MAX_OPEN_MS = 600_000

const invalid = (path: string, problem: string): TrihandError =>
  new TrihandError('MANIFEST_INVALID', `${path}: ${problem}`, { place: { path } })

export const defineCircuit = (path: string, name: string, source: CircuitSource | undefined): Circuit | null => {
  if (source === undefined) return null
  const { key: target = name, window = 20, minCalls = 10, failureRate = 0.5, openFor = '30s' } = source
  const { codes = null, whenOpen = 'wait' } = source
  const key = typeof target === 'string' ? target : name
  const keyRule = typeof target === 'string' ? null : ruleAt(`${path}.circuit.key`, target.expr)
  if (!isPlainText(key, MAX_KEY)) throw invalid(`${path}.circuit.key`, `a text of 1 to ${MAX_KEY} characters`)
  if (!Number.isInteger(window) || window < 1 || window > MAX_WINDOW)
    throw invalid(`${path}.circuit.window`, `a whole number from 1 to ${MAX_WINDOW}`)
  if (!Number.isInteger(minCalls) || minCalls < 1 || minCalls > window)
    throw invalid(`${path}.circuit.minCalls`, 'a whole number from 1 to the window')
  if (!(failureRate > 0 && failureRate <= 1)) throw invalid(`${path}.circuit.failureRate`, 'above 0, at most 1')
  if (!WHEN_OPEN.includes(whenOpen)) throw invalid(`${path}.circuit.whenOpen`, 'wait, fail or fallback')
  const openForMs = durationMs(openFor)
  if (openForMs < 1) throw invalid(`${path}.circuit.openFor`, 'a duration above 0')
  const maxOpenForMs = Math.max(openForMs, MAX_OPEN_MS)
  return { key, keyRule, policy: { window, minCalls, failureRate, openForMs, maxOpenForMs }, codes, whenOpen }
}
