/**
 * Routes for tokens: create, list, revoke. The secret is only in the response that creates the token.
 *
 * Owns parsing and which tokens an administrator may see and revoke: those of their tenant; in the server's own tenant all.
 */
import { requireCaller, requirePerson } from '#http/access/identity.ts'
import { closed, described, list as listOf, page, ref, text, words } from '#http/openapi/schema.ts'
import { type Members, optionalText, readBody, textOf } from '#http/server/body.ts'
import { isoTime, isoTimeOrNull } from '#http/wire/time.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { type Caller, KINDS, ROLES } from '#model/access/identity.ts'
import { type TokenRecord, tokenStatus } from '#model/access/token.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT, type TenantId } from '#model/kernel/ids.ts'
import { body, type Handle, json, type Operation } from './route.ts'

const CODE = 'TOKEN_INVALID'

const CREATE = closed(
  { name: text, kind: words(KINDS), roles: listOf(words(ROLES)) },
  {
    groups: listOf(text),
    tenant: described("another than one's own only for administrators of the server", text),
    expires_in: described('a duration like 30d; 90d if not said', text),
  },
)

const tokenDocument = (token: TokenRecord, now: number) => ({
  id: token.id,
  tenant: token.tenant,
  name: token.name,
  kind: token.kind,
  roles: token.roles,
  groups: token.groups,
  status: tokenStatus(token, now),
  created_at: isoTime(token.createdAt),
  created_by: token.createdBy,
  expires_at: isoTime(token.expiresAt),
  revoked_at: isoTimeOrNull(token.revokedAt),
})

/** Null: the tokens of all tenants. */
const reachOf = ({ tenant }: Caller): TenantId | null => (tenant === LOCAL_TENANT ? null : tenant)

const tenantFor = (caller: Caller, given: string | undefined): string => {
  if (given === undefined || given === caller.tenant) return caller.tenant
  if (caller.tenant === LOCAL_TENANT) return given
  throw new TrihandError('TENANT_MISMATCH', `${caller.id} may only create tokens of the tenant ${caller.tenant}`)
}

const textsOf = (members: Members, name: string): readonly string[] => {
  const value = members[name] ?? []
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string'))
    throw new TrihandError(CODE, `${name} must be a list of texts`)
  return value as readonly string[]
}

const lifeOf = (members: Members): number | undefined => {
  const given = optionalText(members, 'expires_in', CODE)
  try {
    return given === undefined ? undefined : durationMs(given)
  } catch (error) {
    throw new TrihandError(CODE, `expires_in is "${given}"; expected a duration like 30d`, { cause: error })
  }
}

const create: Handle = async ({ tokens }, context) => {
  const caller = requireCaller(context)
  const members = await readBody(context, { schema: CREATE, code: CODE })
  const intent = {
    tenant: tenantFor(caller, optionalText(members, 'tenant', CODE)),
    name: textOf(members, 'name', CODE),
    kind: textOf(members, 'kind', CODE),
    roles: textsOf(members, 'roles'),
    groups: textsOf(members, 'groups'),
  }
  // Only a person may create a user token: with one an agent could decide.
  if (intent.kind === 'user') requirePerson(context, 'creates tokens of people')
  const { token, record: made } = await tokens.create(intent, caller.id, lifeOf(members))
  return context.json({ ...tokenDocument(made, tokens.now), token }, 201)
}

const list: Handle = async ({ tokens }, context) => {
  const found = await tokens.list(reachOf(requireCaller(context)))
  return context.json({ items: found.map((token) => tokenDocument(token, tokens.now)), next_cursor: null })
}

const revoke: Handle = async ({ tokens }, context) => {
  const revoked = await tokens.revoke(context.req.param('id') ?? '', reachOf(requireCaller(context)))
  return context.json(tokenDocument(revoked, tokens.now))
}

export const tokenRoutes: readonly Operation[] = [
  {
    id: 'listTokens',
    method: 'get',
    path: '/api/tokens',
    access: 'admin',
    summary: 'Tokens, newest first, without their secrets',
    answers: { 200: json(page(ref('Token'))) },
    handle: list,
  },
  {
    id: 'createToken',
    method: 'post',
    path: '/api/tokens',
    access: 'admin',
    summary: 'Makes a token; the answer is the only place where its secret is seen',
    body: body(CREATE),
    answersSecret: true,
    answers: { 201: json(ref('NewToken')) },
    problems: [CODE, 'TENANT_MISMATCH', 'AGENT_CANNOT_DECIDE', 'ANSWER_NOT_KEPT'],
    handle: create,
  },
  {
    id: 'revokeToken',
    method: 'delete',
    path: '/api/tokens/{id}',
    access: 'admin',
    summary: 'Ends a token, from the next request on',
    answers: { 200: json(ref('Token')) },
    problems: ['NOT_FOUND'],
    handle: revoke,
  },
]
