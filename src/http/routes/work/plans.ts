/**
 * Routes for plans: draft, show, revise, approve, discard, run.
 *
 * Owns parsing and responses. What may happen to a plan is decided by model/plan/draft.ts.
 */
import type { Context } from 'hono'
import { askedBy, askingOf, callerName, requireIdentity, requirePerson } from '#http/access/identity.ts'
import { APPROVE_PLAN, RUN_PLAN, WRITE_PLAN } from '#http/documents/plans.ts'
import { nothing, PAGING, page, ref } from '#http/openapi/schema.ts'
import { body, type Handle, json, type Operation, optionalBody } from '#http/routes/route.ts'
import { readBody, readOptionalBody, textOf } from '#http/server/body.ts'
import { limitOf, pageOf } from '#http/server/query.ts'
import type { Service } from '#http/server/service.ts'
import { tagOf, versionWanted } from '#http/server/version.ts'
import { askedRun, uuidOfWork } from '#http/server/work.ts'
import { planDocument, planSummary } from '#http/wire/plan.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { planId } from '#model/kernel/ids.ts'
import type { PlanDraft } from '#model/plan/draft.ts'

const CODE = 'INPUT_INVALID'
const AT = '/api/plans/{id}'
const PLAN = json(ref('Plan'))

/** A plan that a program submits may have been written by a model. */
const writerOf = (context: Context): { readonly by: string; readonly author: 'model' | 'person' } => ({
  by: callerName(context),
  author: askingOf(context)?.caller.kind === 'user' ? 'person' : 'model',
})

const idOf = (context: Context): string => context.req.param('id') ?? ''

const answer = async ({ plans }: Service, context: Context, plan: PlanDraft, status: 200 | 201 = 200) =>
  context.json(planDocument(plan, await plans.runs(plan.id)), status, { etag: tagOf(plan.version) })

const list: Handle = async ({ plans }, context, query) => {
  const limit = limitOf(query)
  const found = await plans.list({ after: query.get('cursor') ?? null, limit: limit + 1 })
  return context.json(pageOf(found, limit, { item: planSummary, cursor: ({ id }) => id }))
}

const make: Handle = async (service, context) => {
  const given = await readBody(context, { schema: WRITE_PLAN, code: CODE })
  const uuid = uuidOfWork(context)
  const id = uuid === undefined ? [] : [planId(uuid)]
  const plan = await service.plans.propose({ ...given } as never, writerOf(context), ...id)
  context.header('location', `/api/plans/${plan.id}`)
  return answer(service, context, plan, 201)
}

const show: Handle = async (service, context) => answer(service, context, await service.plans.show(idOf(context)))

const revise: Handle = async (service, context) => {
  const given = await readBody(context, { schema: WRITE_PLAN, code: CODE })
  const version = versionWanted(context)
  if (version === null)
    throw new TrihandError('PRECONDITION_REQUIRED', 'a revision needs the version that it is based on')
  return answer(
    service,
    context,
    await service.plans.revise(idOf(context), { ...given } as never, { ...writerOf(context), version }),
  )
}

const approve: Handle = async (service, context) => {
  const hash = textOf(await readBody(context, { schema: APPROVE_PLAN, code: CODE }), 'hash', CODE)
  return answer(service, context, await service.plans.approve(idOf(context), hash, requireIdentity(context)))
}

const discard: Handle = async (service, context) => {
  await readOptionalBody(context, { schema: nothing, code: CODE })
  return answer(service, context, await service.plans.discard(idOf(context), callerName(context)))
}

const run: Handle = async ({ plans }, context) => {
  const { input } = await readOptionalBody(context, { schema: RUN_PLAN, code: CODE })
  const { id, current } = await plans.show(idOf(context))
  // The approval is valid for every run of the plan, and the input reaches the steps: an agent could apply the approval to input that no
  // person saw.
  requirePerson(context, 'runs an approved plan')
  const started = await plans.run(id, input, { ...askedRun(context), ...askedBy(context) })
  return context.json({ id: started, plan_id: id, hash: current.hash }, 201, { location: `/api/runs/${started}` })
}

export const planRoutes: readonly Operation[] = [
  {
    id: 'listPlans',
    method: 'get',
    path: '/api/plans',
    access: 'viewer',
    summary: 'Plans that people have written down, newest first',
    query: PAGING,
    answers: { 200: json(page(ref('PlanSummary'))) },
    problems: ['CURSOR_INVALID'],
    handle: list,
  },
  {
    id: 'makePlan',
    method: 'post',
    path: '/api/plans',
    access: 'operator',
    summary: 'Writes a plan down as a draft, with its errors by line; nothing is done',
    body: body(WRITE_PLAN),
    answers: { 201: PLAN },
    problems: ['INPUT_INVALID', 'PLAN_QUESTION'],
    handle: make,
  },
  {
    id: 'getPlan',
    method: 'get',
    path: AT,
    access: 'viewer',
    summary: 'One plan as it is now, with its last runs',
    answers: { 200: PLAN },
    handle: show,
  },
  {
    id: 'revisePlan',
    method: 'put',
    path: AT,
    access: 'operator',
    summary:
      'Makes a new revision of the version that If-Match names; an approval of the one before does not count for it',
    body: body(WRITE_PLAN),
    answers: { 200: PLAN },
    problems: ['INPUT_INVALID', 'PLAN_QUESTION', 'PRECONDITION_FAILED', 'PRECONDITION_REQUIRED'],
    handle: revise,
  },
  {
    id: 'approvePlan',
    method: 'post',
    path: `${AT}/approve`,
    access: 'decider',
    summary: 'Approves exactly the revision with this hash; only a person can',
    body: body(APPROVE_PLAN),
    answers: { 200: PLAN },
    problems: [
      'INPUT_INVALID',
      'PLAN_STALE',
      'PLAN_SYNTAX',
      'PLAN_CYCLE',
      'PLAN_BAD_REF',
      'PLAN_UNASSIGNED',
      'MANIFEST_INVALID',
      'EXPR_REJECTED',
    ],
    handle: approve,
  },
  {
    id: 'discardPlan',
    method: 'post',
    path: `${AT}/discard`,
    access: 'operator',
    summary: 'Puts a plan aside; a revision brings it back',
    body: optionalBody(nothing),
    answers: { 200: PLAN },
    problems: ['INPUT_INVALID'],
    handle: discard,
  },
  {
    id: 'runPlan',
    method: 'post',
    path: `${AT}/runs`,
    access: 'operator',
    summary: 'Starts a run of what was approved; only a person can',
    body: optionalBody(RUN_PLAN),
    answers: { 201: json(ref('PlanRun')) },
    problems: ['INPUT_INVALID', 'PLAN_NOT_APPROVED', 'PLAN_STALE', 'AGENT_CANNOT_DECIDE'],
    handle: run,
  },
]
