/**
 * A result that is worth keeping but is not all that was asked for.
 *
 * Owns the marker. A handler that returns one ends as `partial`.
 */
const PARTIAL = Symbol.for('trihand.partial')

export const partial = (value: unknown): unknown => ({ [PARTIAL]: value })

export const isPartial = (result: unknown): result is { readonly [PARTIAL]: unknown } =>
  typeof result === 'object' && result !== null && PARTIAL in result

export const partialValue = (result: unknown): unknown => (isPartial(result) ? result[PARTIAL] : result)
