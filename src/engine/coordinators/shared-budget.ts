/**
 * The budget that the throttles of several handlers share: a separate gate that is never claimed and that no event reaches.
 *
 * Owns its name, its reading and the write that records turns, which goes into the append of the gate that takes them.
 *
 * shared-budget-1  A turn is taken if and only if the run that takes it is started: both are one append. On a conflict the second writer
 *                  decides again.
 */
import { advanceGate, CommandSequence } from '#engine/core/advance.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { gate } from '#model/flow/gate.ts'
import type { GateCommand, GateState } from '#model/flow/gate-fact.ts'
import { resumeGateFrom } from '#model/flow/gate-read.ts'
import type { ThrottleState, Turn } from '#model/flow/policies/throttle.ts'
import { readGateFact } from '#model/kernel/fact-codec.ts'
import { type GateId, gateId, type TenantId } from '#model/kernel/ids.ts'
import type { Ids } from '#ports/ids.ts'
import type { StreamRecord, StreamWrite } from '#ports/ledger.ts'
import { birthOf, changeOf, lookAtCoordinator } from './state.ts'

/** After this many facts the next write includes a checkpoint of the whole state. */
const FACTS_PER_CHECKPOINT = 64

export interface Budget {
  readonly id: GateId
  readonly handler: string
  readonly state: GateState
  readonly record: StreamRecord | null
}

const idOf = (ids: Pick<Ids, 'digest'>, tenant: TenantId, name: string): GateId =>
  gateId(ids.digest(`limit\n${tenant}\n${name}`))

const READING = { restore: ({ facts }: StreamRecord) => resumeGateFrom(facts.map(readGateFact)) }

export const lookAtBudget = async (
  context: Pick<EngineContext, 'ledger'>,
  { id, handler }: Pick<Budget, 'id' | 'handler'>,
): Promise<Budget> => {
  const restored = await lookAtCoordinator<GateState>(context, id, READING)
  return { id, handler, state: restored?.state ?? gate.initial, record: restored?.record ?? null }
}

export const lookAtShared = (context: EngineContext, name: string): Promise<Budget> =>
  lookAtBudget(context, { id: idOf(context.ids, context.tenant, name), handler: `limits.shared.${name}` })

export const takenOf = ({ state }: Budget): ThrottleState => (state.kind === 'open' ? state.throttles : [])

export const budgetWrite = (context: EngineContext, budget: Budget, turns: readonly Turn[]): StreamWrite =>
  budgetWith(context, budget, { type: 'take_turns', now: context.clock.now(), turns })

/** The write is never due: only the gates that take from the budget read it. */
export const budgetWith = (
  context: EngineContext,
  budget: Budget,
  command: Extract<GateCommand, { readonly type: 'take_turns' | 'record_starts' }>,
): StreamWrite => {
  const { record } = budget
  const now = Math.max(command.now, record?.facts.at(-1)?.recordedAt ?? 0)
  const turn = new CommandSequence(budget.state, advanceGate)
  const { facts } = turn
  if (record === null) turn.ask({ type: 'open_gate', now, cursor: 0 })
  turn.ask({ ...command, now })
  if ((record?.facts.length ?? 0) + facts.length >= FACTS_PER_CHECKPOINT) turn.ask({ type: 'checkpoint_gate', now })
  const write = record === null ? birthOf(context, budget, facts) : changeOf(context, record, facts)
  return { ...write, wakeAt: null }
}
