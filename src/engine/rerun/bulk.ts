/**
 * One run of many hears a word: cancel, retry, pause, resume.
 *
 * Owns how the word reaches it. Which runs are meant, and what is counted, is the job's (executors/workflow/bulk.ts).
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { externalCommand } from '#engine/run/external-command.ts'
import type { Kind } from '#model/access/identity.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { type BulkAction, commandOf, hasHeard } from '#model/run/bulk.ts'
import { retryRun } from './retry-run.ts'

export interface BulkCommand {
  readonly action: BulkAction
  /** Names the job, too: the same word of the same job is heard once (bulk-2). */
  readonly by: string
  readonly reason: string | null
  /** Of who gave the word. Absent: a person. */
  readonly kind?: Kind
}

/** A second cancel changes nothing by itself, and only a cancel must reach who holds the run at once. */
export const applyBulkCommand = async (
  context: EngineContext,
  run: RunId,
  { action, ...word }: BulkCommand,
): Promise<void> => {
  const { by, reason } = word
  if (action === 'cancel') return context.worker.cancel(context.tenant, run, by, reason ?? 'cancelled in bulk')
  if (action === 'retry')
    return void (await retryRun(context, run, { by, kind: word.kind ?? 'user' }, (happened) =>
      hasHeard(happened, action, by),
    ))
  await externalCommand(context, run, (now, happened) =>
    hasHeard(happened, action, by) ? null : commandOf(action, now, word),
  )
}
