/**
 * A run that has failed begins a new life: asked for by a person, by a job, or by the parent that calls it again.
 *
 * Owns the one way to a retry, whoever asks. What the new life goes on with is model/run-reopen.ts.
 */
import type { Kind } from '../model/identity.ts'
import type { RunId } from '../model/ids.ts'
import type { RunFact } from '../model/run-fact.ts'
import type { House } from './house.ts'
import { commandFromOutside } from './outside.ts'

export interface RetryWish {
  readonly by: string
  readonly kind: Kind
  /** The call of its parent that goes on with it (model/child-retry.ts). */
  readonly call?: string
}

export const retryRun = async (
  house: House,
  run: RunId,
  { by, kind, call }: RetryWish,
  /** What has happened says that this was asked for before: then nothing is done. */
  isDone: (happened: readonly RunFact[]) => boolean = () => false,
): Promise<void> => {
  await commandFromOutside(house, run, (now, happened) =>
    isDone(happened) ? null : { type: 'retry_run', now, by, kind, ...(call !== undefined && { call }) },
  )
}
