/**
 * Claims of due runs: each run goes to one worker, with a higher epoch (ledger-7), as far as its slots have room (ledger-8).
 *
 * Owns the dialogue with the database. One statement suffices for runs without slots and priority; where other runs are due, claims are
 * serialised and read the live leases, and the model decides (lane.ts). `now` is null where the database's clock counts.
 */
import type { Ask, Command, Database } from '#adapters/storage/postgres/pool.ts'
import { toEvent, toRecord, toUuid } from '#adapters/storage/postgres/rows.ts'
import { takeOver } from '#adapters/storage/postgres/take-over.ts'
import { choose, Occupancy, PLAIN_LANE, readLane } from '#model/flow/lane.ts'
import { claimableId, type Instant, type TenantId } from '#model/kernel/ids.ts'
import type { ClaimRequest, Claims, StreamRecord } from '#ports/ledger.ts'
import { type ClaimedRow, type ClaimRow, type DueRow, LOCK_LANES, OF_ANY_VERSION, OF_ONE_VERSION } from './claim-sql.ts'
import { comparableLane } from './lanes.ts'

/** First half of our lock on lanes, which keeps it apart from those of other programs and of event types (append.ts). */
const LOCK_CLASS = 0x7472_6c61

interface SurveyRow {
  readonly lane: string
  /** Live leases; 0 in a row that reports that a run is due. */
  readonly held: number
}

type Request = Omit<ClaimRequest, 'now'> & { readonly now: Instant | null }

/** The claim's statements, and the value that each of them ends with. */
const dialectOf = ({ taker }: Request): { readonly sql: typeof OF_ANY_VERSION; readonly version: readonly string[] } =>
  taker === undefined ? { sql: OF_ANY_VERSION, version: [] } : { sql: OF_ONE_VERSION, version: [taker.version] }

export const claim = async (database: Database, request: Request): Promise<Claims> => {
  const moved = await takeOver(database, request)
  const { statement, values } = claimPlain(request)
  const rows = await database.query<ClaimRow>(statement, values)
  const isDueInLanes = rows.some((row) => row.is_due_in_lanes)
  const claims = isDueInLanes ? await database.converse((ask) => claimInLanes(ask, request)) : toClaims(rows, null)
  return moved === 0 ? claims : { ...claims, moved }
}

const claimPlain = (request: Request): Command => {
  const { worker, now, limit, only, handlers = null } = request
  const { sql, version } = dialectOf(request)
  const values = [now, worker, limit]
  if (only !== undefined) return { statement: sql.named, values: [...values, handlers, only.map(toUuid), ...version] }
  return handlers === null
    ? { statement: sql.due, values: [...values, ...version] }
    : { statement: sql.ofHandlers, values: [...values, handlers, ...version] }
}

const claimInLanes = async (ask: Ask, request: Request): Promise<Claims> => {
  const { worker, now, limit, only, handlers = null } = request
  const { sql, version } = dialectOf(request)
  const lock: Command = { statement: LOCK_LANES, values: [LOCK_CLASS] }
  const [, survey = []] = await ask<SurveyRow>([lock, { statement: sql.surveyLanes, values: [now, ...version] }])
  const occupancy = new Occupancy(
    survey.filter(({ held }) => held > 0).map(({ lane, held }) => ({ lane: comparableLane(lane), count: held })),
  )
  const search: Command =
    only === undefined
      ? findFirsts(request, survey, occupancy)
      : { statement: sql.findNamed, values: [now, handlers, only.map(toUuid), ...version] }
  const [found = []] = await ask<DueRow>([search])
  const due = found.map(({ id, lane, wake_at }) => ({ key: id, lane: comparableLane(lane), wakeAt: wake_at }))
  const { chosen, left } = choose(due, occupancy, limit)
  const ids = chosen.map(({ key }) => key)
  const [rows = []] = await ask<ClaimRow>([
    handlers === null || only !== undefined
      ? { statement: sql.lease, values: [now, worker, ids, ...version] }
      : { statement: sql.leaseOfHandlers, values: [now, worker, ids, handlers, ...version] },
  ])
  return toClaims(rows, left?.wakeAt ?? null)
}

/** Includes the plain lane: every run that is due takes part. */
const findFirsts = (request: Request, survey: readonly SurveyRow[], occupancy: Occupancy): Command => {
  const { now, limit, handlers = null } = request
  const { sql, version } = dialectOf(request)
  const lanes = survey
    .filter(({ held }) => held === 0)
    .map(({ lane }) => ({ lane, parsed: readLane(comparableLane(lane)) }))
    .filter(({ parsed }) => handlers?.includes(parsed.handler) ?? true)
    .map(({ lane, parsed }) => ({ lane, handler: parsed.handler, room: Math.min(limit + 1, occupancy.roomIn(parsed)) }))
    .filter(({ room }) => room > 0)
  const plain = (handlers ?? ['']).map((handler) => ({ lane: PLAIN_LANE, handler, room: limit }))
  const all = [...plain, ...lanes]
  const values = [now, all.map(({ lane }) => lane), all.map(({ room }) => room)]
  return handlers === null
    ? { statement: sql.firstInLanes, values: [...values, ...version] }
    : { statement: sql.firstInLanesOfHandlers, values: [...values, all.map(({ handler }) => handler), ...version] }
}

const toClaims = (rows: readonly ClaimRow[], left: Instant | null): Claims => {
  const later = rows[0]?.next_due_at ?? null
  const nextDueAt = left === null || later === null ? (left ?? later) : Math.min(left, later)
  const claimed = rows.filter((row): row is ClaimRow & ClaimedRow => row.id !== null).sort((a, b) => a.place - b.place)
  if (claimed.length === 0) return { claims: [], nextDueAt }
  return {
    claims: claimed.map(({ id, tenant, version, epoch, signal }) => ({
      ...{ stream: claimableId(id), tenant: tenant as TenantId, version, epoch, signal },
    })),
    nextDueAt,
    records: claimed.flatMap(toWholeRecord),
    events: claimed.flatMap(({ trigger }) => (trigger === null ? [] : toEvent(trigger))),
  }
}

/** The facts are as old as the statement, the stream is newer: one that was written in between lacks facts here, and is loaded later. */
const toWholeRecord = (row: ClaimedRow): readonly StreamRecord[] => {
  if (row.facts?.length !== row.version) return []
  const facts = row.facts.map(([type, recordedAt, body, hash]) => ({ type, recordedAt, body, hash }))
  return [toRecord(row, facts)]
}
