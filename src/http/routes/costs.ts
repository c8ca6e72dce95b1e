/**
 * Routes for the costs of models.
 *
 * Owns the range of days. What a call cost is read by wire/cost-totals.ts and written as JSON by wire/costs.ts.
 */
import type { Costs, RunCosts } from '#http/openapi/api.ts'
import { described, ref, text } from '#http/openapi/schema.ts'
import type { Query } from '#http/server/query.ts'
import { CostBook, DAY_MS, DIMENSIONS, type Dimension, sumBy, total } from '#http/wire/cost-totals.ts'
import { costDocument, dayText, spentDocument } from '#http/wire/costs.ts'
import { runCosts } from '#http/wire/run-costs.ts'
import { parseIsoTime } from '#http/wire/time.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Reader } from '#ports/reader.ts'
import { type Handle, json, type Operation } from './route.ts'

const USUAL_DAYS = 30
const MOST_DAYS = 400
const MICROS = 1_000_000
/** The most runs that are read to learn how they ended. */
const MOST_RUNS = 500
/** One CostBook per store, for as long as the store is open. */
const books = new WeakMap<Reader, CostBook>()

const bookOf = (reader: Reader): CostBook => {
  const book = books.get(reader) ?? new CostBook(reader)
  books.set(reader, book)
  return book
}

const dayOf = (query: Query, name: string, usual: number): number => {
  const given = query.get(name)
  if (given === undefined) return usual
  const instant = /^\d{4}-\d{2}-\d{2}$/.test(given) ? parseIsoTime(`${given}T00:00:00Z`) : null
  if (instant === null) throw new TrihandError('QUERY_UNKNOWN', `${name}=${given}; expected a day like 2026-01-31`)
  return instant / DAY_MS
}

const daysOf = (query: Query, today: number): { readonly from: number; readonly to: number } => {
  const to = dayOf(query, 'to', today)
  const from = dayOf(query, 'from', to - USUAL_DAYS + 1)
  if (from > to || to - from >= MOST_DAYS)
    throw new TrihandError('QUERY_UNKNOWN', `expected 1 to ${MOST_DAYS} days, from the first to the last`)
  return { from, to }
}

const byOf = (query: Query): readonly Dimension[] => {
  const given = (query.get('by') ?? DIMENSIONS.join(',')).split(',').filter((part) => part !== '')
  const unknown = given.find((part) => !DIMENSIONS.some((name) => name === part))
  if (unknown !== undefined)
    throw new TrihandError('QUERY_UNKNOWN', `by=${unknown}; expected one or more of ${DIMENSIONS.join(', ')}`)
  return DIMENSIONS.filter((name) => given.includes(name))
}

const costs: Handle = async ({ reader, tenant, tasks }, context, query) => {
  const by = byOf(query)
  const days = daysOf(query, Math.floor(tasks.now / DAY_MS))
  const rows = await bookOf(reader).rows(tenant, days, tasks.now)
  const document: Costs = {
    from: dayText(days.from),
    to: dayText(days.to),
    by,
    items: sumBy(rows, by).map(costDocument),
    total: spentDocument(total(rows)),
  }
  return context.json(document)
}

const usdOrNull = (micros: number | null): number | null => (micros === null ? null : micros / MICROS)

const perRun: Handle = async ({ reader, tenant, tasks }, context, query) => {
  const days = daysOf(query, Math.floor(tasks.now / DAY_MS))
  const spent = await bookOf(reader).runs(tenant, days, tasks.now, MOST_RUNS)
  const found = await Promise.all(spent.map(({ run }) => reader.run(tenant, run)))
  const statuses = new Map(found.flatMap((run) => (run === null ? [] : [[run.id, run.status] as const])))
  const { p50, p95, wasted, ...counts } = runCosts(spent, (run: RunId) => statuses.get(run) ?? null)
  const document: RunCosts = {
    from: dayText(days.from),
    to: dayText(days.to),
    looked_at: spent.length,
    ...counts,
    p50_usd: usdOrNull(p50),
    p95_usd: usdOrNull(p95),
    wasted_usd: wasted / MICROS,
  }
  return context.json(document)
}

const DAYS = {
  from: described('the first day of UTC, as 2026-01-31; usual: 30 days', text),
  to: described('the last day; usual: today', text),
}

export const costRoutes: readonly Operation[] = [
  {
    id: 'getCosts',
    method: 'get',
    path: '/api/costs',
    access: 'viewer',
    summary: 'Tokens and dollars of models, by day, agent and model',
    query: {
      by: described('some of day, agent, model, with commas between them', text),
      ...DAYS,
    },
    answers: { 200: json(ref('Costs')) },
    handle: costs,
  },
  {
    id: 'getRunCosts',
    method: 'get',
    path: '/api/costs/runs',
    access: 'viewer',
    summary: 'What a run costs: the middle and the expensive of those that ended well, and what the others wasted',
    query: DAYS,
    answers: { 200: json(ref('RunCosts')) },
    handle: perRun,
  },
]
