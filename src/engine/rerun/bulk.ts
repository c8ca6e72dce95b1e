/**
 * Applies a bulk command to one of its runs: cancel, retry, pause, resume.
 *
 * Owns how the command reaches the run. The job decides which runs are meant and counts them (executors/workflow/bulk.ts).
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { externalCommand } from '#engine/run/external-command.ts'
import type { Kind } from '#model/access/identity.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { type BulkAction, commandOf, hasReceived } from '#model/run/bulk.ts'
import { retryRun } from './retry-run.ts'

export interface BulkCommand {
  readonly action: BulkAction
  /** Also names the job: the same command of the same job is applied once (bulk-2). */
  readonly by: string
  readonly reason: string | null
  /** The kind of identity that gave the command. Absent: a person. */
  readonly kind?: Kind
}

/** A cancel is not checked for repetition, because a second one changes nothing; only a cancel must reach the run's holder at once. */
export const applyBulkCommand = async (
  context: EngineContext,
  run: RunId,
  { action, ...word }: BulkCommand,
): Promise<void> => {
  const { by, reason } = word
  if (action === 'cancel') return context.worker.cancel(context.tenant, run, by, reason ?? 'cancelled in bulk')
  if (action === 'retry')
    return void (await retryRun(context, run, { by, kind: word.kind ?? 'user' }, (happened) =>
      hasReceived(happened, action, by),
    ))
  await externalCommand(context, run, (now, happened) =>
    hasReceived(happened, action, by) ? null : commandOf(action, now, word),
  )
}
