/**
 * Calls by name of a handler that has a gate: the gate decides on them as on events, in the append of the call.
 *
 * Owns the answer to a caller, and what a schedule writes in addition to its own facts. The model decides on a call (model/flow/gate.ts).
 *
 * gate-calls-1  A call that is refused at once writes nothing: the caller gets the error. A refused call of a schedule, or one that waited,
 *               is a run that ends as it is created, so that the caller finds the reason.
 */
import { type Advance, advanceGate } from '#engine/core/advance.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { GateFact, GateState } from '#model/flow/gate-fact.ts'
import { holdsKey, isTaken, isUndecided, listenedTypes } from '#model/flow/gate-read.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { type CallCommand, callCommandOf } from './arrivals.ts'
import type { CoordinatorCommands, CoordinatorRole } from './commands.ts'
import type { Spawned } from './coordinator-logic.ts'
import { promiseRun } from './flow-outcomes.ts'
import type { AskedRun, GateConfig } from './gate-config.ts'
import { GateCoordinator } from './gate-coordinator.ts'
import { refusalOf } from './gate-refusal.ts'
import { changeOf, lookAtCoordinator } from './state.ts'

type Suppressed = Extract<GateFact, { readonly type: 'trigger.suppressed' }>

const advanceCalls = (
  logic: GateCoordinator,
  calls: readonly CallCommand[],
  now: Instant,
  before: GateState,
): Advance<GateState, GateFact> => {
  const facts: GateFact[] = []
  let state = before
  for (const { arrival, problem } of calls) {
    const command = { arrival: { ...arrival, time: now }, problem }
    const advance = logic.advance(state, { type: 'call', now, ...logic.ruledFor(state), ...command })
    if (advance.refusal !== null) return advance
    state = advance.state
    for (const fact of advance.facts) facts.push(fact)
  }
  return { state, facts, refusal: null }
}

export type GateRole = CoordinatorRole<GateState, GateFact, GateCoordinator>

export const gateRole = (context: EngineContext, config: GateConfig): GateRole => ({
  id: config.id,
  handler: config.definition.name,
  config,
  logic: () => new GateCoordinator(context, config),
  initial: { kind: 'none' },
  prepare: async (logic, state, commands) => {
    await logic.prepare()
    return logic.recall(
      state,
      commands.flatMap(({ keys = [] }) => keys),
    )
  },
  types: listenedTypes,
})

/** Opens the gate and sets the types it listens to. `position`: the end of the ledger's events, for a gate whose types change. */
export const openAndListen = (
  before: GateState,
  now: Instant,
  types: readonly string[],
  position: number,
): Advance<GateState, GateFact> => {
  const opened = advanceGate(before, { type: 'open_gate', now, cursor: 0 })
  const heard = advanceGate(opened.state, { type: 'listen', now, types, position })
  return { ...heard, facts: [...opened.facts, ...heard.facts] }
}

/** Opens the gate if necessary: a call may come before the gates were declared. */
export const openedGate = (before: GateState, now: Instant, { listeners }: GateConfig): Advance<GateState, GateFact> =>
  before.kind === 'open'
    ? { state: before, facts: [], refusal: null }
    : openAndListen(before, now, [...listeners.keys()], 0)

/** Returns the run of the call: its own, or the run that has its idempotency key. */
const askGateForRun = async (
  context: EngineContext,
  commands: CoordinatorCommands,
  config: GateConfig,
  asked: AskedRun,
): Promise<RunId> => {
  let away: Suppressed | null = null
  // Its rules are evaluated once, however often the decision is made again.
  const call = callCommandOf(config.flow.rules, { ...asked, now: context.clock.now() })
  await commands.ask(context, gateRole(context, config), {
    bytes: bytesIn(asked, call),
    keys: [keyOfCall(config, call)],
    advance: (before, now, logic) => {
      const standing = openedGate(before, now, config)
      // gated-child-1
      if (asked.call.parent !== undefined && isTaken(standing.state, asked.call.run)) return standing
      const advance = advanceCalls(logic, [call], now, standing.state)
      away = advance.facts.find((fact) => isAway(fact, asked.call.run)) ?? null
      // gate-calls-1
      return away === null ? { ...advance, facts: [...standing.facts, ...advance.facts] } : standing
    },
  })
  return away === null ? asked.call.run : existing(away, config)
}

/** The idempotency key of the call; null if it has none. */
const keyOfCall = ({ flow }: GateConfig, { arrival }: CallCommand): string | null =>
  flow.policies.idempotency === null ? null : arrival.idempotencyKey

/** The size that the call adds to an append; large values are already in a blob. */
const bytesIn = ({ call: { input } }: AskedRun, { arrival }: CallCommand): number =>
  'payload' in input && 'value' in input.payload ? arrival.bytes : 0

/** Returns the run of the call. If it is another caller's run that still waits for its turn, its id is promised again (flow-outcome-1). */
export const callGate = async (
  context: EngineContext,
  commands: CoordinatorCommands,
  config: GateConfig,
  asked: AskedRun,
): Promise<RunId> => {
  for (;;) {
    const run = await askGateForRun(context, commands, config, asked)
    if (run === asked.call.run || (await exists(context, run))) return run
    await promiseRun(context, run, { handler: config.definition.name, since: context.clock.now() })
    // The run may have lost its place in the meantime: then the key is free, and the call is made again.
    const gate = await lookAtCoordinator(context, config.id, new GateCoordinator(context, config))
    if ((gate !== null && holdsKey(gate.state, run)) || (await exists(context, run))) return run
  }
}

const exists = async ({ ledger }: Pick<EngineContext, 'ledger'>, run: RunId): Promise<boolean> => {
  const [record] = await ledger.load([run], { after: Number.MAX_SAFE_INTEGER })
  return record != null
}

/** True if this handler may still start a run for the event. */
export const isUndecidedAt = async (
  context: EngineContext,
  config: GateConfig,
  event: StoredEvent,
): Promise<boolean> => {
  const gate = await lookAtCoordinator(context, config.id, new GateCoordinator(context, config))
  return gate !== null && isUndecided(gate.state, event)
}

const isAway = (fact: GateFact, run: RunId): fact is Suppressed =>
  fact.type === 'trigger.suppressed' && fact.call?.run === run

const existing = (away: Suppressed, { definition, flow }: GateConfig): RunId => {
  const returns = flow.policies.idempotency?.onConflict === 'return_existing'
  if (away.reason === 'duplicate' && returns && away.into !== null) return away.into
  const { code, message } = refusalOf(away)
  throw new TrihandError(code, `${definition.name}: ${message}`)
}

/** Returns the write to the gate and the runs that it starts, for an append of the caller. After a conflict on the gate, call it again. */
export const passGate = async (
  context: EngineContext,
  config: GateConfig,
  asked: readonly AskedRun[],
): Promise<Spawned> => {
  const logic = new GateCoordinator(context, config)
  await logic.prepare()
  const restored = await lookAtCoordinator(context, config.id, logic)
  if (restored === null)
    throw new TrihandError('NOT_FOUND', `${config.definition.name} has a gate that was never opened`)
  const lastAt = restored.record.facts.at(-1)?.recordedAt ?? 0
  const now = Math.max(context.clock.now(), lastAt)
  const calls = asked.map((one) => callCommandOf(config.flow.rules, { ...one, now }))
  const state = await logic.recall(
    restored.state,
    calls.map((call) => keyOfCall(config, call)),
  )
  const { facts, refusal } = advanceCalls(logic, calls, now, state)
  if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
  const spawned = await logic.spawned(facts)
  const writes = [changeOf(context, restored.record, facts), ...(spawned.writes ?? [])]
  return { ...spawned, writes, signals: [config.id] }
}
