/**
 * Retry of a failed run whose handler has a gate: the gate decides if the run may continue, in the append that reopens it.
 *
 * Owns the gate's input about the run: its keys by the current rules, computed from the run's original input. The model decides on a retry
 * (model/flow/gate-retry.ts); gate-revival.ts builds the write that reopens the run.
 *
 * gate-retry-4  A retry that is refused at once writes nothing about the run: the caller gets the error.
 */
import { triggerOf } from '#engine/core/cause.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import { matchTrigger } from '#engine/core/route.ts'
import type { FlowRules } from '#manifest/flow/flow.ts'
import type { Call } from '#model/event/arrival.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { GateFact, GateState } from '#model/flow/gate-fact.ts'
import { waitsForRetry } from '#model/flow/gate-retry.ts'
import { valueAt } from '#model/kernel/due-map.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { refuse } from '#model/kernel/machine.ts'
import type { RunState } from '#model/run/fact.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { StreamRecord } from '#ports/ledger.ts'
import { arrivalOf, type CallCommand, callCommandOf } from './arrivals.ts'
import type { CoordinatorCommands } from './commands.ts'
import { gateRole, openedGate } from './gate-calls.ts'
import type { AskedRetry, GateConfig, RetryAnswer } from './gate-config.ts'
import type { GateCoordinator } from './gate-coordinator.ts'
import { refusalOf } from './gate-refusal.ts'

type Suppressed = Extract<GateFact, { readonly type: 'trigger.suppressed' }>

export const retryAtGate = async (
  context: EngineContext,
  commands: CoordinatorCommands,
  config: GateConfig,
  { record, state: ended, intent }: AskedRetry,
): Promise<RetryAnswer> => {
  const run = record.stream as RunId
  const { input } = ended.last.start
  const life = (ended.last.retried?.times ?? 0) + 1
  const call: Call = { run, input, session: record.session, by: null, retry: { ...intent, life } }
  const asked = await commandOf(context, config, { record, ended, call })
  let away: Suppressed | null = null
  const { idempotencyKey, call: told } = asked.arrival
  const after = await commands.ask(context, gateRole(context, config), {
    keys: [idempotencyKey, ...(told.retry?.keys ?? [])],
    advance: (before, now, logic) => {
      const standing = openedGate(before, now, config)
      if (isBegun(standing.state, run, life))
        return { ...standing, refusal: refuse('RUN_NOT_FAILED', `${run} is already running`) }
      const free = endedAt(logic, standing.state, { run, status: ended.status, now })
      const command = { type: 'call', now, ...logic.ruledFor(free.state), ...asked } as const
      const advance = logic.advance(free.state, command)
      away = advance.facts.find((fact) => isAway(fact, run)) ?? null
      const facts = [...standing.facts, ...free.facts]
      // gate-retry-4
      return away === null ? { ...advance, facts: [...facts, ...advance.facts] } : { ...free, facts }
    },
  })
  if (away !== null) throw turnedAway(away, config)
  return after.kind === 'open' && waitsForRetry(after, run) ? 'waiting' : 'begun'
}

const isAway = (fact: GateFact, run: RunId): fact is Suppressed =>
  fact.type === 'trigger.suppressed' && fact.call?.run === run

const turnedAway = (away: Suppressed, { definition }: GateConfig): TrihandError => {
  const { code, message } = refusalOf(away)
  return new TrihandError(code, `${definition.name}: ${message}`)
}

/** True if another caller has already retried the run, perhaps in the same append. */
const isBegun = (state: GateState, run: RunId, life: number): boolean =>
  state.kind === 'open' && (valueAt(state.runs, run)?.life ?? 0) >= life

/** Records the end of the run if the gate has not seen it yet: otherwise the retry would wait for the run itself. */
const endedAt = (
  logic: GateCoordinator,
  state: GateState,
  { run, status, now }: { readonly run: RunId; readonly status: RunStatus; readonly now: Instant },
): ReturnType<GateCoordinator['advance']> => {
  if (state.kind !== 'open' || valueAt(state.runs, run) === undefined) return { state, facts: [], refusal: null }
  return logic.advance(state, { type: 'end_runs', now, ...logic.ruledFor(state), ended: [{ run, status }] })
}

// -- the gate's input about the run -------------------------------------------------------------------------------------

const commandOf = async (
  context: EngineContext,
  config: GateConfig,
  { record, ended, call }: { readonly record: StreamRecord; readonly ended: RunState; readonly call: Call },
): Promise<CallCommand> => {
  const { input } = call
  const now = context.clock.now()
  if ('payload' in input) {
    const value = await fetchValue(context, input.payload)
    return callCommandOf(config.flow.rules, { call, value, now })
  }
  const trigger = triggerOf(record, ended)
  const sequences = input.kind === 'events' ? input.sequences : trigger === null ? [] : [trigger]
  const events = await context.ledger.events({
    tenant: context.tenant,
    sequences,
    limit: Math.max(1, sequences.length),
  })
  const [first, ...others] = events.map((event) => arrivalOfRun(context, config, event))
  if (first === undefined) return callCommandOf(NO_RULES, { call, value: null, now })
  const keys = others.flatMap((one) => ('idempotencyKey' in one ? (one.idempotencyKey ?? []) : []))
  const told = keys.length === 0 || call.retry === undefined ? call : { ...call, retry: { ...call.retry, keys } }
  const { arrival, problem } = callCommandOf(NO_RULES, { call: told, value: null, now })
  return 'reason' in first ? { arrival, problem: first.detail } : { arrival: { ...first, call: told }, problem }
}

/** The arrival of the event, by the trigger that would accept it now, or by the handler's own options if none does. */
const arrivalOfRun = (
  context: EngineContext,
  { listeners, flow }: GateConfig,
  event: StoredEvent,
): ReturnType<typeof arrivalOf> => {
  const listener = listeners.get(event.type)
  const verdict = listener === undefined ? null : matchTrigger(listener, event, context.system())
  return arrivalOf(event, flow, verdict?.kind === 'start' ? verdict.trigger : null)
}

const NO_RULES: FlowRules = {
  idempotencyKey: null,
  rateKey: null,
  windowKey: null,
  overlapKey: null,
  throttleKey: null,
  cost: null,
  priority: null,
  alone: null,
}
