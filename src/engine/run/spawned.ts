/**
 * Runs that are created with an append: written with it, begun once it is in the ledger, their reservations released if it is not.
 *
 * Owns what a process must do for runs that it has reserved a slot for. Never decides that a run is created (route.ts, coordinators).
 *
 * births-1  A run that is created with a lease of this worker begins here, however late its append turns out to be written.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { commitOnce } from '#engine/core/single-append.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Append, Outcome } from '#ports/ledger.ts'
import { isLeased, type NewRun } from './new-run.ts'

export type Written = Exclude<Outcome, { readonly kind: 'conflict' }>

/** Writes one append with these runs among its writes. If the outcome is unknown, this throws; runs that turn out to exist are begun anyway. */
export const commitSpawned = async (
  context: EngineContext,
  append: Omit<Append, 'appendId'>,
  runs: readonly NewRun[],
): Promise<Outcome> => {
  const late = (outcome: Outcome): void =>
    outcome.kind === 'conflict' ? unreserve(context, runs) : beginAll(context, runs, outcome)
  try {
    const outcome = await commitOnce(context.commit, { appendId: context.appendId(), ...append }, late)
    late(outcome)
    return outcome
  } catch (error) {
    if (error instanceof TrihandError && error.outcome === 'not_done') unreserve(context, runs)
    throw error
  }
}

/** The append that carries this run is in the ledger. */
export const beginRun = (
  context: Pick<EngineContext, 'worker'>,
  run: NewRun,
  outcome: Written,
  isLeft = false,
): void => {
  if (!isLeased(run)) return context.worker.signal([run.id])
  const sequence = sequenceOf(run, outcome)
  context.worker.adopt(run, sequence ?? outcome.position, sequence, isLeft)
}

const beginAll = (context: EngineContext, runs: readonly NewRun[], outcome: Written): void => {
  for (const run of runs) beginRun(context, run, outcome)
  if (outcome.signalled.length > 0) context.worker.signal(outcome.signalled)
}

const sequenceOf = ({ write }: NewRun, { sequences }: Written): number | null => {
  const { event = null, sequence = null } = write.create ?? {}
  return event === null ? sequence : (sequences[event] ?? null)
}

const unreserve = (context: EngineContext, runs: readonly NewRun[]): void => {
  for (const _ of runs.filter(isLeased)) context.worker.unreserve()
}
