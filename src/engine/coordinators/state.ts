/**
 * Restores a coordinator's state from the ledger, and builds writes to it that do not need its lease.
 *
 * Owns reading from the last checkpoint on. Commands from outside are in commands.ts.
 */
import { type ChainHead, EMPTY_CHAIN, headOf, sealFacts } from '#engine/core/chain.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { ClaimableId, CoordinatorId } from '#model/kernel/ids.ts'
import type { Ledger, StreamRecord, StreamWrite, WaitRow } from '#ports/ledger.ts'
import type { CoordinatorFact, CoordinatorLogic } from './coordinator-logic.ts'

/** How many facts are read first; more are read only if there is no checkpoint among them. */
export const FIRST_TAIL = 128

export interface Restored<State> {
  readonly state: State
  readonly record: StreamRecord
}

/** Returns null if the coordinator does not exist. `version`: how many facts it is known to have. */
export const restoreCoordinator = async <State>(
  ledger: Pick<Ledger, 'load'>,
  id: ClaimableId,
  version: number,
  logic: Pick<CoordinatorLogic<State, CoordinatorFact>, 'restore'>,
): Promise<Restored<State> | null> => {
  for (let tail = FIRST_TAIL; ; tail *= 8) {
    const after = Math.max(0, version - tail)
    const [record] = await ledger.load([id], { after })
    if (record == null) return null
    const state = logic.restore(record, after === 0)
    if (state !== null) return { state, record }
    if (after === 0) throw new TrihandError('LEDGER_CORRUPT', `${id} has no beginning`)
  }
}

/** Returns the coordinator's state in the ledger; null if it does not exist. */
export const lookAtCoordinator = async <State>(
  { ledger }: Pick<EngineContext, 'ledger'>,
  id: CoordinatorId,
  logic: Pick<CoordinatorLogic<State, CoordinatorFact>, 'restore'>,
): Promise<Restored<State> | null> => {
  const [row] = await ledger.load([id], { after: Number.MAX_SAFE_INTEGER })
  return row == null ? null : restoreCoordinator(ledger, id, row.version, logic)
}

const PLAIN = { status: 'waiting', release: false, seenSignal: 0, opensWaits: [], closesWaits: [] } as const

/** Builds a write with these facts. The coordinator is due at once: the worker that claims it computes when it must really wake. */
export const changeOf = (
  context: EngineContext,
  record: StreamRecord,
  facts: readonly CoordinatorFact[],
): StreamWrite => changeAfter(context, record, headOf(record), facts).write

/** The same after a known head; also returns the new head. */
export const changeAfter = (
  context: EngineContext,
  { stream, signal }: Pick<StreamRecord, 'stream' | 'signal'>,
  before: ChainHead,
  facts: readonly CoordinatorFact[],
): { readonly write: StreamWrite; readonly head: ChainHead } => {
  const { facts: sealed, head } = sealFacts(context, stream, before, facts)
  const write = {
    ...PLAIN,
    stream,
    create: null,
    expectedVersion: before.version,
    epoch: null,
    facts: sealed,
    headHash: head.headHash,
    wakeAt: context.clock.now(),
    seenSignal: signal,
  }
  return { write, head }
}

export const birthOf = (
  context: EngineContext,
  { id, handler }: { readonly id: CoordinatorId; readonly handler: string },
  facts: readonly CoordinatorFact[],
): StreamWrite => {
  const sealed = sealFacts(context, id, EMPTY_CHAIN, facts)
  const now = context.clock.now()
  const { tenant } = context
  const row = { handler, systemHash: context.system().hash, session: null, parent: null, event: null, lease: null }
  return {
    ...PLAIN,
    stream: id,
    create: { ...row, tenant, createdAt: now },
    expectedVersion: 0,
    epoch: null,
    facts: sealed.facts,
    headHash: sealed.head.headHash,
    wakeAt: now,
  }
}

const stepOf = (type: string): string => `on ${type}`

/** The waits that open and close when the event types that a coordinator listens to change. */
export const waitsBetween = (
  before: readonly string[],
  after: readonly string[],
): Pick<StreamWrite, 'opensWaits' | 'closesWaits'> => ({
  opensWaits: after.filter((type) => !before.includes(type)).map(listening),
  closesWaits: before.filter((type) => !after.includes(type)).map(stepOf),
})

/** Waits for every event of the type from now on; the coordinator decides which of them count. */
const listening = (type: string): WaitRow => ({
  step: stepOf(type),
  type,
  path: '',
  value: '',
  base: Number.MAX_SAFE_INTEGER,
  seen: 0,
})
