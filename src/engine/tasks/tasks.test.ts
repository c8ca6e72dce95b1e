/** Tasks on the real engine and an in-memory ledger: created with a step, decided once, found by their run. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT, type RunId, type TaskId } from '#model/kernel/ids.ts'
import type { TaskSpec } from '#model/task/spec.ts'
import type { Append, Ledger } from '#ports/ledger.ts'
import type { TaskSummary } from '#ports/reader.ts'
import type { AskReply, Entry } from '#ports/step-port.ts'
import { engineOf } from '#test/support/engine.ts'
import { ana, aSpec, bob, HOUR, to } from '#test/support/stories/task-story.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

/** Wraps a ledger and records its appends. */
const noting = (inner: MemoryLedger, appends: Append[]): Ledger =>
  new Proxy<Ledger>(inner, {
    get: (_, name: keyof Ledger) =>
      name === 'append'
        ? (batch: readonly Append[]) => {
            appends.push(...batch)
            return inner.append(batch)
          }
        : (inner[name] as (...values: unknown[]) => unknown).bind(inner),
  })

type Program = (entry: Entry) => unknown

const begin = async (program: Program) => {
  const store = new MemoryStore()
  const appends: Append[] = []
  const clock = new VirtualClock(1_000_000)
  const reader = new MemoryReader(store)
  const source = { name: 'test', functions: [fn('ask', {}, () => null)] }
  const engine = engineOf({ ledger: noting(new MemoryLedger(store), appends), clock, source, deps: { enter: program } })
  const live = async <T>(work: () => Promise<T>): Promise<T> => {
    let isOver = false
    const done = work().finally(() => {
      isOver = true
    })
    done.catch(() => {})
    while (!isOver) await clock.advance(0)
    await clock.advance(0)
    return done
  }
  await live(() => engine.start())
  const tasks = (isOpen = true): Promise<readonly TaskSummary[]> =>
    reader.tasks({
      tenant: LOCAL_TENANT,
      isOpen,
      addresses: null,
      viewer: null,
      status: null,
      type: null,
      claimedBy: null,
      run: null,
      order: 'oldest',
      after: null,
      limit: 100,
    })
  const only = async (): Promise<TaskId> => {
    const [task] = await tasks()
    if (task === undefined) throw new Error('there is no open task')
    return task.id
  }
  const start = (): Promise<RunId> => live(() => engine.startRun('ask', null))
  const hash = async (id: TaskId): Promise<string> => {
    const { state } = await engine.tasks.show(id)
    return state.kind === 'open' ? state.hash : state.task.hash
  }
  const approve = async (id: TaskId, by = ana) => {
    const shownHash = await hash(id)
    return live(() => engine.tasks.submit(id, by, { action: 'approve', shownHash }))
  }
  return { engine, clock, store, appends, live, tasks, only, start, approve, hash }
}

const asking =
  (spec: Partial<TaskSpec> = {}): Program =>
  async ({ gate }) => {
    const { decision, decidedBy } = await gate.ask('review', { spec: aSpec(spec) })
    return { decision, decidedBy }
  }

test('[C1] ask-1: a run that asks people leaves memory and continues with the answer', async () => {
  const { engine, start, only, approve, tasks, clock } = await begin(asking())
  const run = await start()
  expect(engine.activeRunCount).toBe(0)
  const task = await only()
  expect(await tasks()).toMatchObject([{ id: task, run, step: 'review', status: 'pending' }])
  await clock.advance(24 * HOUR)
  expect(await engine.look(run)).toMatchObject({ status: 'waiting' })
  await approve(task)
  expect(await engine.look(run)).toMatchObject({ status: 'success', output: { decision: 'approve', decidedBy: 'ana' } })
  expect(await tasks()).toEqual([])
})

test('run-4, task-turn-1: a task that its run no longer waits for is withdrawn when the run ends', async () => {
  const race: Program = async ({ gate }) => {
    await Promise.race([gate.ask('review', { spec: aSpec() }), gate.sleepUntil('enough', (now) => now + HOUR)])
    return 'went on'
  }
  const { engine, start, tasks, clock } = await begin(race)
  const run = await start()
  await clock.advance(HOUR)
  expect(await engine.look(run)).toMatchObject({ status: 'success', output: 'went on' })
  expect(await tasks(false)).toMatchObject([{ status: 'withdrawn' }])
})

test('a cancel of the run withdraws its open task and ends the run', async () => {
  const { engine, start, live, tasks, only, approve } = await begin(asking())
  const run = await start()
  const task = await only()
  await live(() => engine.cancel(run, 'bob', 'not needed'))
  expect(await engine.look(run)).toMatchObject({ status: 'cancelled' })
  expect(await tasks(false)).toMatchObject([{ id: task, status: 'withdrawn' }])
  await expect(approve(task)).rejects.toMatchObject({ code: 'TASK_CLOSED' })
})

test('a run that is retried opens a new task', async () => {
  const { engine, start, live, tasks, only, approve } = await begin(asking())
  const run = await start()
  const first = await only()
  await live(() => engine.cancel(run, 'bob', 'not needed'))
  await live(() => engine.retry(run, 'bob'))
  const second = await only()
  expect(second).not.toBe(first)
  await approve(second)
  expect(await engine.look(run)).toMatchObject({ status: 'success' })
  expect(await tasks()).toEqual([])
})

test('[C11] a deadline that passes applies the declared action once', async () => {
  const spec = { levels: [{ to: to('ana'), deadline: { kind: 'after', ms: HOUR } as const }], autoAction: 'approve' }
  const { engine, start, clock, tasks } = await begin(asking(spec))
  const run = await start()
  await clock.advance(HOUR - 1)
  expect(await tasks()).toHaveLength(1)
  await clock.advance(1)
  expect(await engine.look(run)).toMatchObject({
    status: 'success',
    output: { decision: 'approve', decidedBy: 'system' },
  })
})

test('a revision is submitted to the same task, and the next answer is about the new content', async () => {
  const program: Program = async ({ gate }) => {
    let reply: AskReply = await gate.ask('review', { spec: aSpec() })
    for (let round = 1; reply.status === 'revision_requested'; round++) {
      const { task, revision } = reply
      reply = await gate.ask(`review[${round}]`, { spec: aSpec(), revises: { task, revision } })
    }
    return { decision: reply.decision, revision: reply.revision }
  }
  const { engine, start, only, live, hash, approve } = await begin(program)
  const run = await start()
  const task = await only()
  const shownHash = await hash(task)
  await live(() => engine.tasks.submit(task, bob, { action: 'request_edit', reason: 'shorter', shownHash }))
  expect(await only()).toBe(task)
  await approve(task)
  expect(await engine.look(run)).toMatchObject({ status: 'success', output: { decision: 'approve', revision: 2 } })
})

test('a task that waits for a revision is closed when its run ends without one', async () => {
  const { engine, start, only, live, hash, tasks } = await begin(asking())
  const run = await start()
  const task = await only()
  const shownHash = await hash(task)
  await live(() => engine.tasks.submit(task, bob, { action: 'request_edit', reason: 'shorter', shownHash }))
  expect(await engine.look(run)).toMatchObject({ status: 'success', output: { decision: 'request_edit' } })
  expect(await tasks()).toEqual([])
})

test('task-append-1: the inbox row agrees with the state after a view, a claim and a follow-up', async () => {
  const { engine, start, only, live, tasks } = await begin(asking())
  await start()
  const task = await only()
  await live(() => engine.tasks.view(task, ana))
  await live(() => engine.tasks.claim(task, bob))
  await live(() => engine.tasks.followUp(task, ana, 5_000_000))
  const { state } = await engine.tasks.show(task)
  const [row] = await tasks()
  expect(state).toMatchObject({ status: 'in_review', claimedBy: 'bob', viewedBy: ['ana'] })
  expect(row).toMatchObject({ status: 'in_review', claimedBy: 'bob', putOff: { ana: 5_000_000 } })
})

test('task-events-2: an action of a person begins a new chain of causes, an action of the system continues the chain of the run', async () => {
  const { start, only, approve, store } = await begin(asking())
  await start()
  await approve(await only())
  const events = store.events.page({ tenant: LOCAL_TENANT, type: null, before: null, limit: 100 })
  const chains = Object.fromEntries(events.map(({ type, hops, chain }) => [type, { hops, chain }]))
  expect(chains).toMatchObject({
    'human.assigned': { hops: 1, chain: ['ask'] },
    'human.decided': { hops: 0, chain: [] },
  })
})

test('task-turn-2: the facts of a deadline and the release of the lease are one append, fenced by the epoch', async () => {
  const spec = { levels: [{ to: to('ana'), deadline: { kind: 'after', ms: HOUR } as const }], autoAction: 'approve' }
  const { start, only, clock, appends } = await begin(asking(spec))
  const run = await start()
  const task = await only()
  const before = appends.length
  await clock.advance(HOUR)
  const own = appends.slice(before).filter(({ writes }) => writes.some(({ stream }) => stream === task))
  expect(own).toMatchObject([
    {
      writes: [{ epoch: 1, release: true, facts: [{ type: 'task.timed_out' }, { type: 'task.decided' }] }],
      signals: [run],
    },
  ])
})
