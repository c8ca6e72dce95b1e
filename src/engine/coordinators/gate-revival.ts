/**
 * Retried runs that their gate admits: builds the write that reopens each run, for the append of the gate's decision.
 *
 * gate-revival-1  The gate's decision and the fact of the run are one append: no run continues without its gate knowing.
 * gate-revival-2  A retry that waited and is then refused reopens the run and ends it at once, with the reason, so that those who wait
 *                 for the run are notified.
 */
import { advanceRun } from '#engine/core/advance.ts'
import { headOf } from '#engine/core/chain.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { retryCommand } from '#engine/rerun/retry-command.ts'
import { type ExternalWrite, externalWrite } from '#engine/run/external-command.ts'
import { mergeSideWrites, NO_SIDE_WRITES } from '#engine/run/run-request.ts'
import type { Call } from '#model/event/arrival.ts'
import type { GateFact } from '#model/flow/gate-fact.ts'
import type { Failure } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { Spawned } from './coordinator-logic.ts'
import { refusalOf } from './gate-refusal.ts'

/** Returns the writes to runs whose retry these facts of a gate admit or refuse. */
export const revivalsOf = async (
  context: EngineContext,
  facts: readonly GateFact[],
): Promise<readonly ExternalWrite[]> => {
  const found: ExternalWrite[] = []
  for (const fact of facts) {
    if ((fact.type !== 'gate.started' && fact.type !== 'trigger.suppressed') || fact.call?.retry === undefined) continue
    const { run } = fact.call
    if (found.some(({ notice }) => notice.run === run)) continue
    const how = fact.type === 'gate.started' ? { notBefore: fact.notBefore } : { ends: refusalOf(fact) }
    const write = await revival(context, fact.call, how)
    if (write !== null) found.push(write)
  }
  return found
}

export const withRevivals = (spawned: Spawned, revivals: readonly ExternalWrite[]): Spawned => {
  if (revivals.length === 0) return spawned
  const { events, runs } = mergeSideWrites(
    revivals.map((one) => ({ ...NO_SIDE_WRITES, events: one.events, runs: one.runs })),
  )
  return {
    ...spawned,
    runs: [...spawned.runs, ...runs],
    events,
    writes: [...(spawned.writes ?? []), ...revivals.map(({ write }) => write)],
    signals: [...(spawned.signals ?? []), ...revivals.flatMap(({ signals }) => signals)],
  }
}

/** gate-revival-1. Null if the run already continues, or has succeeded since. `ends`: the gate has refused the retry after it waited. */
const revival = async (
  context: EngineContext,
  { run, retry }: Call,
  { notBefore = null, ends }: { readonly notBefore?: Instant | null; readonly ends?: Failure },
): Promise<ExternalWrite | null> => {
  const [record] = await context.ledger.load([run])
  if (record == null || retry === undefined) return null
  const happened = record.facts.map(readRunFact)
  const before = fold(runMachine, happened)
  const now = Math.max(context.clock.now(), headOf(record).lastAt)
  const opened = advanceRun(before, retryCommand(retry, now, happened))
  if (opened.refusal !== null) return null
  if (ends !== undefined) {
    const ended = advanceRun(opened.state, { type: 'cancel_run', now, by: 'trihand', error: ends, idle: true })
    return externalWrite(context, record, { before, state: ended.state, facts: [...opened.facts, ...ended.facts], now })
  }
  const found = await externalWrite(context, record, { before, state: opened.state, facts: opened.facts, now })
  if (notBefore === null || notBefore <= now) return found
  return { ...found, write: { ...found.write, status: 'queued', wakeAt: notBefore } }
}
