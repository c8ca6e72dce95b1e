/**
 * Routes for schedules: list, show, pause, resume, run now, backfill; and for pausing and resuming handlers.
 *
 * Owns parsing and responses. The commands themselves are executed by the engine.
 */
import type { Context } from 'hono'
import { askedBy, callerName } from '#http/access/identity.ts'
import { BACKFILL, PAUSE, RUN_NOW } from '#http/documents/schedules.ts'
import { described, nothing, type ObjectSchema, PAGING, page, record, ref, text, words } from '#http/openapi/schema.ts'
import { body, type Handle, json, type Operation, optionalBody } from '#http/routes/route.ts'
import { type Members, optionalText, readBody, readOptionalBody, textOf } from '#http/server/body.ts'
import { choiceOf, limitOf } from '#http/server/query.ts'
import type { Service } from '#http/server/service.ts'
import { uuidOfWork } from '#http/server/work.ts'
import { backfillDocument, scheduleDocument, slotDocument } from '#http/wire/schedule.ts'
import { parseIsoTime } from '#http/wire/time.ts'
import { requestersOf } from '#model/access/requester.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant } from '#model/kernel/ids.ts'

const CODE = 'INPUT_INVALID'

const nameOf = (context: Context): string => context.req.param('name') ?? ''

const list: Handle = async ({ schedules }, context) =>
  context.json({ items: await Promise.all((await schedules.list()).map(scheduleDocument)), next_cursor: null })

const show: Handle = async ({ schedules }, context) =>
  context.json(await scheduleDocument(await schedules.show(nameOf(context))))

const slots: Handle = async ({ schedules }, context, query) => {
  const found = await schedules.slots(nameOf(context), limitOf(query))
  return context.json({ items: found.map(slotDocument), next_cursor: null })
}

type Schedules = Service['schedules']
type Who = { readonly by: string; readonly requester: string | null }

type Asked = Who & { readonly members: Members; readonly request: { readonly id?: string } }
type Verb = (schedules: Schedules, name: string, asked: Asked) => Promise<void>

const whoAsks = (context: Context): Who => {
  const [requester = null] = requestersOf(askedBy(context)).requesters ?? []
  return { by: callerName(context), requester }
}

/** Executes the command, then answers the current schedule. */
const verb =
  (schema: ObjectSchema, does: Verb): Handle =>
  async ({ schedules }, context) => {
    const members = await (schema === BACKFILL ? readBody : readOptionalBody)(context, { schema, code: CODE })
    await does(schedules, nameOf(context), { ...whoAsks(context), members, request: idOf(context, members) })
    return context.json(await scheduleDocument(await schedules.show(nameOf(context))))
  }

/** The same id is the same request. Without an id in the body, the id is derived from the idempotency key. */
const idOf = (context: Context, members: Members): { readonly id?: string } => {
  const id = optionalText(members, 'id', CODE) ?? uuidOfWork(context)
  return id === undefined ? {} : { id }
}

const instantOf = (members: Members, name: string): Instant => {
  const instant = parseIsoTime(textOf(members, name, CODE))
  if (instant === null)
    throw new TrihandError(
      'INSTANT_WITHOUT_ZONE',
      `${name} must be an instant with its offset, like 2026-01-31T08:00:00Z`,
    )
  return instant
}

const handlerVerb =
  (does: 'pause' | 'resume'): Handle =>
  async ({ handlers }, context) => {
    await readOptionalBody(context, { schema: nothing, code: CODE })
    await handlers[does](nameOf(context), { by: callerName(context) })
    return context.json({ handler: nameOf(context) })
  }

const AT = '/api/schedules/{name}'
const answers = { 200: json(ref('Schedule')) }

const command = (id: string, path: string, summary: string, handle: Handle): Operation => ({
  id,
  method: 'post',
  path,
  access: 'operator',
  summary,
  body: optionalBody(nothing),
  answers,
  problems: ['INPUT_INVALID'],
  handle,
})

const pause = verb(PAUSE, (schedules, name, { by, members }) => {
  const note = optionalText(members, 'reason', CODE)
  return schedules.pause(name, { by, ...(note === undefined ? {} : { note }) })
})
const resume = verb(nothing, (schedules, name, { by }) => schedules.resume(name, { by }))
const runNow = verb(RUN_NOW, (schedules, name, { by, requester, request }) =>
  schedules.runNow(name, { by, requester, ...request }),
)
const spanOf = (members: Members) => ({ from: instantOf(members, 'from'), to: instantOf(members, 'to') })
const fill = verb(BACKFILL, (schedules, name, { by, requester, members, request }) =>
  schedules.backfill(name, { by, requester, ...request, ...spanOf(members) }),
)

const backfill: Handle = async (service, context, query) => {
  if (choiceOf(query, 'dry_run', ['true', 'false']) !== 'true') return fill(service, context, query)
  const members = await readBody(context, { schema: BACKFILL, code: CODE })
  const found = await service.schedules.rehearseBackfill(nameOf(context), spanOf(members))
  return context.json(backfillDocument(found))
}

const handlerAnswers = { 200: json(record({ handler: text })) }

export const scheduleRoutes: readonly Operation[] = [
  {
    id: 'listSchedules',
    method: 'get',
    path: '/api/schedules',
    access: 'viewer',
    summary: 'Schedules, with their next slots',
    answers: { 200: json(page(ref('Schedule'))) },
    handle: list,
  },
  {
    id: 'getSchedule',
    method: 'get',
    path: AT,
    access: 'viewer',
    summary: 'One schedule',
    answers,
    problems: ['NOT_FOUND'],
    handle: show,
  },
  {
    id: 'listSlots',
    method: 'get',
    path: `${AT}/slots`,
    access: 'viewer',
    summary: 'What became of its last slots, oldest first: how each run ended, or why there was none',
    query: { limit: PAGING.limit },
    answers: { 200: json(page(ref('ScheduleSlot'))) },
    problems: ['NOT_FOUND'],
    handle: slots,
  },
  {
    ...command('pauseSchedule', `${AT}/pause`, 'Lets no slot of it fire', pause),
    body: optionalBody(PAUSE),
  },
  command('resumeSchedule', `${AT}/resume`, 'Lets it fire again', resume),
  {
    ...command('runSchedule', `${AT}/run`, 'Starts one run of it now, beside its slots', runNow),
    body: optionalBody(RUN_NOW),
    problems: ['INPUT_INVALID', 'SCHEDULE_ENDED', 'RUN_EXISTS', 'RUN_BACKLOG_FULL'],
  },
  {
    ...command('backfillSchedule', `${AT}/backfill`, 'Starts the runs of slots that have passed', backfill),
    query: { dry_run: described('true: only says how many there would be', words(['true', 'false'])) },
    body: body(BACKFILL),
    answers: { 200: json({ anyOf: [ref('Schedule'), ref('BackfillCount')] }) },
    problems: ['INPUT_INVALID', 'INSTANT_WITHOUT_ZONE', 'SCHEDULE_ENDED', 'RUN_EXISTS', 'RUN_BACKLOG_FULL'],
  },
  {
    ...command('pauseHandler', '/api/handlers/{name}/pause', 'Starts no run of a handler', handlerVerb('pause')),
    answers: handlerAnswers,
  },
  {
    ...command('resumeHandler', '/api/handlers/{name}/resume', 'Starts its runs again', handlerVerb('resume')),
    answers: handlerAnswers,
  },
]
