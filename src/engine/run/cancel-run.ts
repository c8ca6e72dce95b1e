/**
 * Cancels a run wherever it is: a run in memory here decides itself, any other gets the command through the ledger.
 *
 * Owns the order of the two. What a cancel does is model/run/run.ts.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { RunCommand } from '#model/run/fact.ts'
import { isEnded } from '#model/run/status.ts'
import type { StreamRecord } from '#ports/ledger.ts'
import type { ActiveRun } from './active-run.ts'
import { externalCommand } from './external-command.ts'
import type { Answer } from './run-request.ts'

/** `gone` if the run is not in memory here, or leaves before it has decided. */
const askActiveRun = (
  activeRun: ActiveRun | undefined,
  context: EngineContext,
  command: RunCommand,
): Promise<Answer> => {
  if (activeRun === undefined || activeRun.isGone || activeRun.record.tenant !== context.tenant)
    return Promise.resolve({ kind: 'gone' })
  return new Promise((done) => activeRun.ask({ command, sideWrites: null, done }))
}

/** gate-retry-5. False: no retry of the run waits. */
const withdrawRetry = async (
  context: EngineContext,
  { tenant, stream, handler, status }: StreamRecord,
  why: { readonly by: string; readonly detail: string },
): Promise<boolean> =>
  tenant === context.tenant &&
  isEnded(status) &&
  context.gates.gateFor(handler) !== null &&
  (await context.gates.withdraw(handler, stream as RunId, why))

export const cancelRun = async (
  context: EngineContext,
  held: ActiveRun | undefined,
  { run, by, reason }: { readonly run: RunId; readonly by: string; readonly reason: string },
): Promise<void> => {
  const command = (idle: boolean) => (now: Instant) =>
    ({ type: 'cancel_run', now, by, error: { code: 'RUN_CANCELLED', message: reason }, idle }) as const
  const answer = await askActiveRun(held, context, command(false)(context.clock.now()))
  if (answer.kind === 'refused') throw new TrihandError(answer.code, answer.detail)
  if (answer.kind === 'recorded') return
  const [record] = await context.ledger.load([run], { after: Number.MAX_SAFE_INTEGER })
  if (record != null && (await withdrawRetry(context, record, { by, detail: reason }))) return
  await externalCommand(context, run, command(record?.lease == null))
}
