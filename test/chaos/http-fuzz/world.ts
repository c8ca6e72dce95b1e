/**
 * A small system with one of everything that routes are about, and a snapshot of all that its ledger contains.
 *
 * Owns when it is at rest: nothing in it wakes by time, so only requests change a ledger at rest.
 */
import type { Hono } from 'hono'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { createApp } from '#http/server/app.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { human } from '#manifest/human/humans.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { RunSummary, TaskQuery } from '#ports/reader.ts'
import { until } from '#test/support/until.ts'
import type { Pool } from './requests.ts'

const SYSTEM: SystemSource = {
  name: 'fuzz',
  events: { 'order.placed': null, 'order.paid': null, 'letter.ready': null },
  functions: [
    fn('ship', { trigger: 'order.placed', retry: { maxAttempts: 1 } }, ({ input }) => input),
    fn('wait', { trigger: 'order.paid' }, async ({ step }) => step.waitForEvent('more', { event: 'order.placed' })),
    fn('fail', { retry: { maxAttempts: 1 } }, () => {
      throw new Error('as it should')
    }),
    fn('one', { concurrency: 1 }, () => 1),
  ],
  humans: [
    human('review', {
      trigger: 'letter.ready',
      title: 'Letter',
      assign: 'group:editors',
      escalation: [{ to: 'user:cfo' }],
      bundle: { sections: [{ id: 'letter', type: 'editable', content: { text: 'Dear all' } }] },
    }),
  ],
  schedules: [{ name: 'yearly', cron: '0 0 29 2 *', tz: 'UTC', function: 'ship' }],
  webhooks: [
    { name: 'orders', auth: 'none', unsigned: true, emits: 'order.placed' },
    { name: 'pay', path: '/hooks/bank/pay', auth: 'bearer', secret: 'open sesame', emits: 'order.paid' },
  ],
}

const BUSY = ['queued', 'running', 'cancelling'] as const
const PAGE = 200

const ALL_TASKS: Omit<TaskQuery, 'isOpen'> = {
  ...{ tenant: LOCAL_TENANT, addresses: null, viewer: null, status: null, type: null, claimedBy: null, run: null },
  order: 'newest',
  after: null,
  limit: PAGE,
}

export class World {
  readonly app: Hono
  readonly #trihand: Trihand
  readonly bugs: string[] = []

  constructor(trihand: Trihand) {
    this.#trihand = trihand
    this.app = createApp(trihand, { version: '0', pid: 1, report: (_, error) => this.bugs.push(String(error)) })
  }

  async document(): Promise<unknown> {
    return (await this.app.request('/openapi.json')).json()
  }

  /** The current ids and names. */
  async pool(): Promise<Pool> {
    const { reader } = this.#trihand
    const runs = (await this.#runs()).map(({ id }) => id)
    const tasks = await reader.tasks({ ...ALL_TASKS, isOpen: true })
    const looks = await Promise.all(tasks.slice(0, 5).map(({ id }) => this.#trihand.tasks.show(id)))
    const hashes = looks.map(({ state }) => (state.kind === 'open' ? state.hash : state.task.hash))
    const workers = (await reader.workers({ after: null, limit: PAGE })).map(({ id }) => id)
    const ids = tasks.map(({ id }) => id)
    const handlers = ['ship', 'wait', 'fail', 'one', 'review', 'order.placed', 'orders']
    return {
      known: {
        ...{ 'runs/id': runs, 'tasks/id': ids, 'workers/id': workers, 'schedules/name': ['yearly'] },
        ...{ 'handlers/name': handlers, 'webhooks/name': ['orders', 'pay'] },
        ...{ 'orders/path': ['orders'], 'path}/path': ['orders', 'bank/pay'], '{path}/path': ['orders', 'bank/pay'] },
        ...{ type: ['order.placed', 'order.paid', 'letter.ready'], name: handlers, handler: handlers, run: runs },
        ...{ task: ids, action: ['approve', 'reject', 'edit', 'reassign', 'escalate'], shown_hash: hashes },
        ...{ step: ['more', 'agent/model[0]'], item: ['letter'], to: ['user:eve', 'group:leads', 'eve'] },
      },
    }
  }

  /** Waits until nothing is active, then returns everything that the ledger contains. */
  async atRest(): Promise<string> {
    const { reader } = this.#trihand
    await until(
      async (): Promise<Partial<Record<RunStatus, number>>> => Object.fromEntries(await reader.counts(LOCAL_TENANT)),
      (counts) => BUSY.every((status) => (counts[status] ?? 0) === 0),
      { what: 'nothing is at work', timeoutMs: 60_000 },
    )
    const runs = (await this.#runs()).map(({ id, status, version }) => [id, status, version])
    const events = await reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 1 })
    const open = await reader.tasks({ ...ALL_TASKS, isOpen: true })
    const closed = await reader.tasks({ ...ALL_TASKS, isOpen: false })
    const tasks = [...open, ...closed].map(({ id, status, updatedAt, summary }) => [id, status, updatedAt, summary])
    return JSON.stringify({ runs, events: events[0]?.sequence ?? 0, tasks })
  }

  close(): Promise<void> {
    return this.#trihand.close()
  }

  async #runs(): Promise<readonly RunSummary[]> {
    const found: RunSummary[] = []
    let before: RunId | null = null
    for (;;) {
      const page: readonly RunSummary[] = await this.#trihand.reader.runs({
        ...{ tenant: LOCAL_TENANT, status: null, handler: null, before, limit: PAGE },
      })
      found.push(...page)
      if (page.length < PAGE) return found
      before = page.at(-1)?.id ?? null
    }
  }
}

export const openWorld = async (): Promise<World> => {
  const trihand = await createTrihand({ system: SYSTEM, database: 'memory:', drain: 100 })
  for (const type of ['order.placed', 'order.paid', 'letter.ready', 'letter.ready']) await trihand.send({ type })
  await trihand.start('fail')
  const world = new World(trihand)
  await world.atRest()
  return world
}
