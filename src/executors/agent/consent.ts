/**
 * The last check before an approved call is made: what will be done is what the person has seen.
 *
 * Owns that comparison, right before the execution. Anything that changed in between (a bug, a changed ledger, a swapped answer) is stopped here.
 */
import type { Decided } from '#model/agent/state.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { hashOf } from '#model/task/subject.ts'
import type { Ids } from '#ports/ids.ts'

export const requireConsent = ({ consent, by }: Decided, input: Json, ids: Pick<Ids, 'digest'>): void => {
  const hash = hashOf(input, (text) => ids.digest(text))
  if (hash !== consent)
    throw new TrihandError('CONSENT_MISMATCH', `${by} approved ${consent}, but the action is ${hash}`)
}
