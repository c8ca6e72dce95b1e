/**
 * Children that a lost worker had begun and not recorded: it died between the append of their gate and that of their parent.
 *
 * Owns finding them, by the parent that their rows name. What they do when they are signalled is parent-end.ts.
 *
 * parent-end-2  The end of a run that lost its worker signals also the children that it has not recorded. A run whose handler is entered again
 *               makes the call again instead (gated-child-1).
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import type { ClaimableId, RunId } from '#model/kernel/ids.ts'
import { isEnded } from '#model/run/status.ts'

/** parent-end-2. */
export const unrecordedChildren = async (
  { children, tenant }: Pick<EngineContext, 'children' | 'tenant'>,
  run: RunId,
): Promise<readonly RunId[]> => (await children(tenant, run)).flatMap(({ id, status }) => (isEnded(status) ? [] : [id]))

/** Joins both lists without repeats: the parent may have recorded some of the lost ones. */
export const withLost = (told: readonly ClaimableId[], lost: readonly ClaimableId[]): readonly ClaimableId[] =>
  lost.length === 0 ? told : [...new Set([...told, ...lost])]

/** A run in memory that is about to end without having been entered. */
interface Ending {
  readonly context: Pick<EngineContext, 'children' | 'tenant'>
  readonly record: { readonly id: RunId }
  lost: readonly ClaimableId[]
  isUntold: boolean
  whileActive(work: () => Promise<void>): Promise<void>
}

/** parent-end-2: finds the children before the run ends. */
export const findLost = (run: Ending): Promise<void> =>
  run
    .whileActive(async () => {
      run.lost = await unrecordedChildren(run.context, run.record.id)
    })
    .catch(() => {
      run.isUntold = true
    })
