/** Cancels that a coordinator requests through a worker that may not reach the runs. */
import { expect, test } from 'vitest'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { runId } from '#model/kernel/ids.ts'
import { PendingCancels } from './pending-cancels.ts'

const RUN = runId('00000000-0000-7000-8000-000000000001')

/** Runs that answer cancels with these refusals in turn, and then accept them. */
const stopsWith = (
  ...codes: readonly ErrorCode[]
): { readonly pendingCancels: PendingCancels; readonly asked: string[] } => {
  const asked: string[] = []
  const cancel = async (_: string, run: string): Promise<void> => {
    const code = codes[asked.length]
    asked.push(run)
    if (code !== undefined) throw new TrihandError(code, 'refused')
  }
  return {
    pendingCancels: new PendingCancels({ worker: { cancel } } as unknown as EngineContext, 'no longer wanted'),
    asked,
  }
}

test('the cancel of a run that has ended counts as delivered, and repeated requests are sent once', async () => {
  const { pendingCancels, asked } = stopsWith('RUN_ENDED')
  pendingCancels.tell(RUN)
  pendingCancels.tell(RUN)
  await expect(pendingCancels.told()).resolves.toBeUndefined()
  expect(asked).toEqual([RUN])
})

test('pending-cancels-1: a cancel that failed because of the store counts as not delivered and can be requested again', async () => {
  const { pendingCancels, asked } = stopsWith('LEDGER_UNAVAILABLE')
  pendingCancels.tell(RUN)
  await expect(pendingCancels.told()).rejects.toThrow('could not be cancelled')
  pendingCancels.tell(RUN)
  await expect(pendingCancels.told()).resolves.toBeUndefined()
  expect(asked).toEqual([RUN, RUN])
})
