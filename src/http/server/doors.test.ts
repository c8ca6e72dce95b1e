/**
 * Every entry point for a decision, with every kind of credential, every set of roles and every way of sending it.
 *
 * An entry point is an operation of the HTTP API, an MCP tool or a call of the embedding API. For each the test knows who may pass; all
 * others are refused with a permission error. At the end nothing was decided but what people decided.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { authSettings } from '#http/access/auth-settings.ts'
import { KINDS, type Kind, ROLES, type Role } from '#model/access/identity.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'
import {
  type Door,
  did,
  doorsOf,
  furnish,
  type Headers,
  type Places,
  SYSTEM,
} from '#test/support/serving/deciding-doors.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'
import { listen } from './server.ts'

const REFUSALS: ReadonlySet<string> = new Set<ErrorCode>([
  ...(['UNAUTHENTICATED', 'ROLE_MISSING', 'AGENT_CANNOT_DECIDE', 'EVENT_HUMAN_ONLY', 'FUNCTION_INTERNAL'] as const),
])
const AUTH = authSettings({ host: '127.0.0.1', publicUrl: 'https://th.example' }, 'k'.repeat(32))
const OWN = { host: 'th.example', origin: 'https://th.example' }
const EVERY_ROLE: readonly (readonly Role[])[] = Array.from({ length: 2 ** ROLES.length - 1 }, (_, n) =>
  ROLES.filter((_role, bit) => ((n + 1) & (1 << bit)) !== 0),
)

let app: HttpApp
let local: HttpApp
beforeAll(async () => {
  app = await openApp(SYSTEM, undefined, { auth: AUTH })
  local = await openApp(SYSTEM)
})
afterAll(async () => {
  await app.close()
  await local.close()
})

/** Operations that could carry a decision although they require another role than decider: each one is tested. */
const WALKED: ReadonlySet<string> = new Set([
  ...['sendEvent', 'startRun', 'rerunRun', 'sendMessage', 'createToken', 'runPlan', 'retryRun'],
])
/** All other operations that change something. A new operation belongs here or above. */
const DECIDES_NOTHING: readonly string[] = [
  ...'backfillSchedule bulkRuns cancelEvent cancelRun createFilter discardPlan drainWorker liftStop logIn logOut makePlan pauseHandler pauseRun pauseSchedule pauseWorker putMessage receiveWebhook'.split(
    ' ',
  ),
  ...'redeliverWebhook rehearseEvent removeFilter replaceFilter replayWebhook resetCircuit resumeHandler resumeRun resumeSchedule resumeWorker reviveMessages revisePlan revokeToken runSchedule stopChat stopEverything validateManifest'.split(
    ' ',
  ),
]

interface Bearer {
  readonly kind: Kind
  readonly roles: readonly Role[]
  readonly token: string
}

const credentials = async (): Promise<readonly Bearer[]> => {
  const found: Bearer[] = []
  for (const kind of KINDS)
    for (const roles of EVERY_ROLE) {
      const made = app.trihand.tokens.create(
        { tenant: 'local', name: `${kind}-${roles}`, kind, roles, groups: ['editors'] },
        'test',
      )
      if (kind !== 'user' && roles.includes('decider'))
        await expect(made).rejects.toMatchObject({ code: 'TOKEN_INVALID' })
      else found.push({ kind, roles, token: (await made).token })
    }
  return found
}

const loggedIn = async (token: string): Promise<string> => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...OWN }
  const done = await app.open('/login', { method: 'POST', headers, body: new URLSearchParams({ token }).toString() })
  return (done.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

/** The ways to send a credential, and the kind of caller that each results in. */
const carried = async ({ kind, token }: Bearer): Promise<readonly (readonly [string, Headers, Kind])[]> => {
  const authorization = `Bearer ${token}`
  const claims = { 'x-trihand-kind': 'user', 'x-trihand-user': 'ana', 'x-trihand-groups': 'editors' }
  const cookie = { cookie: await loggedIn(token), ...OWN }
  return [
    ['bearer', { authorization }, kind],
    ['bearer that says it is a person', { authorization, ...claims }, kind],
    ['bearer that says it is an agent', { authorization, 'x-trihand-kind': 'agent' }, kind === 'user' ? 'agent' : kind],
    ['bearer that says two kinds', { authorization, 'x-trihand-kind': 'agent, user' }, 'agent'],
    ['login', cookie, kind],
    ['login that says it is a person', { ...cookie, ...claims }, kind],
  ]
}

const mayPass = ({ needs }: Door, kind: Kind, roles: readonly Role[]): boolean =>
  needs !== null && kind === 'user' && needs.every((role) => roles.includes(role))

const passed = (code: string | null): boolean => code === null || !REFUSALS.has(code)

const countsOf = (words: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...new Set(words)].map((word) => [word, words.filter((one) => one === word).length]))

interface Walker {
  readonly as: readonly unknown[]
  readonly headers: Headers
  readonly kind: Kind
  readonly roles: readonly Role[]
}

/** On loopback a caller has all roles and the kind that it claims. */
const LOCALS: readonly Walker[] = KINDS.map((kind) => ({
  as: ['loopback', kind],
  headers: { 'x-trihand-user': 'ana', 'x-trihand-groups': 'editors', 'x-trihand-kind': kind },
  kind,
  roles: ROLES,
}))

const withCredentials = async (): Promise<readonly Walker[]> => {
  const found: Walker[] = []
  for (const bearer of await credentials())
    for (const [way, headers, kind] of await carried(bearer))
      found.push({ as: [way, bearer.kind, bearer.roles], headers, kind, roles: bearer.roles })
  return found
}

/** Returns how often each entry point was passed. */
const walk = async (
  places: Places,
  doors: readonly Door[],
  walkers: readonly Walker[],
): Promise<Map<string, number>> => {
  const tally = new Map<string, number>()
  for (const { as, headers, kind, roles } of walkers)
    for (const door of doors) {
      const isExpected = mayPass(door, kind, roles)
      const code = await door.knock(headers, isExpected ? places.open : places.still)
      expect([door.name, ...as, code, passed(code)]).toEqual([door.name, ...as, code, isExpected])
      if (isExpected) tally.set(door.name, (tally.get(door.name) ?? 0) + 1)
    }
  return tally
}

test('identity-2: [C5] no entry point accepts a decision that is not a person’s, with any credential, role or way of sending it (13.1.2)', async () => {
  const [places, nearby] = [await furnish(app), await furnish(local)]
  const [doors, localDoors] = [await doorsOf(app, places), await doorsOf(local, nearby)]
  const [stills, begun] = [
    () => Promise.all([app.trihand.tasks.show(places.still), local.trihand.tasks.show(nearby.still)]),
    did.length,
  ]
  const before = await stills()
  const walkers = await withCredentials()
  const tallies = [await walk(places, doors, walkers), await walk(nearby, localDoors, LOCALS)]
  const [mcp, host] = [await walkMcp(), await walkHost(places)]
  expect(await stills()).toEqual(before)
  const of = (word: string): number =>
    tallies.flatMap((tally) => [...tally]).reduce((sum, [name, count]) => sum + (name.includes(word) ? count : 0), 0)
  // One letter in each system was approved by a person; the rest are runs that a person ran again.
  const expected = { book: of('budget'), publish: 2 + of('what a decision started') }
  const done = () => ({ book: 0, publish: 0, ...countsOf(did.slice(begun)) })
  await until(done, ({ book, publish }) => book + publish >= expected.book + expected.publish, {
    what: 'what people started is done',
  })
  expect(done()).toEqual(expected)
  const [http, locally] = [walkers.length * doors.length, LOCALS.length * localDoors.length]
  const total = http + locally + mcp + host
  const parts = `${http} with credentials, ${locally} on loopback, ${mcp} over MCP, ${host} of the host`
  console.info(
    `doors: ${doors.length} of HTTP, ${total} attempts (${parts}); ${of('')} let in, all of people with the role`,
  )
  expect(total).toBeGreaterThan(4_000)
}, 120_000)

test('identity-2: every operation that changes something is tested above, or is listed as one that decides nothing (13.1.2)', async () => {
  const { paths } = (await (await app.open('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { operationId: string; 'x-trihand-access': string }>>
  }
  const changing = Object.values(paths).flatMap((methods) =>
    Object.entries(methods).flatMap(([method, { operationId: id, 'x-trihand-access': access }]) =>
      method === 'get' || access === 'decider' ? [] : [id],
    ),
  )
  const walked = changing.filter((id) => WALKED.has(id))
  expect([...WALKED].filter((id) => !walked.includes(id))).toEqual([])
  expect(changing.filter((id) => !WALKED.has(id)).toSorted()).toEqual([...DECIDES_NOTHING].toSorted())
})

/** An MCP client is an agent, regardless of its token's owner; no tool decides. */
const walkMcp = async (): Promise<number> => {
  const server = await listen({ fetch: (request) => app.fetch(request), port: 0 })
  let walked = 0
  try {
    for (const { roles, token } of await credentials()) {
      const client = new Client({ name: 'walk', version: '0' })
      const headers = { authorization: `Bearer ${token}`, 'x-trihand-kind': 'user' }
      await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.url), { requestInit: { headers } }))
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name).filter((name) => /decide|approve|resolve|rerun|token/.test(name))).toEqual(
        [],
      )
      const calls = [
        { name: 'send_event', arguments: { type: 'letter.approved', data: {} } },
        { name: 'send_event', arguments: { type: 'budget.stated', data: {} } },
        { name: 'start_run', arguments: { name: 'publish', input: {} } },
      ]
      for (const call of calls) {
        const { content, isError = false } = await client.callTool(call)
        const [said] = content as readonly { readonly text: string }[]
        const { code } = JSON.parse(said?.text ?? '{}')
        expect([call, roles, isError, code, REFUSALS.has(code)]).toEqual([call, roles, true, code, true])
        walked++
      }
      await client.close()
    }
  } finally {
    await server.stop()
  }
  return walked
}

/** The embedding program names the actor: an agent or a service is refused everywhere. */
const walkHost = async ({ still, paid, published, plan, planned }: Places): Promise<number> => {
  const { trihand } = app
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      ({ code }) => code,
    )
  let walked = 0
  for (const kind of ['agent', 'service'] as const) {
    const by = { id: 'robot', kind, groups: ['editors'] }
    const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['send', () => trihand.send({ type: 'budget.stated', data: {} }, { by })],
      ['send of a decision', () => trihand.send({ type: 'letter.approved', data: {} }, { by })],
      ['start', () => trihand.start('publish', {})],
      ['submit', () => trihand.tasks.submit(still, by, { action: 'approve' })],
      ['claim', () => trihand.tasks.claim(still, by)],
      ['approve', () => trihand.plans.approve(plan.id as never, plan.hash, by)],
      ['rerun', () => trihand.reruns.rerun(paid, { from: 'note', by: by.id, kind })],
      ['rerun of what a decision started', () => trihand.reruns.rerun(published, { by: by.id, kind })],
      ['rerun of an approved plan', () => trihand.reruns.rerun(planned, { by: by.id, kind })],
    ]
    for (const [name, call] of calls) {
      const code = await codeOf(call())
      expect([name, kind, code, REFUSALS.has(code)]).toEqual([name, kind, code, true])
      walked++
    }
  }
  return walked
}
