/**
 * Routes for reruns: a preview of what would run again, and the rerun itself.
 *
 * Owns parsing and responses. Which steps are reused and which run again is decided by the model, not here.
 */
import { requireCaller } from '#http/access/identity.ts'
import { RERUN_RUN } from '#http/documents/runs.ts'
import { described, record, ref, text, words } from '#http/openapi/schema.ts'
import { type Handle, json, type Operation, optionalBody } from '#http/routes/route.ts'
import { optionalText, readOptionalBody } from '#http/server/body.ts'
import { choiceOf } from '#http/server/query.ts'
import { findRun } from '#http/server/run-id.ts'
import { requireVersion } from '#http/server/version.ts'
import { askedRun } from '#http/server/work.ts'
import { TrihandError } from '#model/kernel/errors.ts'

const CODE = 'INPUT_INVALID'
const BOOLEANS = ['true', 'false'] as const

const preview: Handle = async (service, context, query) => {
  const { id } = await findRun(service, context.req.param('id') ?? '')
  const from = query.get('from') ?? null
  const isChanged = choiceOf(query, 'changed', BOOLEANS) === 'true'
  const { handler, input, reused, again } = await service.reruns.preview(id, from, isChanged)
  return context.json({ id, handler, from, input, reused, again })
}

const rerun: Handle = async (service, context) => {
  const old = await findRun(service, context.req.param('id') ?? '')
  // A rerun does not change the old run, so the version that the caller saw is also valid when this request is attempted again.
  requireVersion(context, old.version)
  const members = await readOptionalBody(context, { schema: RERUN_RUN, code: CODE })
  const { input, reuse_decisions: decisions = false } = members
  if (typeof decisions !== 'boolean') throw new TrihandError(CODE, 'reuse_decisions must be true or false')
  const from = optionalText(members, 'from', CODE)
  const { id: by, kind } = requireCaller(context)
  const id = await service.reruns.rerun(old.id, {
    by,
    kind,
    decisions,
    ...askedRun(context),
    ...(from !== undefined && { from }),
    ...(input !== undefined && { input }),
  })
  return context.json({ id }, 201, { location: `/api/runs/${id}` })
}

const PATH = '/api/runs/{id}/rerun'

export const rerunRoutes: readonly Operation[] = [
  {
    id: 'previewRerun',
    method: 'get',
    path: PATH,
    access: 'viewer',
    summary: 'What a rerun would do again, and which results would stand',
    query: {
      from: described('the first step that is done again; absent: everything is', text),
      changed: described('true: with another input, for which people are asked anew', words(BOOLEANS)),
    },
    answers: { 200: json(ref('RerunPreview')) },
    problems: ['ID_AMBIGUOUS', 'STEP_NOT_REACHED', 'RUN_AT_WORK'],
    handle: preview,
  },
  {
    id: 'rerunRun',
    method: 'post',
    path: PATH,
    access: 'operator',
    summary: 'Runs a run once more as a new one; what was finished before a step stands, the rest is done again',
    body: optionalBody(RERUN_RUN),
    answers: { 201: json(record({ id: text })) },
    problems: [
      'INPUT_INVALID',
      'ID_AMBIGUOUS',
      'PRECONDITION_FAILED',
      'STEP_NOT_REACHED',
      'RUN_AT_WORK',
      'AGENT_CANNOT_DECIDE',
      'FUNCTION_INTERNAL',
      'EXPR_FAILED',
    ],
    handle: rerun,
  },
]
