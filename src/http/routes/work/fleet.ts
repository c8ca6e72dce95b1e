/**
 * Routes for pools, circuit breakers and the stop of all workers.
 *
 * Owns parsing and responses. The load of a pool is model/worker/pool-load.ts, when a breaker opens model/worker/circuit.ts, what a stop
 * means model/worker/worker-control.ts.
 */
import { callerName } from '#http/access/identity.ts'
import { STOP } from '#http/documents/workers.ts'
import { nothing, page, ref } from '#http/openapi/schema.ts'
import { type Handle, json, type Operation, optionalBody } from '#http/routes/route.ts'
import { allWorkers } from '#http/server/all-workers.ts'
import { optionalText, readOptionalBody } from '#http/server/body.ts'
import type { Service } from '#http/server/service.ts'
import { circuitDocument, poolDocument, stopDocument } from '#http/wire/worker.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isPlainText, LOCAL_TENANT } from '#model/kernel/ids.ts'
import { poolLoads } from '#model/worker/pool-load.ts'

const CODE = 'INPUT_INVALID'
const MOST_DUE = 10_000
const MAX_REASON = 500

/** Workers belong to the server: a caller of any other tenant than the server's own sees no pools. */
const pools: Handle = async ({ reader, system, tenant, tasks }, context) => {
  if (tenant !== LOCAL_TENANT) return context.json({ items: [], next_cursor: null })
  const [workers, due] = await Promise.all([allWorkers(reader), reader.due(tasks.now, MOST_DUE)])
  const poolOf = (handler: string): string | null => system.functions.get(handler)?.placement.pool ?? null
  const loads = poolLoads({ pools: [...system.pools.keys()], workers, due, poolOf })
  const more = due.reduce((sum, { count }) => sum + count, 0) >= MOST_DUE
  const items = loads.map((load) => poolDocument(load, system.pools.get(load.pool ?? ''), more && load.queued > 0))
  return context.json({ items, next_cursor: null })
}

/** Maps each breaker key to the handlers that name it. A key that is computed from data is only known once its breaker has opened. */
const declared = ({ system }: Service): ReadonlyMap<string, readonly string[]> => {
  const keys = new Map<string, string[]>()
  for (const { name, circuit } of system.functions.values())
    if (circuit !== null && circuit.keyRule === null) keys.set(circuit.key, [...(keys.get(circuit.key) ?? []), name])
  return keys
}

const circuits: Handle = async (service, context) => {
  const keys = declared(service)
  const states = await service.circuits.list(keys.keys())
  const items = [...states].map(([key, state]) => circuitDocument(key, state, keys.get(key) ?? []))
  return context.json({ items, next_cursor: null })
}

const reset: Handle = async (service, context) => {
  await readOptionalBody(context, { schema: nothing, code: CODE })
  const key = context.req.param('key') ?? ''
  const keys = declared(service)
  if (!(await service.circuits.list(keys.keys())).has(key))
    throw new TrihandError('NOT_FOUND', `there is no circuit ${key}`)
  const state = await service.circuits.reset(key, { by: callerName(context) })
  return context.json(circuitDocument(key, state, keys.get(key) ?? []))
}

const stopped: Handle = async ({ fleet }, context) => context.json(stopDocument(await fleet.stopped()))

const stop: Handle = async ({ fleet }, context) => {
  const members = await readOptionalBody(context, { schema: STOP, code: CODE })
  const reason = optionalText(members, 'reason', CODE) ?? null
  if (reason !== null && !isPlainText(reason, MAX_REASON))
    throw new TrihandError(CODE, `reason must have 1 to ${MAX_REASON} characters, and no control characters`)
  return context.json(stopDocument(await fleet.stop({ by: callerName(context), reason })))
}

const lift: Handle = async ({ fleet }, context) => {
  await readOptionalBody(context, { schema: nothing, code: CODE })
  await fleet.lift({ by: callerName(context) })
  return context.json(stopDocument(await fleet.stopped()))
}

export const fleetRoutes: readonly Operation[] = [
  {
    id: 'listPools',
    method: 'get',
    path: '/api/pools',
    access: 'viewer',
    summary: 'Pools: what each can hold, what it holds, what waits for it and since when',
    answers: { 200: json(page(ref('Pool'))) },
    handle: pools,
  },
  {
    id: 'listCircuits',
    method: 'get',
    path: '/api/circuits',
    access: 'viewer',
    summary: 'Circuit breakers: those that handlers name, and those that have opened',
    answers: { 200: json(page(ref('Circuit'))) },
    handle: circuits,
  },
  {
    id: 'resetCircuit',
    method: 'post',
    path: '/api/circuits/{key}/reset',
    access: 'operator',
    summary: 'Closes a breaker; what waits already waits until the instant it was told',
    body: optionalBody(nothing),
    answers: { 200: json(ref('Circuit')) },
    problems: ['NOT_FOUND', 'INPUT_INVALID'],
    handle: reset,
  },
  {
    id: 'getStop',
    method: 'get',
    path: '/api/stop',
    access: 'viewer',
    summary: 'Whether everything is stopped, by whom and why',
    answers: { 200: json(ref('Stop')) },
    handle: stopped,
  },
  {
    id: 'stopEverything',
    method: 'post',
    path: '/api/stop',
    access: 'operator',
    summary: 'Lets no worker begin a step until the stop is lifted; what is under way may finish',
    body: optionalBody(STOP),
    answers: { 200: json(ref('Stop')) },
    problems: ['INPUT_INVALID'],
    handle: stop,
  },
  {
    id: 'liftStop',
    method: 'post',
    path: '/api/stop/lift',
    access: 'operator',
    summary: 'Lets workers go on',
    body: optionalBody(nothing),
    answers: { 200: json(ref('Stop')) },
    problems: ['INPUT_INVALID'],
    handle: lift,
  },
]
