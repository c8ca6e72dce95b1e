/**
 * A system with decisions in it, and every HTTP route through which a decision could come, for tests of all callers.
 *
 * Owns the routes and the roles that each needs. Finds the operations for deciding roles in the API description.
 */
import type { Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { human } from '#manifest/human/humans.ts'
import type { Role } from '#model/access/identity.ts'
import type { RunId, TaskId } from '#model/kernel/ids.ts'
import { until } from '#test/support/until.ts'
import type { HttpApp } from './http-app.ts'

export type Headers = Readonly<Record<string, string>>

/** The effects of the system's functions. */
export const did: string[] = []
export const SYSTEM: SystemSource = {
  name: 'letters',
  events: { 'letter.ready': null, 'budget.stated': { source: 'human' } },
  humans: [
    human('review', {
      trigger: 'letter.ready',
      assign: 'group:editors',
      actions: [{ name: 'approve', emitsEvent: 'letter.approved' }, 'reject', 'reassign'],
    }),
  ],
  functions: [
    fn('publish', { trigger: 'letter.approved' }, () => void did.push('publish')),
    fn('book', { trigger: 'budget.stated' }, () => void did.push('book')),
    fn('look', {}, () => null),
    fn('refused', {}, async ({ step }) => {
      await step.run('charge', () => Promise.reject(new Error('connection lost')), { effect: 'once' })
    }),
    fn('pay', {}, async ({ step }) => {
      await step.human('approve', { assign: 'group:editors' })
      await step.run('pay', () => void did.push('pay'))
      await step.run('note', () => null)
    }),
  ],
}

/** The test data: a task that stays open, one that people may decide, and runs that depend on a decision. */
export interface Places {
  readonly still: TaskId
  readonly open: TaskId
  readonly paid: RunId
  readonly published: RunId
  readonly plan: { readonly id: string; readonly hash: string }
  /** A plan that a person has approved, and a run of it. */
  readonly approved: string
  readonly planned: RunId
  /** Runs that ended because a person rejected an uncertain step. */
  readonly refused: { readonly still: RunId; readonly open: RunId }
  /** The hash that a person has seen, by task. */
  readonly shown: Readonly<Record<string, string>>
}

const ANA = { id: 'ana', kind: 'user', groups: ['editors'] } as const

const hashOf = async ({ tasks }: Pick<Trihand, 'tasks'>, id: TaskId): Promise<string> => {
  const { state } = await tasks.show(id)
  return state.kind === 'open' ? state.hash : state.task.hash
}

export const furnish = async ({ trihand }: HttpApp): Promise<Places> => {
  const openTasks = async (): Promise<readonly TaskId[]> => {
    const query = { tenant: trihand.tenant, isOpen: true, addresses: null, viewer: null, status: null, type: null }
    const found = await trihand.reader.tasks({
      ...query,
      claimedBy: null,
      run: null,
      order: 'oldest',
      after: null,
      limit: 9,
    })
    return found.map(({ id }) => id)
  }
  const opened = (count: number) => until(openTasks, ({ length }) => length === count, { what: `${count} tasks` })
  const approve = async (task: TaskId | undefined): Promise<void> => {
    const id = task as TaskId
    await trihand.tasks.submit(id, ANA, { action: 'approve', shownHash: await hashOf(trihand, id) })
  }
  const paid = await trihand.start('pay')
  const [asked] = await opened(1)
  await approve(asked)
  await trihand.result(paid, { wait: '10s' })
  await trihand.send({ type: 'letter.ready', data: {} })
  const [first] = await opened(1)
  await approve(first)
  const runs = () =>
    trihand.reader.runs({ tenant: trihand.tenant, status: 'success', handler: 'publish', before: null, limit: 9 })
  const [published] = await until(runs, ({ length }) => length === 1, { what: 'the letter is published' })
  await trihand.send({ type: 'letter.ready', data: {} })
  await trihand.send({ type: 'letter.ready', data: {} })
  const [still, open] = await opened(2)
  const { id, current } = await trihand.plans.propose({ text: 'a. Pay' }, 'ana')
  const refuse = async (): Promise<RunId> => {
    const run = await trihand.start('refused')
    const abort = async (): Promise<void> => {
      const task = await trihand.tasks.ofStep(run, 'charge')
      const { state } = await trihand.tasks.show(task)
      const { actions } = (state.kind === 'open' ? state : state.task).spec
      const { confirm } = actions.find(({ name }) => name === 'abort') ?? {}
      const typed = confirm === undefined ? {} : { confirm }
      const shown = { shownHash: await hashOf(trihand, task), acknowledged: true, ...typed }
      await trihand.tasks.submit(task, { ...ANA, groups: ['operators'] }, { action: 'abort', ...shown })
    }
    const isDone = (): Promise<boolean> =>
      abort().then(
        () => true,
        () => false,
      )
    await until(isDone, Boolean, { what: 'a person has refused the step' })
    await trihand.result(run, { wait: '10s' })
    return run
  }
  const refused = { still: await refuse(), open: await refuse() }
  const ready = await trihand.plans.propose({ text: 'a. Look' }, 'ana')
  await trihand.plans.approve(ready.id, ready.current.hash, ANA)
  const planned = await trihand.plans.run(ready.id, {})
  await trihand.result(planned, { wait: '10s' })
  return {
    ...{ approved: ready.id, planned, refused },
    still: still as TaskId,
    open: open as TaskId,
    paid,
    published: published?.id as RunId,
    plan: { id, hash: current.hash },
    shown: Object.fromEntries(
      await Promise.all([still, open].map(async (task) => [task, await hashOf(trihand, task as TaskId)] as const)),
    ),
  }
}

export interface Door {
  readonly name: string
  /** The required roles, all of them; null: no caller may. */
  readonly needs: readonly Role[] | null
  /** Returns the code of a refusal; null: it was allowed. */
  readonly knock: (headers: Headers, task: TaskId) => Promise<string | null>
}

const CLOUD = { specversion: '1.0', source: '/x', datacontenttype: 'application/json', data: {} }

export const doorsOf = async (at: HttpApp, places: Places): Promise<readonly Door[]> => {
  const { paid, published, plan, approved, planned, refused } = places
  const send = async (method: string, path: string, body: unknown, headers: Headers): Promise<string | null> => {
    const given = { 'content-type': 'application/json', ...headers }
    const response = await at.open(path, { method, body: JSON.stringify(body), headers: given })
    const isOk = response.ok && response.status !== 207
    if (isOk) await response.body?.cancel()
    const answer = isOk
      ? null
      : ((await response.json()) as { code?: string; items?: readonly { problem?: { code: string } }[] })
    return answer?.code ?? answer?.items?.[0]?.problem?.code ?? null
  }
  const post = (name: string, needs: Door['needs'], path: string, body: unknown, more: Headers = {}): Door => ({
    ...{ name, needs },
    knock: (headers) => send('POST', path, body, { ...headers, ...more }),
  })
  const { paths } = (await (await at.open('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { operationId: string; 'x-trihand-access': string }>>
  }
  const deciding = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId: name, 'x-trihand-access': access }]): readonly Door[] =>
      access !== 'decider'
        ? []
        : [
            {
              name,
              needs: ['decider'],
              knock: (headers, task) =>
                send(
                  method.toUpperCase(),
                  path
                    .replace('/tasks/{id}', `/tasks/${task}`)
                    .replace('/runs/{id}', `/runs/${paid}`)
                    .replace('{id}', plan.id),
                  bodyOf(name, task, places),
                  headers,
                ),
            },
          ],
    ),
  )
  const events = ['letter.approved', 'budget.stated'].flatMap((type): readonly Door[] => {
    const needs = type === 'letter.approved' ? null : (['operator'] as const)
    let n = 0
    const own = () => ({ ...CLOUD, id: `${type}-${n++}`, type })
    const cloudy = (mode: string, body: () => unknown, media: string): Door => ({
      ...{ name: `sendEvent ${type} ${mode}`, needs },
      knock: (headers) => send('POST', '/api/events', body(), { ...headers, 'content-type': media }),
    })
    return [
      post(`sendEvent ${type}`, needs, '/api/events', { type, data: {} }),
      cloudy('structured', own, 'application/cloudevents+json'),
      cloudy('batch', () => [own()], 'application/cloudevents-batch+json'),
      {
        ...{ name: `sendEvent ${type} binary`, needs },
        knock: (headers) => {
          const ce = { 'ce-specversion': '1.0', 'ce-source': '/x', 'ce-type': type, 'ce-id': `b-${type}-${n++}` }
          return send('POST', '/api/events', {}, { ...headers, ...ce })
        },
      },
    ]
  })
  const operator = ['operator'] as const
  const approval = { id: `${'tsk_'}${'0'.repeat(32)}.hash`, approved: true }
  const answer = { role: 'assistant', id: 'm', parts: [{ type: 'tool-x', state: 'approval-responded', approval }] }
  return [
    ...deciding,
    ...events,
    post('startRun of an internal function', null, '/api/runs', { name: 'publish', input: {} }),
    post('rerunRun behind a decision', operator, `/api/runs/${paid}/rerun`, { from: 'note' }),
    post('rerunRun with old decisions', operator, `/api/runs/${paid}/rerun`, { from: 'note', reuse_decisions: true }),
    post('rerunRun of what a decision started', operator, `/api/runs/${published}/rerun`, {}),
    post('rerunRun of it with another input', null, `/api/runs/${published}/rerun`, { input: { to: 'mallory' } }),
    post('runPlan that people approved', operator, `/api/plans/${approved}/runs`, { input: { to: 'mallory' } }),
    post('rerunRun of such a plan', operator, `/api/runs/${planned}/rerun`, {}),
    {
      ...{ name: 'retryRun of what a person refused', needs: operator },
      knock: (headers, task) =>
        send('POST', `/api/runs/${task === places.open ? refused.open : refused.still}/retry`, {}, headers),
    },
    post('sendMessage that approves', ['operator', 'decider'], '/api/chat', { id: 'c', messages: [answer] }),
    post('createToken of a person', ['admin'], '/api/tokens', { name: 'eve', kind: 'user', roles: ['decider'] }),
  ]
}

const bodyOf = (name: string, task: TaskId, { plan: { hash }, shown }: Places): unknown => {
  const decision = { action: 'approve', shown_hash: shown[task] }
  const bodies: Readonly<Record<string, unknown>> = {
    decideTask: decision,
    decideTasks: { decisions: [{ task, ...decision }] },
    reassignTask: { to: 'user:ana' },
    escalateTask: { reason: 'x' },
    saveDraft: { item: null, content: {} },
    followUpTask: { until: null },
    markItems: { where: 'true', status: 'approved' },
    approvePlan: { hash },
    resolveStep: { step: 'pay', verdict: 'abort' },
  }
  return bodies[name] ?? {}
}
