/**
 * Routes for sessions: list, show with memory, their checkpoints, the difference between two of them, their runs.
 *
 * Owns parsing and responses. Only reads: sessions are forked and merged elsewhere.
 */
import type { Context } from 'hono'
import { described, PAGING, page, ref, text } from '#http/openapi/schema.ts'
import { badCursor, limitOf, pageOf, positionOf } from '#http/server/query.ts'
import type { Service } from '#http/server/service.ts'
import { checkpointDocuments, differenceDocument, sessionDetail, sessionDocument } from '#http/wire/session.ts'
import { runDocument } from '#http/wire/wire.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readSessionFact } from '#model/kernel/fact-codec.ts'
import { isRunId, isSessionId, type SessionId } from '#model/kernel/ids.ts'
import { differenceOf } from '#model/session/difference.ts'
import type { Checkpoint } from '#model/session/session.ts'
import type { SessionSummary } from '#ports/reader.ts'
import { type Handle, json, type Operation } from './route.ts'

const list: Handle = async ({ reader, tenant }, context, query) => {
  const limit = limitOf(query)
  const cursor = query.get('cursor')
  if (cursor !== undefined && !isSessionId(cursor)) throw badCursor(cursor)
  const sessions = await reader.sessions({
    tenant,
    before: (cursor ?? null) as SessionId | null,
    limit: limit + 1,
  })
  return context.json(pageOf(sessions, limit, { item: sessionDocument, cursor: ({ id }) => id }))
}

const find = async ({ reader, tenant }: Service, context: Context): Promise<SessionSummary> => {
  const id = context.req.param('id') ?? ''
  const found = isSessionId(id) ? await reader.session(tenant, id) : null
  if (found === null) throw new TrihandError('NOT_FOUND', `there is no session ${id}`)
  return found
}

const show: Handle = async (service, context) => {
  const summary = await find(service, context)
  const [view, forks] = await Promise.all([
    service.sessions.show(summary.id),
    service.reader.forks(service.tenant, summary.id),
  ])
  return context.json(sessionDetail(summary, view, forks))
}

/** The cursor counts facts: a page may have fewer checkpoints than its limit, and the last page has no cursor. */
const checkpoints: Handle = async (service, context, query) => {
  const { id, version } = await find(service, context)
  const [after, limit] = [positionOf(query) ?? 0, limitOf(query)]
  const facts = await service.reader.facts(service.tenant, id, { after, limit })
  const next = after + facts.length
  const hasMore = facts.length === limit && next < version
  return context.json({ items: checkpointDocuments(facts, after), next_cursor: hasMore ? String(next) : null })
}

const AT_ONCE = 200
const MOST_FACTS = 10_000
const MOST_FORKS = 30

/** Searches the facts of one session; the checkpoint from which it was forked counts, too. */
const checkpointIn = async (
  { reader, tenant }: Service,
  session: SessionId,
  id: string,
): Promise<Checkpoint | null> => {
  for (let after = 0; after < MOST_FACTS; after += AT_ONCE) {
    const facts = await reader.facts(tenant, session, { after, limit: AT_ONCE })
    for (const sealed of facts) {
      const fact = readSessionFact(sealed)
      const found =
        fact.type === 'session.checkpointed'
          ? fact.checkpoint
          : fact.type === 'session.created'
            ? fact.base?.checkpoint
            : null
      if (found?.id === id) return found
    }
    if (facts.length < AT_ONCE) return null
  }
  return null
}

/** Finds a checkpoint of the session itself, of the session it was forked from, or of one of its forks. */
const findCheckpoint = async (service: Service, { id, base }: SessionSummary, wanted: string): Promise<Checkpoint> => {
  const forks = await service.reader.forks(service.tenant, id)
  for (const session of [id, ...(base === null ? [] : [base]), ...forks.slice(0, MOST_FORKS).map((fork) => fork.id)]) {
    const found = await checkpointIn(service, session, wanted)
    if (found !== null) return found
  }
  throw new TrihandError('NOT_FOUND', `${wanted} is not a checkpoint of ${id}, of its origin or of its forks`)
}

const difference: Handle = async (service, context, query) => {
  const summary = await find(service, context)
  const [a, b] = [query.get('a') ?? '', query.get('b') ?? '']
  if (a === '' || b === '') throw new TrihandError('QUERY_UNKNOWN', 'name two checkpoints: ?a=cp_…&b=cp_…')
  const [before, after] = await Promise.all(
    [a, b].map(async (id) => service.sessions.documentAt(await findCheckpoint(service, summary, id))),
  )
  return context.json(differenceDocument(a, b, differenceOf(before ?? {}, after ?? {})))
}

const runs: Handle = async (service, context, query) => {
  const { id } = await find(service, context)
  const limit = limitOf(query)
  const cursor = query.get('cursor')
  if (cursor !== undefined && !isRunId(cursor)) throw badCursor(cursor)
  const found = await service.reader.sessionRuns({
    tenant: service.tenant,
    session: id,
    before: cursor === undefined || !isRunId(cursor) ? null : cursor,
    limit: limit + 1,
  })
  return context.json(pageOf(found, limit, { item: runDocument, cursor: (last) => last.id }))
}

const reading = { method: 'get', access: 'viewer', problems: ['NOT_FOUND', 'CURSOR_INVALID'] } as const

export const sessionRoutes: readonly Operation[] = [
  {
    ...reading,
    id: 'listSessions',
    path: '/api/sessions',
    summary: 'Sessions, newest first',
    query: PAGING,
    answers: { 200: json(page(ref('Session'))) },
    handle: list,
  },
  {
    ...reading,
    id: 'getSession',
    path: '/api/sessions/{id}',
    summary: 'One session: its mode, its memory, its forks',
    answers: { 200: json(ref('SessionDetail')) },
    handle: show,
  },
  {
    ...reading,
    id: 'listCheckpoints',
    path: '/api/sessions/{id}/checkpoints',
    summary: 'How a session began, its checkpoints and its end, oldest first',
    query: PAGING,
    answers: { 200: json(page(ref('Checkpoint'))) },
    handle: checkpoints,
  },
  {
    ...reading,
    id: 'compareCheckpoints',
    path: '/api/sessions/{id}/diff',
    summary: 'What differs in memory between two checkpoints: of a session, of its origin, of its forks',
    query: { a: described('the id of one checkpoint', text), b: described('the id of the other', text) },
    answers: { 200: json(ref('SessionDifference')) },
    problems: ['NOT_FOUND', 'CHECKPOINT_CORRUPT'],
    handle: difference,
  },
  {
    ...reading,
    id: 'listSessionRuns',
    path: '/api/sessions/{id}/runs',
    summary: 'Runs of a session, newest first',
    query: PAGING,
    answers: { 200: json(page(ref('Run'))) },
    handle: runs,
  },
]
