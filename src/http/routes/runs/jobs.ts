/**
 * Routes for bulk jobs: one command to many runs, and its progress.
 *
 * Owns parsing and responses. What a command may be, and which runs it applies to, is model/run/bulk.ts.
 */
import { callerName, requireCaller } from '#http/access/identity.ts'
import { BULK_RUNS } from '#http/documents/jobs.ts'
import type { Job } from '#http/openapi/api.ts'
import { ref } from '#http/openapi/schema.ts'
import { body, type Handle, json, type Operation } from '#http/routes/route.ts'
import { type Members, optionalText, readBody, textOf } from '#http/server/body.ts'
import { findRun } from '#http/server/run-id.ts'
import type { Service } from '#http/server/service.ts'
import { askedRun } from '#http/server/work.ts'
import { runDocument } from '#http/wire/wire.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isJsonRecord } from '#model/kernel/json.ts'
import { type BulkIntent, failedOf } from '#model/run/bulk.ts'
import type { JobView } from '#modes/jobs.ts'

const CODE = 'INPUT_INVALID'

const whereOf = ({ where }: Members): BulkIntent['where'] => {
  if (where === undefined) return null
  if (!isJsonRecord(where)) throw new TrihandError(CODE, 'where must be an object: {"status": "waiting"}')
  return where
}

const idsOf = ({ ids }: Members): readonly string[] | null => {
  if (ids === undefined) return null
  if (!Array.isArray(ids) || ids.some((id) => typeof id !== 'string'))
    throw new TrihandError(CODE, 'ids must be a list of texts')
  return ids as readonly string[]
}

const termsOf = (where: JobView['job']['where']): Job['where'] =>
  where === null
    ? null
    : (Object.fromEntries(Object.entries(where).filter(([, value]) => value !== null)) as Job['where'])

const jobDocument = ({ job, run }: JobView): Job => {
  const { id, status, created_at } = runDocument(run)
  const { action, reason, by, progress } = job
  return {
    ...{ id, action, where: termsOf(job.where), reason, by, status },
    total: progress.total,
    is_total_known: progress.isWhole,
    done: progress.done,
    failed: failedOf(progress),
    failures: progress.failures,
    created_at,
  }
}

const showJob = async ({ jobs }: Service, id: string): Promise<Job> => jobDocument(await jobs.show(id))

const begin: Handle = async (service, context) => {
  const members = await readBody(context, { schema: BULK_RUNS, code: CODE })
  const id = await service.jobs.begin(
    {
      action: textOf(members, 'action', CODE),
      where: whereOf(members),
      ids: idsOf(members),
      reason: optionalText(members, 'reason', CODE) ?? null,
      by: callerName(context),
      kind: requireCaller(context).kind,
    },
    askedRun(context),
  )
  return context.json(await showJob(service, id), 202, { location: `/api/jobs/${id}` })
}

const show: Handle = async (service, context) => {
  const { id } = await findRun(service, context.req.param('id') ?? '')
  return context.json(await showJob(service, id))
}

export const jobRoutes: readonly Operation[] = [
  {
    id: 'bulkRuns',
    method: 'post',
    path: '/api/runs/bulk',
    access: 'operator',
    summary: 'Cancels, retries, pauses or resumes many runs; a job that goes on by itself',
    body: body(BULK_RUNS),
    answers: { 202: json(ref('Job')) },
    problems: ['INPUT_INVALID'],
    handle: begin,
  },
  {
    id: 'getJob',
    method: 'get',
    path: '/api/jobs/{id}',
    access: 'viewer',
    summary: 'How far a job has come: done, failed and why, found so far',
    answers: { 200: json(ref('Job')) },
    problems: ['ID_AMBIGUOUS'],
    handle: show,
  },
]
