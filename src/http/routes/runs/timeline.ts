/**
 * Routes for the timeline of a run: its facts in short, and one step at a time in full.
 *
 * Owns parsing and responses. Facts never change, so a reader continues from the cursor it had reached.
 */
import type { Timeline } from '#http/openapi/api.ts'
import { described, PAGING, ref, text } from '#http/openapi/schema.ts'
import { type Handle, json, type Operation } from '#http/routes/route.ts'
import { positionOf } from '#http/server/query.ts'
import { findRun } from '#http/server/run-id.ts'
import { markOf } from '#http/wire/marks.ts'
import { stepDetail } from '#http/wire/step-detail.ts'
import { runDocument } from '#http/wire/wire.ts'

/** Marks are short: a run of five thousand steps can be read with three requests. */
const MOST_MARKS = 2_000

const timeline: Handle = async (service, context, query) => {
  const { reader, tenant, system } = service
  const run = await findRun(service, context.req.param('id') ?? '')
  const after = positionOf(query) ?? 0
  const facts = await reader.facts(tenant, run.id, { after, limit: MOST_MARKS + 1 })
  const { id, handler, status } = runDocument(run)
  const document: Timeline = {
    ...{ id, handler, status },
    items: facts
      .slice(0, MOST_MARKS)
      .map((fact, i) => markOf(fact, after + i, (name) => system.functions.get(name)?.modality ?? null)),
    next_cursor: facts.length > MOST_MARKS ? String(after + MOST_MARKS) : null,
  }
  return context.json(document)
}

const step: Handle = async (service, context, query) => {
  const run = await findRun(service, context.req.param('id') ?? '')
  return context.json(await stepDetail(service, run, query.get('name') ?? null))
}

export const timelineRoutes: readonly Operation[] = [
  {
    id: 'getTimeline',
    method: 'get',
    path: '/api/runs/{id}/timeline',
    access: 'viewer',
    summary: 'What became of a run and its steps when: its facts in short, at most 2,000 at once',
    query: { cursor: PAGING.cursor },
    answers: { 200: json(ref('Timeline')) },
    problems: ['ID_AMBIGUOUS', 'CURSOR_INVALID'],
    handle: timeline,
  },
  {
    id: 'getStep',
    method: 'get',
    path: '/api/runs/{id}/step',
    access: 'viewer',
    summary: 'One step of a run, or the run as a whole: what it was given, asked, used and answered',
    query: { name: described('of the step; absent: the run as a whole', text) },
    answers: { 200: json(ref('StepDetail')) },
    problems: ['ID_AMBIGUOUS'],
    handle: step,
  },
]
