/**
 * Runs that have not ended, with the results they have recorded: read by `trihand check --against` before a deploy.
 *
 * Owns paging: status by status, newest first; a page ends early where its values are large.
 */
import type { OpenRun, SeenStep, UnreadableRun } from '#engine/run/open-run.ts'
import type { OpenRun as OpenRunDocument } from '#http/openapi/api.ts'
import { PAGING, page, ref } from '#http/openapi/schema.ts'
import { badCursor, limitOf, type Query } from '#http/server/query.ts'
import { eventDocument } from '#http/wire/wire.ts'
import { isRunId, type RunId } from '#model/kernel/ids.ts'
import { OPEN_STATUSES, type RunStatus } from '#model/run/status.ts'
import { type Handle, json, type Operation } from './route.ts'

/** A page ends once it has more characters than this. */
const MOST_TEXT = 4_000_000
const AT_ONCE = 10

interface Position {
  readonly status: RunStatus
  readonly before: RunId | null
}

const [FIRST = 'queued'] = OPEN_STATUSES

const positionOf = (query: Query): Position => {
  const text = query.get('cursor')
  if (text === undefined) return { status: FIRST, before: null }
  const [word = '', id = ''] = text.split(':')
  const status = OPEN_STATUSES.find((one) => one === word)
  if (status === undefined || (id !== '' && !isRunId(id))) throw badCursor(text)
  return { status, before: id === '' ? null : (id as RunId) }
}

const stepDocument = ([step, seen]: readonly [string, SeenStep]): OpenRunDocument['steps'][number] => ({
  step,
  state: seen.kind,
  once: seen.kind === 'done' && seen.once,
  value: seen.kind === 'done' ? seen.value : null,
  error: seen.kind === 'failed' ? { code: seen.error.code, message: seen.error.message } : null,
  events: seen.kind === 'received' ? seen.events.map(eventDocument) : [],
  timed_out: seen.kind === 'received' && seen.timedOut,
  missing: seen.kind === 'received' ? seen.missing : [],
  waits_for: seen.kind === 'open' ? seen.types : [],
})

const NOTHING_READ = { input: null, attempt: 1, event: null, events: [], schedule: null, steps: [] }

const openRunDocument = (run: OpenRun | UnreadableRun, status: RunStatus): OpenRunDocument => {
  const { id, handler, version } = run
  const about = { id, handler, status: status as OpenRunDocument['status'], version }
  if ('unreadable' in run) return { ...about, ...NOTHING_READ, unreadable: run.unreadable }
  const { input, attempt, event, events, schedule, steps } = run
  return {
    ...about,
    ...{ unreadable: null, input, attempt, schedule: schedule === null ? null : { ...schedule } },
    event: event === null ? null : eventDocument(event),
    events: events.map(eventDocument),
    steps: steps.map(stepDocument),
  }
}

const after = ({ status }: Position, last: RunId | null): string | null => {
  if (last !== null) return `${status}:${last}`
  const next = OPEN_STATUSES[OPEN_STATUSES.indexOf(status) + 1]
  return next === undefined ? null : `${next}:`
}

const list: Handle = async (service, context, query) => {
  const limit = limitOf(query)
  const position = positionOf(query)
  const { tenant, reader } = service
  const runs = await reader.runs({ tenant, ...position, handler: null, limit })
  const items: OpenRunDocument[] = []
  let [size, read] = [0, 0]
  for (; read < runs.length && size < MOST_TEXT; read += AT_ONCE) {
    const ids = runs.slice(read, read + AT_ONCE).map(({ id }) => id)
    for (const run of await service.openRuns.read(ids)) {
      const document = openRunDocument(run, position.status)
      size += JSON.stringify(document).length
      items.push(document)
    }
  }
  const isWhole = read >= runs.length && runs.length < limit
  const last = runs.at(Math.min(read, runs.length) - 1)?.id ?? null
  return context.json({ items, next_cursor: after(position, isWhole ? null : last) })
}

export const openRunRoutes: readonly Operation[] = [
  {
    id: 'listOpenRuns',
    method: 'get',
    path: '/api/runs/open',
    access: 'viewer',
    summary: 'Runs that have not ended, with the values of their steps: for holding new code against them',
    query: PAGING,
    answers: { 200: json(page(ref('OpenRun'))) },
    problems: ['CURSOR_INVALID'],
    handle: list,
  },
]
