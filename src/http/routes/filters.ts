/**
 * Routes for a person's own saved filters: list, create, change, remove.
 *
 * Owns parsing, and the rule that a change names the version it replaces. The rules of a filter are in model/kernel/saved-filter.ts.
 */
import type { Context } from 'hono'
import type { FilterOwner } from '#engine/services/filters.ts'
import { callerName } from '#http/access/identity.ts'
import { SAVE_FILTER } from '#http/documents/filters.ts'
import type { SavedFilter as FilterDocument } from '#http/openapi/api.ts'
import { page, ref } from '#http/openapi/schema.ts'
import { readBody, textOf } from '#http/server/body.ts'
import type { Service } from '#http/server/service.ts'
import { requireVersion, tagOf } from '#http/server/version.ts'
import { uuidOfWork } from '#http/server/work.ts'
import { isoTime } from '#http/wire/time.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { FilterIntent, SavedFilter } from '#model/kernel/saved-filter.ts'
import { body, type Handle, json, type Operation } from './route.ts'

const CODE = 'INPUT_INVALID'

const ownerOf = ({ tenant }: Service, context: Context): FilterOwner => ({ tenant, person: callerName(context) })

const filterDocument = ({ createdAt, updatedAt, ...filter }: SavedFilter): FilterDocument => ({
  ...filter,
  created_at: isoTime(createdAt),
  updated_at: isoTime(updatedAt),
})

const intentOf = async (context: Context): Promise<FilterIntent> => {
  const members = await readBody(context, { schema: SAVE_FILTER, code: CODE })
  return {
    name: textOf(members, 'name', CODE),
    screen: textOf(members, 'screen', CODE),
    terms: members['terms'] ?? null,
  }
}

const answer = (context: Context, filter: SavedFilter, status: 200 | 201): Response =>
  context.json(filterDocument(filter), status, { etag: tagOf(filter.version) })

const list: Handle = async (service, context) => {
  const filters = await service.filters.list(ownerOf(service, context))
  return context.json({ items: filters.map(filterDocument), next_cursor: null })
}

const create: Handle = async (service, context) =>
  answer(
    context,
    await service.filters.create(ownerOf(service, context), await intentOf(context), uuidOfWork(context)),
    201,
  )

const idOf = (context: Context): string => context.req.param('id') ?? ''

const show: Handle = async (service, context) =>
  answer(context, await service.filters.show(ownerOf(service, context), idOf(context)), 200)

const replace: Handle = async (service, context) => {
  const owner = ownerOf(service, context)
  const seen = await service.filters.show(owner, idOf(context))
  if (context.req.header('if-match') === undefined)
    throw new TrihandError('PRECONDITION_REQUIRED', `the filter is at version ${seen.version}; name it in If-Match`)
  requireVersion(context, seen.version)
  return answer(context, await service.filters.replace(owner, seen, await intentOf(context)), 200)
}

const remove: Handle = async (service, context) => {
  const owner = ownerOf(service, context)
  const seen = await service.filters.show(owner, idOf(context))
  requireVersion(context, seen.version)
  await service.filters.remove(owner, seen)
  return context.body(null, 204)
}

const AT = '/api/filters/{id}'
const one = { 200: json(ref('SavedFilter')) }

export const filterRoutes: readonly Operation[] = [
  {
    id: 'listFilters',
    method: 'get',
    path: '/api/filters',
    access: 'viewer',
    summary: "One's own saved filters, by name",
    answers: { 200: json(page(ref('SavedFilter'))) },
    handle: list,
  },
  {
    id: 'createFilter',
    method: 'post',
    path: '/api/filters',
    access: 'viewer',
    summary: 'Saves a filter under a name',
    body: body(SAVE_FILTER),
    answers: { 201: json(ref('SavedFilter')) },
    problems: ['INPUT_INVALID'],
    handle: create,
  },
  {
    id: 'getFilter',
    method: 'get',
    path: AT,
    access: 'viewer',
    summary: 'One saved filter',
    answers: { ...one, 304: null },
    handle: show,
  },
  {
    id: 'replaceFilter',
    method: 'put',
    path: AT,
    access: 'viewer',
    summary: 'Changes a saved filter; If-Match names the version that was seen',
    body: body(SAVE_FILTER),
    answers: one,
    problems: ['INPUT_INVALID', 'PRECONDITION_FAILED', 'PRECONDITION_REQUIRED'],
    handle: replace,
  },
  {
    id: 'removeFilter',
    method: 'delete',
    path: AT,
    access: 'viewer',
    summary: 'Removes a saved filter',
    answers: { 204: null },
    problems: ['PRECONDITION_FAILED'],
    handle: remove,
  },
]
