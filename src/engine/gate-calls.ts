/**
 * Runs that are asked for by name where the handler has a gate: the gate decides on them as on events, in the append that asks.
 *
 * Owns the answer to a caller, and what a schedule writes beside its own facts. What becomes of a call is the model's (model/gate.ts).
 *
 * gate-calls-1  A call that is turned away at once writes nothing: the caller is told. One of a schedule, or one that waited, is a run
 *               that ends as it is born, so that whoever asked finds the reason.
 */
import { TrihandError } from '../model/errors.ts'
import type { StoredEvent } from '../model/event.ts'
import type { GateFact, GateState } from '../model/gate-fact.ts'
import { holdsKey, isUndecided } from '../model/gate-read.ts'
import type { Instant, RunId } from '../model/ids.ts'
import type { Advance } from './advance.ts'
import { callCommandOf } from './arrivals.ts'
import { changeOf, commandClerk, lookAtClerk } from './clerk-state.ts'
import type { Births } from './duty.ts'
import { promiseRun } from './flow-outcomes.ts'
import { GateDuty } from './gate-duty.ts'
import type { AskedRun, GateKeeping } from './gate-keeping.ts'
import { refusalOf } from './gate-refusal.ts'
import type { House } from './house.ts'

type Suppressed = Extract<GateFact, { readonly type: 'trigger.suppressed' }>

const advanceCalls = (
  duty: GateDuty,
  { keeping, asked, now }: { keeping: GateKeeping; asked: readonly AskedRun[]; now: Instant },
  before: GateState,
): Advance<GateState, GateFact> => {
  const facts: GateFact[] = []
  let state = before
  for (const { call, value } of asked) {
    const command = callCommandOf(keeping.flow.rules, { call, value, now })
    const advance = duty.advance(state, { type: 'call', now, ...duty.ruledFor(state), ...command })
    if (advance.refusal !== null) return advance
    state = advance.state
    for (const fact of advance.facts) facts.push(fact)
  }
  return { state, facts, refusal: null }
}

/** The run that the call comes to: its own, or the one that has its key. */
const askGateForRun = async (house: House, keeping: GateKeeping, asked: AskedRun): Promise<RunId> => {
  const duty = new GateDuty(house, keeping)
  let away: Suppressed | null = null
  await commandClerk(house, {
    id: keeping.id,
    handler: keeping.definition.name,
    duty,
    initial: { kind: 'none' } as GateState,
    prepare: () => duty.prepare(),
    advance: (state, now) => {
      const advance = advanceCalls(duty, { keeping, asked: [asked], now }, state)
      away = advance.facts.find((fact) => isAway(fact, asked.call.run)) ?? null
      // gate-calls-1
      return away === null ? advance : { state, facts: [], refusal: null }
    },
  })
  return away === null ? asked.call.run : existing(away, keeping)
}

/** The run that the call comes to. The run of another caller may still wait for its turn: its id is promised once more (flow-outcome-1). */
export const callGate = async (house: House, keeping: GateKeeping, asked: AskedRun): Promise<RunId> => {
  for (;;) {
    const run = await askGateForRun(house, keeping, asked)
    if (run === asked.call.run || (await exists(house, run))) return run
    await promiseRun(house, run, { handler: keeping.definition.name, since: house.clock.now() })
    // It may have lost its place meanwhile: then the key is free, and the call is asked again.
    const gate = await lookAtClerk(house, keeping.id, new GateDuty(house, keeping))
    if ((gate !== null && holdsKey(gate.state, run)) || (await exists(house, run))) return run
  }
}

const exists = async ({ ledger }: Pick<House, 'ledger'>, run: RunId): Promise<boolean> => {
  const [record] = await ledger.load([run], { after: Number.MAX_SAFE_INTEGER })
  return record != null
}

/** Whether this handler may still start a run for the event. */
export const isUndecidedAt = async (house: House, keeping: GateKeeping, event: StoredEvent): Promise<boolean> => {
  const gate = await lookAtClerk(house, keeping.id, new GateDuty(house, keeping))
  return gate !== null && isUndecided(gate.state, event)
}

const isAway = (fact: GateFact, run: RunId): fact is Suppressed =>
  fact.type === 'trigger.suppressed' && fact.call?.run === run

const existing = (away: Suppressed, { definition, flow }: GateKeeping): RunId => {
  const returns = flow.policies.idempotency?.onConflict === 'return_existing'
  if (away.reason === 'duplicate' && returns && away.into !== null) return away.into
  const { code, message } = refusalOf(away)
  throw new TrihandError(code, `${definition.name}: ${message}`)
}

/** What an append writes to the gate, and the runs that this comes to. A conflict on the gate means: ask again. */
export const passGate = async (house: House, keeping: GateKeeping, asked: readonly AskedRun[]): Promise<Births> => {
  const duty = new GateDuty(house, keeping)
  await duty.prepare()
  const restored = await lookAtClerk(house, keeping.id, duty)
  if (restored === null)
    throw new TrihandError('NOT_FOUND', `${keeping.definition.name} has a gate that was never opened`)
  const lastAt = restored.record.facts.at(-1)?.recordedAt ?? 0
  const now = Math.max(house.clock.now(), lastAt)
  const { facts, refusal } = advanceCalls(duty, { keeping, asked, now }, restored.state)
  if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
  const births = await duty.births(facts)
  const writes = [changeOf(house, restored.record, facts), ...(births.writes ?? [])]
  return { ...births, writes, signals: [keeping.id] }
}
