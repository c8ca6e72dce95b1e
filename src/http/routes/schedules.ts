/**
 * Schedules over HTTP: listed, shown, paused and resumed, run now, filled in; and handlers paused and resumed.
 *
 * Owns parsing and answers. What a verb does is the engine's (schedules.ts).
 */
import type { Context } from 'hono'
import { TrihandError } from '../../model/errors.ts'
import type { Instant } from '../../model/ids.ts'
import { type Members, optionalText, readBody, readOptionalBody, textOf } from '../body.ts'
import { readQuery } from '../query.ts'
import type { Service } from '../service.ts'
import { scheduleDocument } from '../wire-schedule.ts'
import { parseIsoTime } from '../wire-time.ts'
import type { Route } from './route.ts'

const BY = 'local'
const CODE = 'INPUT_INVALID'

const nameOf = (context: Context): string => context.req.param('name') ?? ''

const list = async ({ schedules }: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  return context.json({ items: (await schedules.list()).map(scheduleDocument), next_cursor: null })
}

const show = async ({ schedules }: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  return context.json(scheduleDocument(await schedules.show(nameOf(context))))
}

type Verb = (name: string, body: Members) => Promise<void>

/** Does what the verb says, then answers the schedule as it stands. */
const verb =
  (service: Service, known: readonly string[], does: Verb) =>
  async (context: Context): Promise<Response> => {
    readQuery(context, [])
    const body = await (known.includes('from') ? readBody : readOptionalBody)(context, { known, code: CODE })
    await does(nameOf(context), body)
    return context.json(scheduleDocument(await service.schedules.show(nameOf(context))))
  }

const idOf = (body: Members): { readonly id?: string } => {
  const id = optionalText(body, 'id', CODE)
  return id === undefined ? {} : { id }
}

const instantOf = (body: Members, name: string): Instant => {
  const instant = parseIsoTime(textOf(body, name, CODE))
  if (instant === null)
    throw new TrihandError(
      'INSTANT_WITHOUT_ZONE',
      `${name} must be an instant with its offset, as 2026-01-31T08:00:00Z`,
    )
  return instant
}

const handlerVerb =
  (does: (name: string) => Promise<void>) =>
  async (context: Context): Promise<Response> => {
    readQuery(context, [])
    await readOptionalBody(context, { known: [], code: CODE })
    await does(nameOf(context))
    return context.json({ handler: nameOf(context) })
  }

export const scheduleRoutes = (service: Service): readonly Route[] => {
  const { schedules, handlers } = service
  const at = '/api/schedules/:name'
  return [
    { path: '/api/schedules', get: (context) => list(service, context) },
    { path: at, get: (context) => show(service, context) },
    { path: `${at}/pause`, post: verb(service, [], (name) => schedules.pause(name, { by: BY })) },
    { path: `${at}/resume`, post: verb(service, [], (name) => schedules.resume(name, { by: BY })) },
    {
      path: `${at}/run`,
      post: verb(service, ['id'], (name, body) => schedules.runNow(name, { by: BY, ...idOf(body) })),
    },
    {
      path: `${at}/backfill`,
      post: verb(service, ['id', 'from', 'to'], (name, body) =>
        schedules.backfill(name, { by: BY, ...idOf(body), from: instantOf(body, 'from'), to: instantOf(body, 'to') }),
      ),
    },
    { path: '/api/handlers/:name/pause', post: handlerVerb((name) => handlers.pause(name, { by: BY })) },
    { path: '/api/handlers/:name/resume', post: handlerVerb((name) => handlers.resume(name, { by: BY })) },
  ]
}
