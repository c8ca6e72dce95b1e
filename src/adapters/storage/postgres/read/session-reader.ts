/**
 * Queries on sessions and on paid model calls.
 *
 * Owns their SQL. Each uses an index of its own (migrations/0006-reading.ts), however many runs there are.
 */
import { MODEL_CALL } from '#adapters/storage/migrations/0006-reading.ts'
import type { Database, Statement } from '#adapters/storage/postgres/pool.ts'
import { type FactRow, RUN, SESSION, toFact, toSessionId, toUuid } from '#adapters/storage/postgres/rows.ts'
import { type Instant, runId, type SessionId, sessionId, type TenantId } from '#model/kernel/ids.ts'
import type { ModelCallFact, ModelCallQuery, SessionQuery, SessionSummary } from '#ports/reader.ts'

interface SessionRow {
  readonly id: string
  readonly session: string | null
  readonly version: number
  readonly created_at: Instant
}

type CallRow = FactRow & { readonly handler: string }

const LOWEST = "'00000000-0000-0000-0000-000000000000'::uuid"
const HIGHEST = "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid"
const SUMMARY = `select id, session, version, created_at from stream where kind = ${SESSION} and tenant = $1`

/** Ordered by creation, not by id: a session may have a name of its own, and then its id does not say when it began. */
const SESSIONS: Statement = {
  name: 'read_sessions',
  text: `${SUMMARY} and (created_at, id) < (coalesce((select created_at from stream where id = $2), 9007199254740991), coalesce($2, ${HIGHEST}))
    order by created_at desc, id desc limit $3`,
}
const ONE_SESSION: Statement = { name: 'read_session', text: `${SUMMARY} and id = $2` }
const FORKS: Statement = { name: 'read_forks', text: `${SUMMARY} and session = $2 order by created_at, id` }
const MODEL_CALLS: Statement = {
  name: 'read_model_calls',
  text: `select s.handler, f.stream, f.seq, f.type, f.recorded_at, f.body, f.hash from fact f join stream s on s.id = f.stream
    where ${MODEL_CALL.postgres} and f.recorded_at >= $2 and f.recorded_at < $3
    and (f.recorded_at, f.stream, f.seq) > ($4::bigint, coalesce($5::uuid, ${LOWEST}), $6::bigint)
    and s.tenant = $1 and s.kind = ${RUN} order by f.recorded_at, f.stream, f.seq limit $7`,
}

const toSession = ({ id, session, version, created_at }: SessionRow): SessionSummary => ({
  id: sessionId(id),
  base: toSessionId(session),
  version,
  createdAt: created_at,
})

export const readSessions = async (database: Database, query: SessionQuery): Promise<readonly SessionSummary[]> => {
  const before = query.before === null ? null : toUuid(query.before)
  return (await database.query<SessionRow>(SESSIONS, [query.tenant, before, query.limit])).map(toSession)
}

export const readSession = async (
  database: Database,
  tenant: TenantId,
  id: SessionId,
): Promise<SessionSummary | null> => {
  const [row] = await database.query<SessionRow>(ONE_SESSION, [tenant, toUuid(id)])
  return row === undefined ? null : toSession(row)
}

export const readForks = async (
  database: Database,
  tenant: TenantId,
  id: SessionId,
): Promise<readonly SessionSummary[]> => (await database.query<SessionRow>(FORKS, [tenant, toUuid(id)])).map(toSession)

export const readModelCalls = async (
  database: Database,
  { tenant, from, to, after, limit }: ModelCallQuery,
): Promise<readonly ModelCallFact[]> => {
  const cursor = [after?.fact.recordedAt ?? from, after === null ? null : toUuid(after.run), after?.seq ?? -1]
  const rows = await database.query<CallRow>(MODEL_CALLS, [tenant, from, to, ...cursor, limit])
  return rows.map((row) => ({ run: runId(row.stream), seq: row.seq, handler: row.handler, fact: toFact(row) }))
}
