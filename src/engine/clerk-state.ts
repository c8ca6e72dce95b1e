/**
 * A clerk's state from the ledger, and commands to it from outside: declared, paused, resumed, asked for a run.
 *
 * Owns reading from the last checkpoint on, and load, decide, append, again if somebody else was faster. Needs no lease.
 */
import { TrihandError } from '../model/errors.ts'
import type { ClaimableId, ClerkId, Instant } from '../model/ids.ts'
import type { Ledger, StreamRecord, StreamWrite, WaitRow } from '../ports/ledger.ts'
import type { Advance } from './advance.ts'
import { commitBirths } from './births.ts'
import { EMPTY_CHAIN, headOf, sealFacts } from './chain.ts'
import type { ClerkFact, Duty } from './duty.ts'
import type { House } from './house.ts'

/** Looks at a short tail first, and further back only if there is no checkpoint in it. */
export const FIRST_TAIL = 128
const MAX_CONFLICTS = 20

export interface Restored<State> {
  readonly state: State
  readonly record: StreamRecord
}

/** `version`: how many facts it is known to have. Null: there is no such clerk. */
export const restoreClerk = async <State>(
  ledger: Pick<Ledger, 'load'>,
  id: ClaimableId,
  version: number,
  duty: Pick<Duty<State, ClerkFact>, 'restore'>,
): Promise<Restored<State> | null> => {
  for (let tail = FIRST_TAIL; ; tail *= 8) {
    const after = Math.max(0, version - tail)
    const [record] = await ledger.load([id], { after })
    if (record == null) return null
    const state = duty.restore(record, after === 0)
    if (state !== null) return { state, record }
    if (after === 0) throw new TrihandError('LEDGER_CORRUPT', `${id} has no beginning`)
  }
}

/** As it stands in the ledger; null if it does not exist. */
export const lookAtClerk = async <State>(
  { ledger }: Pick<House, 'ledger'>,
  id: ClerkId,
  duty: Pick<Duty<State, ClerkFact>, 'restore'>,
): Promise<Restored<State> | null> => {
  const [row] = await ledger.load([id], { after: Number.MAX_SAFE_INTEGER })
  return row == null ? null : restoreClerk(ledger, id, row.version, duty)
}

export interface ClerkCommand<State, Fact> {
  readonly id: ClerkId
  /** The name that workers know it by. */
  readonly handler: string
  readonly duty: Duty<State, Fact & ClerkFact>
  /** The state of a clerk that does not exist yet. */
  readonly initial: State
  /** `now` is not before the clerk's last fact. */
  readonly advance: (state: State, now: Instant) => Advance<State, Fact & ClerkFact>
  /** What the decision needs to know beside the state; read again after each conflict. */
  readonly prepare?: () => Promise<void>
  /** The event types it listens to, if it does. */
  readonly types?: (state: State) => readonly string[]
}

/** Answers the state after the command; a refusal throws. */
export const commandClerk = async <State, Fact>(house: House, command: ClerkCommand<State, Fact>): Promise<State> => {
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
    const restored = await lookAtClerk(house, command.id, command.duty)
    await command.prepare?.()
    const before = restored?.state ?? command.initial
    const lastAt = restored === null ? 0 : headOf(restored.record).lastAt
    const { state, facts, refusal } = command.advance(before, Math.max(house.clock.now(), lastAt))
    if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
    if (facts.length === 0) return state
    const { runs, events, writes: others = [], signals = [], documents = [] } = await command.duty.births(facts)
    const own = restored === null ? birthOf(house, command, facts) : changeOf(house, restored.record, facts)
    const waits = waitsBetween(command.types?.(before) ?? [], command.types?.(state) ?? [])
    const writes = [{ ...own, ...waits }, ...others, ...runs.map(({ write }) => write)]
    const outcome = await commitBirths(house, { writes, events, signals, documents }, runs)
    if (outcome.kind === 'conflict') continue
    command.duty.written(facts)
    house.worker.signal([command.id, ...signals])
    return state
  }
  throw new TrihandError('LEDGER_CONFLICT', `${MAX_CONFLICTS} others wrote to ${command.id} first`)
}

const PLAIN = { status: 'waiting', release: false, seenSignal: 0, opensWaits: [], closesWaits: [] } as const

/** Due at once: whoever claims it finds out when it must really wake. */
export const changeOf = (house: House, record: StreamRecord, facts: readonly ClerkFact[]): StreamWrite => {
  const sealed = sealFacts(house, record.stream, headOf(record), facts)
  return {
    ...PLAIN,
    stream: record.stream,
    create: null,
    expectedVersion: record.version,
    epoch: null,
    facts: sealed.facts,
    headHash: sealed.head.headHash,
    wakeAt: house.clock.now(),
    seenSignal: record.signal,
  }
}

export const birthOf = (
  house: House,
  { id, handler }: Pick<ClerkCommand<unknown, unknown>, 'id' | 'handler'>,
  facts: readonly ClerkFact[],
): StreamWrite => {
  const sealed = sealFacts(house, id, EMPTY_CHAIN, facts)
  const now = house.clock.now()
  const { tenant } = house
  const row = { handler, systemHash: house.system().hash, session: null, parent: null, event: null, lease: null }
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

const waitsBetween = (
  before: readonly string[],
  after: readonly string[],
): Pick<StreamWrite, 'opensWaits' | 'closesWaits'> => ({
  opensWaits: after.filter((type) => !before.includes(type)).map(listening),
  closesWaits: before.filter((type) => !after.includes(type)).map(stepOf),
})

/** Every event of the type from now on; which of them count is the clerk's to say. */
const listening = (type: string): WaitRow => ({
  step: stepOf(type),
  type,
  path: '',
  value: '',
  base: Number.MAX_SAFE_INTEGER,
  seen: 0,
})
