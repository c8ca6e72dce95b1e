/**
 * Opens a step that waits for events: from which event on it looks, which events exist already, and what it then waits for.
 *
 * Owns the opening. Which events count is decided by the model (wait.ts, consumed.ts); reading them is look.ts.
 *
 * open-wait-1  Waits of one run for the same type look one after another: the wait that was asked for first gets the first event.
 */
import { requireListener } from '#engine/core/lifecycle.ts'
import { requireKey } from '#engine/core/row-key.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import { startOf } from '#model/event/consumed.ts'
import { openWait as newWait, type WaitSpec } from '#model/event/wait.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant, TenantId } from '#model/kernel/ids.ts'
import { at, canonical, type Json } from '#model/kernel/json.ts'
import { MATCH_PATH } from '#model/kernel/row-key.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { WaitRequest } from '#ports/step-port.ts'
import { lookFor, pagesOf } from './look.ts'
import { receiveEvents, relying, takenIn } from './reconcile.ts'

/*
 * Determines after which event a wait begins to look: since the run began, from now on, or within a length of time.
 * Owns that choice. What a wait then receives is look.ts.
 */

/** The run that waits: its tenant, the last event before it, and the time now. */
interface Waiting {
  readonly tenant: TenantId
  readonly base: number
  readonly now: Instant
}

const lookbackBase = async (
  ledger: Pick<Ledger, 'events'>,
  { lookback }: Pick<WaitRequest, 'lookback'>,
  { types, match }: Pick<WaitSpec, 'types' | 'match'>,
  { tenant, base, now }: Waiting,
): Promise<number> => {
  switch (lookback.kind) {
    case 'run':
      return base
    case 'none': {
      const [last] = await ledger.events({ tenant, types, after: base, newest: true, limit: 1 })
      return last?.sequence ?? base
    }
    case 'within': {
      const since = now - lookback.ms
      let last = base
      for await (const page of pagesOf(ledger, tenant, { types, match, base: 0 })) {
        const first = page.find((event) => event.time >= since)
        if (first !== undefined) return first.sequence - 1
        last = page.at(-1)?.sequence ?? last
      }
      return last
    }
  }
}

export const openWait = async (activeRun: ActiveRun, step: string, request: WaitRequest): Promise<void> => {
  requireListener(activeRun.context, request.types)
  const now = activeRun.context.clock.now()
  const { mode, types, condition, timeoutMs, isShared, most } = request
  const wanted = {
    mode,
    types,
    match: matchOf(request.match, activeRun.inputs.input),
    ...(condition !== null && { condition }),
    timeoutAt: timeoutMs === null ? null : now + timeoutMs,
    ...(!isShared && { fresh: true as const }),
    ...(most !== null && { most }),
  }
  // open-wait-1
  await activeRun.seen.inTurn(types, () => lookAndOpen(activeRun, step, request, wanted))
}

const lookAndOpen = async (
  activeRun: ActiveRun,
  step: string,
  request: WaitRequest,
  wanted: Omit<WaitSpec, 'base' | 'from'>,
): Promise<void> => {
  const { context, record, inputs, seen } = activeRun
  const { tenant } = record
  const now = context.clock.now()
  const lookback = await lookbackBase(context.ledger, request, wanted, { tenant, base: record.base, now })
  const taken = takenIn(activeRun, step)
  const start =
    wanted.fresh === true
      ? startOf(taken.consumed, wanted, lookback)
      : { after: Math.max(lookback, taken.consumed.endedBy), received: 0, covers: false }
  const wait = newWait({ ...wanted, base: start.after })
  const look = await lookFor(context.ledger, tenant, { wait, trigger: inputs.input, taken }, start)
  const { base } = look
  const spec: WaitSpec = { ...wanted, base, ...(wanted.fresh === true && base > lookback && { from: lookback }) }
  for (const type of wanted.types) seen.count(step, type, look.read.get(type) ?? 0)
  const done = look.received.length === 0 ? relying(activeRun, look.passed) : null
  activeRun.ask({ command: { type: 'open_wait', now, step, wait: spec }, sideWrites: null, done })
  receiveEvents(activeRun, { step, spec }, look)
}

const matchOf = (path: string | null, input: Json): WaitSpec['match'] => {
  if (path === null) return null
  const inData = path.replace(/^(payload|data)\./, '')
  requireKey(MATCH_PATH, inData)
  const value = at(input, inData)
  if (value === undefined)
    throw new TrihandError('EXPR_FAILED', `match ${path}: the event that triggered the run does not have this field`)
  return { path: inData, value: canonical(value) }
}
