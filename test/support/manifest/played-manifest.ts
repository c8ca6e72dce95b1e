/**
 * Runs a manifest and records everything visible from outside: which runs there were, how and when they ended, the tasks of people, the
 * calls of models, the events and documents.
 *
 * Owns the scenario and the compared parts. Ids, hashes and the definition itself are left out: a key that changes only those has no
 * effect.
 */
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { agentPlace, beginAgents } from '#test/support/agents/agent-system.ts'
import { paidModel, said } from '#test/support/agents/agents.ts'
import { Inbox, person } from '#test/support/serving/inbox.ts'
import { memoryStore } from '#test/support/stores/stores.ts'
import type { TestSystem } from '#testing/system.ts'
import { systemOf } from './manifest-system.ts'

const operator = person('otto', 'operators', 'editors', 'leads')
const place = agentPlace()

const withoutIds = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll(/\b(run|tsk|evt|wrk|ses|cp|q)_[0-9a-f]{8,}\b/g, '$1')
    .replaceAll(/[0-9a-f]{24,}/g, 'hash')

const seen = async (system: TestSystem, inbox: Inbox, isLast: boolean): Promise<string> => {
  const { reader } = system.store
  const tenant = LOCAL_TENANT
  const all = { tenant, status: null, handler: null, session: null, before: null, limit: 200 } as never
  const runs = await system.run(() => reader.runs(all))
  const found = []
  for (const { id, handler } of runs) {
    const { status, error, output } = await system.look(id)
    const facts = isLast ? await system.run(() => reader.facts(tenant, id, { after: 0, limit: 200 })) : []
    found.push([handler, status, error?.code ?? null, output, facts.map((fact) => [fact.type, fact.recordedAt])])
  }
  const events = await system.run(() => reader.events({ tenant, type: null, before: null, limit: 200 } as never))
  const tasks = [...(await inbox.list()), ...(await inbox.list({ isOpen: false }))]
  const rows = await system.run(() => reader.documents({ tenant, table: 'items', after: null, limit: 50 } as never))
  return withoutIds([
    ...found.map((one) => withoutIds(one)).toSorted(),
    events.map(({ type, subject, data, time }) => [type, subject, data, time]),
    tasks.map(({ title, status, priority, deadlineAt, addresses, type, summary }) => [
      title,
      status,
      priority,
      deadlineAt,
      addresses,
      type,
      { ...(summary as object), cause: null },
    ]),
    rows.map(({ key, value }) => [key, value]),
  ])
}

const careful = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work()
    return 'well'
  } catch (error) {
    return String((error as { readonly code?: string }).code ?? error)
  }
}

type Code = (context: {
  readonly input: Json
  readonly lookups: Json
  readonly step: { sleep(name: string, time: string): Promise<void> }
}) => unknown

/** The behaviour of the functions, by name. */
const CODE: ReadonlyMap<string, unknown> = new Map<string, Code>([
  ['h', ({ input, lookups }) => ({ ok: true, got: input, lookups })],
  ['echo', ({ input }) => input],
  ['src', () => null],
  ['src2', () => null],
  ['slow', async ({ step }) => step.sleep('long', '90m')],
  [
    'bad',
    () => {
      throw new Error('no luck')
    },
  ],
])

/** A few events, a start by name, a person who approves everything, and three days. */
export const played = async (text: string): Promise<string> => {
  const model = paidModel(({ messages }) =>
    said('{"ok": true, "confidence": 0.5}', { modelUsed: messages.length > 9 ? 'x' : 'haiku' }),
  )
  const system = await beginAgents(systemOf(text, CODE), memoryStore(), place, model)
  const inbox = new Inbox(system)
  const trace: string[] = []
  const look = async (isLast = false): Promise<void> => {
    trace.push(await seen(system, inbox, isLast))
  }
  const send = (type: string, data: Json, subject?: string) =>
    careful(() => system.send({ type, data, ...(subject === undefined ? {} : { subject }) }))
  trace.push(await send('go', { id: '1', n: 1 }, 's'))
  await system.settle()
  trace.push(await send('go', { id: '1', n: 5 }), await send('go', { id: '2', n: 5, more: true }))
  await system.settle()
  await look()
  trace.push(await careful(() => system.start('h', { id: '9', n: 2 })))
  trace.push(await send('stop', { id: '1' }), await send('unknown', {}))
  await system.advance('10s')
  await look()
  for (const task of await inbox.list())
    trace.push(await careful(() => inbox.decide(task.id, operator, { action: 'approve' })))
  await system.advance('2h')
  await look()
  for (const task of await inbox.list())
    trace.push(
      await careful(() => inbox.decide(task.id, operator, { action: 'hold', reason: 'later', fields: { note: 'x' } })),
    )
  await system.advance('3d')
  await look(true)
  trace.push(withoutIds(model.calls))
  await system.close()
  return trace.join('\n')
}
