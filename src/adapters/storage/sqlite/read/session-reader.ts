/**
 * Queries on sessions and on paid model calls.
 *
 * Owns their SQL. Each uses an index of its own (migrations/0006-reading.ts), however many runs there are.
 */
import { LIMIT, type Preparer, type Row } from '#adapters/storage/sqlite/driver.ts'
import { idBytes, orNull, RUN, rowAs, SESSION, toRunId, toSessionId } from '#adapters/storage/sqlite/rows.ts'
import { VERSION } from '#adapters/storage/sqlite/statements.ts'
import type { Instant, SessionId, TenantId } from '#model/kernel/ids.ts'
import type { ModelCallFact, ModelCallQuery, SessionQuery, SessionSummary } from '#ports/reader.ts'

interface SessionRow {
  readonly id: Uint8Array
  readonly session: Uint8Array | null
  readonly version: number
  readonly created_at: Instant
}

interface CallRow {
  readonly id: Uint8Array
  readonly handler: string
  readonly seq: number
  readonly type: string
  readonly recorded_at: Instant
  readonly body: string
  readonly hash: string
}

const SUMMARY = `select s.id, s.session, ${VERSION}, s.created_at from stream s where s.kind = ${SESSION}`
const LAST_KEY = Number.MAX_SAFE_INTEGER
const KEY_OF = `coalesce((select before.key from stream before where before.id = ?), ${LAST_KEY})`

export const prepareSessionQueries = (db: Preparer) => ({
  sessions: db.prepare(`${SUMMARY} and s.tenant = ? and s.key < ${KEY_OF} order by s.key desc ${LIMIT}`),
  session: db.prepare(`${SUMMARY} and s.tenant = ? and s.id = ?`),
  forks: db.prepare(`${SUMMARY} and s.tenant = ? and s.session = ? order by s.key`),
  modelCalls: db.prepare(`select s.id, s.handler, f.seq, f.type, f.recorded_at, f.body, f.hash
    from model_call m cross join fact f on f.stream = m.stream and f.seq = m.seq cross join stream s on s.key = m.stream
    where m.recorded_at >= ? and m.recorded_at < ?
    and (m.recorded_at, m.stream, m.seq) > (?, coalesce((select key from stream where id = ?), -1), ?)
    and s.tenant = ? and s.kind = ${RUN} order by m.recorded_at, m.stream, m.seq ${LIMIT}`),
})

type Queries = ReturnType<typeof prepareSessionQueries>

const toSession = (raw: Row): SessionSummary => {
  const row = rowAs<SessionRow>(raw)
  return {
    id: toSessionId(row.id),
    base: orNull(row.session, toSessionId),
    version: row.version,
    createdAt: row.created_at,
  }
}

const toCall = (raw: Row): ModelCallFact => {
  const { id, handler, seq, type, recorded_at: recordedAt, body, hash } = rowAs<CallRow>(raw)
  return { run: toRunId(id), handler, seq, fact: { type, recordedAt, body, hash } }
}

export const readSessions = (queries: Queries, { tenant, before, limit }: SessionQuery): readonly SessionSummary[] =>
  queries.sessions.all(tenant, orNull(before, idBytes), limit).map(toSession)

export const readSession = (queries: Queries, tenant: TenantId, id: SessionId): SessionSummary | null => {
  const row = queries.session.get(tenant, idBytes(id))
  return row === undefined ? null : toSession(row)
}

export const readForks = (queries: Queries, tenant: TenantId, id: SessionId): readonly SessionSummary[] =>
  queries.forks.all(tenant, idBytes(id)).map(toSession)

export const readModelCalls = (queries: Queries, query: ModelCallQuery): readonly ModelCallFact[] => {
  const { tenant, from, to, after, limit } = query
  const cursor = [after?.fact.recordedAt ?? from, after === null ? null : idBytes(after.run), after?.seq ?? -1]
  return queries.modelCalls.all(from, to, ...cursor, tenant, limit).map(toCall)
}
