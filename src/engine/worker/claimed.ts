/**
 * Loads runs that were just claimed: folds their facts, and reads their triggering events and the events for their waits together.
 *
 * Owns the few queries that a whole batch of claims needs. Never begins a run (worker.ts).
 */
import { triggerOf } from '#engine/core/cause.ts'
import { headOf } from '#engine/core/chain.ts'
import type { RunRow, RunSnapshot } from '#engine/run/run-row.ts'
import { NOTHING_PREFETCHED, type Prefetched, prefetchEvents } from '#engine/wait/look.ts'
import { openWaitsOf } from '#engine/wait/reconcile.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { RunId, StreamId, TenantId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import type { RunState } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { Claim, Claims, Ledger, StreamRecord } from '#ports/ledger.ts'

export interface Claimed {
  readonly runs: readonly (RunSnapshot & { readonly record: RunRow; readonly recoveries: number })[]
  /** Runs that this version, or this process with its keys, cannot read: they are left to a worker that can read them. */
  readonly unreadable: readonly Pick<StreamRecord, 'stream'>[]
  /** Runs whose facts do not fit their seals. */
  readonly broken: readonly StreamRecord[]
  readonly prefetched: Prefetched
}

type Taken = Pick<Claims, 'claims' | 'records' | 'events'>

/** Loads tenant by tenant: a query never mixes tenants. */
export const loadClaimed = async (
  ledger: Pick<Ledger, 'load' | 'events'>,
  claimed: Taken,
): Promise<readonly Claimed[]> => {
  const tenants = [...new Set(claimed.claims.map(({ tenant }) => tenant))]
  return Promise.all(
    tenants.map((tenant) =>
      loadReadable(ledger, tenant, { ...claimed, claims: claimed.claims.filter((claim) => claim.tenant === tenant) }),
    ),
  )
}

const loadReadable = async (...asked: Parameters<typeof loadOf>): Promise<Claimed> => {
  try {
    return await loadOf(...asked)
  } catch (error) {
    if (!(error instanceof TrihandError) || error.code !== 'LEDGER_KEY_WRONG') throw error
    return { runs: [], unreadable: asked[2].claims, broken: [], prefetched: NOTHING_PREFETCHED }
  }
}

const loadOf = async (ledger: Pick<Ledger, 'load' | 'events'>, tenant: TenantId, claimed: Taken): Promise<Claimed> => {
  const records = await recordsOf(ledger, claimed)
  const states = new Map([...records.values()].map((record) => [record, stateOf(record)]))
  const events = await triggersOf(ledger, tenant, states, claimed.events ?? [])
  const runs: Claimed['runs'][number][] = []
  const unreadable: StreamRecord[] = []
  const broken: StreamRecord[] = []
  claimed.claims.forEach((claim) => {
    const record = records.get(claim.stream)
    // Already fenced: another worker has claimed the run since.
    if (record === undefined || record.epoch !== claim.epoch) return
    const state = states.get(record) ?? null
    if (record.broken !== undefined) broken.push(record)
    else if (state === null) unreadable.push(record)
    else {
      const activeRun = activeRunOf(claim, record, state, events)
      if (activeRun.event?.broken !== undefined) broken.push({ ...record, broken: activeRun.event.broken })
      else runs.push({ record: activeRun, state, head: headOf(record), recoveries: record.recoveries })
    }
  })
  const waits = runs.flatMap(({ state }) => openWaitsOf(state))
  const prefetched = waits.length === 0 ? NOTHING_PREFETCHED : await prefetchEvents(ledger, tenant, waits)
  return { runs, unreadable, broken, prefetched }
}

/** Returns the records that came with the claim, and loads the rest from the ledger. */
const recordsOf = async (
  ledger: Pick<Ledger, 'load'>,
  { claims, records = [] }: Pick<Claims, 'claims' | 'records'>,
): Promise<ReadonlyMap<StreamId, StreamRecord>> => {
  const known = new Map<StreamId, StreamRecord>(records.map((record) => [record.stream, record]))
  const missing = claims.map((claim) => claim.stream).filter((run) => !known.has(run))
  const loaded = missing.length === 0 ? [] : await ledger.load(missing)
  for (const record of loaded) if (record !== null) known.set(record.stream, record)
  return known
}

const triggersOf = async (
  ledger: Pick<Ledger, 'events'>,
  tenant: TenantId,
  states: ReadonlyMap<StreamRecord, RunState | null>,
  brought: readonly StoredEvent[],
): Promise<ReadonlyMap<number, StoredEvent>> => {
  const known = new Map(brought.map((event) => [event.sequence, event]))
  const sequences = [...states].flatMap(([record, state]) => {
    const trigger = state === null ? null : triggerOf(record, state)
    return trigger === null || known.has(trigger) ? [] : trigger
  })
  const loaded = sequences.length === 0 ? [] : await ledger.events({ tenant, sequences, limit: sequences.length })
  for (const event of loaded) known.set(event.sequence, event)
  return known
}

const stateOf = (record: StreamRecord): RunState | null => {
  try {
    return fold(runMachine, record.facts.map(readRunFact))
  } catch {
    return null
  }
}

const activeRunOf = (
  claim: Claim,
  record: StreamRecord,
  state: RunState,
  events: ReadonlyMap<number, StoredEvent>,
): RunRow => {
  const { tenant, handler, session, parent, base, lease, bornHash, systemHash } = record
  const { epoch, signal } = claim
  const id = record.stream as RunId
  const versions = { born: bornHash ?? systemHash, now: systemHash }
  const trigger = triggerOf(record, state)
  const event = trigger === null ? null : (events.get(trigger) ?? null)
  return { id, tenant, handler, session, parent, event, base, lease, epoch, signal, versions }
}
