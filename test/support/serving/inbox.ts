/**
 * The people of a test system: their names, their inboxes and their decisions.
 *
 * Owns the helpers that acceptance tests of tasks share. Every command runs while the system's turns continue.
 */
import type { Decision, TaskChanged } from '#engine/tasks/tasks.ts'
import { readTaskFact } from '#model/kernel/fact-codec.ts'
import { LOCAL_TENANT, type TaskId } from '#model/kernel/ids.ts'
import type { TaskFact } from '#model/task/fact.ts'
import type { Identity } from '#model/task/spec.ts'
import type { TaskQuery, TaskSummary } from '#ports/reader.ts'
import { carefully } from '#test/support/step-answer.ts'
import type { TestSystem } from '#testing/system.ts'

export const person = (id: string, ...groups: readonly string[]): Identity => ({ id, kind: 'user', groups })
export const ana = person('ana', 'editors')
export const bob = person('bob', 'editors')
export const cfo = person('cfo', 'leads')
export const eve = person('eve')
export const robot: Identity = { id: 'robot', kind: 'agent', groups: ['editors'] }

const addressesOf = ({ id, groups }: Identity): readonly string[] => [
  `user:${id}`,
  ...groups.map((group) => `group:${group}`),
]

export class Inbox {
  private readonly system: TestSystem

  constructor(system: TestSystem) {
    this.system = system
  }

  list(query: Partial<TaskQuery> = {}): Promise<readonly TaskSummary[]> {
    return this.system.run(() =>
      this.system.store.reader.tasks({
        tenant: LOCAL_TENANT,
        isOpen: true,
        addresses: null,
        viewer: null,
        status: null,
        type: null,
        claimedBy: null,
        run: null,
        order: 'oldest',
        after: null,
        limit: 100,
        ...query,
      }),
    )
  }

  of(who: Identity): Promise<readonly TaskSummary[]> {
    const viewer = { user: who.id, now: this.system.clock.now() }
    return this.list({ addresses: addressesOf(who), viewer })
  }

  /** The one open task. */
  async only(): Promise<TaskId> {
    const [task, another] = await this.list()
    if (task === undefined || another !== undefined) throw new Error('expected exactly one open task')
    return task.id
  }

  row(id: TaskId): Promise<TaskSummary | null> {
    return this.system.run(() => this.system.store.reader.task(LOCAL_TENANT, id))
  }

  async hash(id: TaskId): Promise<string> {
    const { state } = await this.system.run(() => this.system.engine.tasks.show(id))
    return state.kind === 'open' ? state.hash : state.task.hash
  }

  /** Uses the hash of what is shown now, unless the test gives another. */
  async decide(id: TaskId, by: Identity, decision: Decision): Promise<TaskChanged> {
    const { tasks } = this.system.engine
    const { state } = await this.system.run(() => tasks.show(id))
    return this.system.run(() => tasks.submit(id, by, { ...carefully(state, decision.action), ...decision }))
  }

  async facts(id: TaskId): Promise<readonly TaskFact[]> {
    const [record] = await this.system.run(() => this.system.store.ledger.load([id]))
    return (record?.facts ?? []).map(readTaskFact)
  }

  /** Types of the facts of a task, in order. */
  async story(id: TaskId): Promise<readonly string[]> {
    return (await this.facts(id)).map(({ type }) => type)
  }

  /** Events of a type, oldest first, as their data. */
  async told(type: string): Promise<readonly unknown[]> {
    const query = { tenant: LOCAL_TENANT, type, before: null, limit: 100 }
    const events = await this.system.run(() => this.system.store.reader.events(query))
    return events.map(({ data }) => data).reverse()
  }
}
