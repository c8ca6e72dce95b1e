/**
 * A user's system in memory, for tests with any test runner: events, decisions, days that pass and crashes.
 *
 * Owns the vocabulary of such a test. The engine, its clock and its crashes are system.ts. Agents are answered by scripts; no model is called,
 * whatever the environment holds.
 *
 * test-system-1  When a call returns, everything that is due has been done: a test never sleeps.
 * test-system-2  After a crash only what was in the ledger is known; time and people's state go on as before.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '#compose/assemble.ts'
import type { IncomingEvent, Receipt, SendOptions, StartOptions } from '#engine/core/incoming.ts'
import type { RunResult } from '#engine/outcome/result.ts'
import type { Decision } from '#engine/tasks/tasks.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { LOCAL_TENANT, type RunId, type TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { OpenTask } from '#model/task/fact.ts'
import type { TaskQuery } from '#ports/reader.ts'
import { startTestSystem, type TestStore, type TestSystem } from './system.ts'

/** What a test may replace: `{ scripts: { drafter: { answers: [{ text: 'Dear Ana' }] } } }`. */
export interface TestSystemOptions {
  /**
   * Answers of the simulated model by agent, in place of those of the system: `{ drafter: { answers: [{ json: … }] } }`. Default: those of the
   * system.
   */
  readonly scripts?: Readonly<Record<string, Json>>
}

/** A task that waits for a person. */
export interface TaskToDecide {
  /** Its id. */
  readonly id: TaskId
  /** The run that asks. */
  readonly run: RunId
  /** The human handler, or the step that asks. */
  readonly name: string
  /** Its title in the inbox. */
  readonly title: string
  /** Its type. */
  readonly type: OpenTask['spec']['type']
  /** What is shown with it. */
  readonly context: Json
  /** The items to decide; none for a task without parts. */
  readonly items: readonly { readonly id: string; readonly title: string; readonly content: Json }[]
  /** The names of the possible decisions. */
  readonly actions: readonly string[]
  /** `user:ana`, `group:support`. */
  readonly assignees: readonly string[]
  /** By when; null: no deadline. */
  readonly deadline: Date | null
}

/** A person's decision, on exactly what the task shows at that moment. */
export interface PersonDecision extends Pick<Decision, 'action' | 'reason' | 'fields' | 'items' | 'to'> {
  /** The person, e.g. `ana`. */
  readonly as: string
  /** The groups of the person. Default: none. */
  readonly groups?: readonly string[]
}

/** A whole system in a test. When a call returns, everything that is due has been done. */
export interface SystemUnderTest {
  /** The current time of the system. Only `advance` moves it. */
  readonly now: Date
  /** Sends an event. */
  send(event: IncomingEvent, options?: SendOptions): Promise<Receipt>
  /** Starts a handler by name. Default input: null. */
  start(name: string, input?: unknown, options?: StartOptions): Promise<RunId>
  /** The state of a run: its status, and its output once it has ended. */
  result(run: RunId): Promise<RunResult>
  /** Runs, oldest first; of one handler, if it is named. At most 1,000. */
  runs(
    handler?: string,
  ): Promise<readonly { readonly id: RunId; readonly handler: string; readonly status: RunStatus }[]>
  /** Events of a type, oldest first. At most 1,000. */
  events(type: string): Promise<readonly StoredEvent[]>
  /** Open tasks, oldest first. At most 1,000. */
  tasks(): Promise<readonly TaskToDecide[]>
  /** Decides an open task as a person: reads it, fills in what it asks for, acknowledges its warning. */
  decide(task: TaskId | Pick<TaskToDecide, 'id'>, decision: PersonDecision): Promise<void>
  /** Does everything that is due now. */
  settle(): Promise<void>
  /** Lets this much time pass and does in order what becomes due: `'7d'`, `'90m'`, or milliseconds. */
  advance(duration: string | number): Promise<void>
  /** Waits in real time, at most `within` milliseconds (5,000), for a step that waits for something outside of the system. */
  until(holds: () => boolean | Promise<boolean>, within?: number): Promise<void>
  /**
   * Ends the process of the system as `kill -9` would and starts another on the same ledger after `down`, with another definition if one is
   * given. A step that was under way is never answered.
   */
  crash(options?: { readonly system?: SystemSource; readonly down?: string | number }): Promise<void>
  /** Ends the system and removes what it has stored. */
  close(): Promise<void>
}

const MOST = 1_000
const LOOK_AGAIN_MS = 5
const UNTIL_MS = 5_000
const EVERY_TASK: TaskQuery = {
  ...{ tenant: LOCAL_TENANT, isOpen: true, addresses: null, viewer: null, status: null, type: null },
  ...{ claimedBy: null, run: null, order: 'oldest', after: null, limit: MOST },
}

const ALWAYS = { durable: true, pollMs: 1_000, sweepMs: null, commit: { maxBatch: 256, maxInFlight: 1 } } as const

/** What is stored here survives a crash of the system, but not the end of the test. */
const inMemory = async (): Promise<TestStore> => {
  const [{ openMemory }, { MemoryStore }, { MemoryBlobs }, { InProcessDispatcher }, { SystemIds }] = await Promise.all([
    import('#adapters/storage/memory/open.ts'),
    import('#adapters/storage/memory/store.ts'),
    import('#adapters/storage/memory/blobs.ts'),
    import('#adapters/system/dispatcher.ts'),
    import('#adapters/system/ids.ts'),
  ])
  const [kept, blobs] = [new MemoryStore(), new MemoryBlobs()]
  const open = async (clock: Parameters<TestStore['open']>[0]): Promise<Store> => ({
    ...ALWAYS,
    ...openMemory(kept, blobs),
    ...{ dispatcher: new InProcessDispatcher(clock), description: 'memory' },
  })
  return { name: 'memory', open, ids: () => new SystemIds(), remove: async () => {} }
}

/** Loads a folder or a file as `trihand dev` does. */
const sourceOf = async (given: SystemSource | string): Promise<SystemSource> => {
  if (typeof given !== 'string') return given
  const { loadSystem } = await import('#cli/manifest/load-system.ts')
  const cache = await mkdtemp(join(tmpdir(), 'trihand-code-'))
  try {
    return (await loadSystem(given, cache)).source
  } finally {
    await rm(cache, { recursive: true, force: true })
  }
}

const openTaskOf = async (system: TestSystem, id: TaskId): Promise<OpenTask> => {
  const { state } = await system.engine.tasks.show(id)
  if (state.kind === 'open') return state
  throw new Error(`task ${id} is closed: ${state.status}`)
}

const shown = (id: TaskId, { run, spec, items, asked, deadlineAt }: OpenTask): TaskToDecide => ({
  ...{ id, run, name: spec.name, title: spec.title, type: spec.type, context: spec.context },
  items: items.map(({ id: item, title, content }) => ({ id: item, title, content })),
  actions: spec.actions.map(({ name }) => name),
  assignees: [...asked.users.map((name) => `user:${name}`), ...asked.groups.map((name) => `group:${name}`)],
  deadline: deadlineAt === null ? null : new Date(deadlineAt),
})

const decide = async (system: TestSystem, id: TaskId, decision: PersonDecision): Promise<void> => {
  const { as, groups = [], ...said } = decision
  const { spec, hash } = await openTaskOf(system, id)
  const { confirm = null, warning } = spec.actions.find(({ name }) => name === said.action) ?? {}
  const seen = { shownHash: hash, confirm, acknowledged: warning !== undefined }
  await system.engine.tasks.submit(id, { id: as, kind: 'user', groups }, { ...said, ...seen })
}

const until = async (system: TestSystem, holds: () => boolean | Promise<boolean>, within: number): Promise<void> => {
  const end = Date.now() + within
  for (;;) {
    await system.settle()
    if (await holds()) return
    if (Date.now() > end) throw new Error(`it did not become so within ${within} ms`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
}

/**
 * Runs a system, or the folder or file that contains one, in memory, with manual time and scripted agents.
 *
 * ```ts
 * const system = await testSystem('./shop')
 * await system.send({ type: 'refund.asked', data: { amount: 40 } })
 * const [task] = await system.tasks()
 * await system.decide(task, { as: 'ana', groups: ['sales'], action: 'approve' })
 * await system.advance('7d')
 * ```
 */
export const testSystem = async (
  given: SystemSource | string,
  { scripts = {} }: TestSystemOptions = {},
): Promise<SystemUnderTest> => {
  const scripted = (source: SystemSource): SystemSource => ({ ...source, scripts: { ...source.scripts, ...scripts } })
  const source = await sourceOf(given)
  const system = await startTestSystem(scripted(source), await inMemory(), {
    ...(source.folder !== undefined && { folder: source.folder }),
  })
  const settled = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await system.run(work)
    } finally {
      await system.settle()
    }
  }
  await system.settle()
  return {
    get now() {
      return new Date(system.clock.now())
    },
    send: (event, options) => settled(() => system.send(event, options)),
    start: (name, input, options) => settled(() => system.start(name, input, options)),
    result: (run) => system.run(() => system.look(run)),
    runs: async (handler) => {
      const query = { tenant: LOCAL_TENANT, status: null, handler: handler ?? null, before: null, limit: MOST }
      const found = await system.run(() => system.store.reader.runs(query))
      return found.map(({ id, handler: name, status }) => ({ id, handler: name, status })).reverse()
    },
    events: async (type) => {
      const query = { tenant: LOCAL_TENANT, type, before: null, limit: MOST }
      return [...(await system.run(() => system.store.reader.events(query)))].reverse()
    },
    tasks: async () => {
      const rows = await system.run(() => system.store.reader.tasks(EVERY_TASK))
      return system.run(() => Promise.all(rows.map(async ({ id }) => shown(id, await openTaskOf(system, id)))))
    },
    decide: (task, decision) => settled(() => decide(system, typeof task === 'string' ? task : task.id, decision)),
    settle: () => system.settle(),
    advance: (duration) => system.advance(duration),
    until: (holds, within = UNTIL_MS) => until(system, holds, within),
    crash: ({ system: next, down } = {}) =>
      system.crash(scripted(next ?? source), { ...(down !== undefined && { down }) }),
    close: () => system.close(),
  }
}
