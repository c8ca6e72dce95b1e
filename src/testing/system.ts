/**
 * A whole system for tests: the real engine on any store, with manual time.
 *
 * Owns the idle state: when `settle` or `advance` returns, nothing is due, nothing is under way and no store call is open.
 * Never sleeps. `crash` leaves the engine as a killed process would: its calls are never answered.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EngineSettings, joinEngine, type Store, type TrihandOptions } from '#compose/assemble.ts'
import { withBulk } from '#compose/bulk.ts'
import { defineWithChats } from '#compose/chats.ts'
import { lazyAgents } from '#compose/lazy-agents.ts'
import { newPlanService, openPlans } from '#compose/plans.ts'
import type { Engine } from '#engine/core/engine.ts'
import type { IncomingEvent, InnerStartOptions, Receipt, SendOptions } from '#engine/core/incoming.ts'
import type { RunResult } from '#engine/outcome/result.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { type RunId, workerId } from '#model/kernel/ids.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Ids } from '#ports/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { VirtualClock } from './virtual-clock.ts'

/** Where the facts of a test are stored. `open` is called again after a crash or a restart. */
export interface TestStore {
  /** Its name in test titles. */
  readonly name: string
  /** Opens it, also after a crash. */
  open(clock: VirtualClock): Promise<Store>
  /** The ids that it works with. */
  ids(): Ids
  /** Removes what it has stored. */
  remove(): Promise<void>
}

/** The engine on any store, with manual time. */
export interface TestSystem {
  /** Its time. */
  readonly clock: VirtualClock
  /** The engine; after a crash another one. */
  readonly engine: Engine
  /** Its store. */
  readonly store: Store
  /** Sends an event. */
  send(event: IncomingEvent, options?: SendOptions): Promise<Receipt>
  /** Starts a handler by name. Default input: null. */
  start(name: string, input?: unknown, options?: InnerStartOptions): Promise<RunId>
  /** The state of a run. */
  look(run: RunId): Promise<RunResult>
  /** Waits for work of the engine while its turns and store calls continue. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Performs everything that is due now. */
  settle(): Promise<void>
  /** Lets this much time pass, doing what becomes due in order. */
  advance(duration: string | number): Promise<void>
  /** Ends this engine as kill -9 would, then starts another on the same store after `down`, with another definition if one is given. */
  crash(source?: SystemSource, options?: { readonly down?: string | number }): Promise<void>
  /** Ends it and removes what it has stored. */
  close(): Promise<void>
}

const START = Date.UTC(2026, 0, 1)
const UNPLACED = { slots: 1_024, place: { pool: null, labels: {}, modules: null } } as const
const macrotask = setImmediate
const breathe = (): Promise<void> => new Promise((resolve) => macrotask(resolve))

/** Counts the open calls of a store, and answers none after `dead`. */
class Watch {
  inFlight = 0
  dead = false
  private readonly waiting: (() => void)[] = []

  ledger(inner: Ledger): Ledger {
    return {
      append: (batch) => this.call(() => inner.append(batch)),
      load: (streams, options) => this.call(() => inner.load(streams, options)),
      events: (query) => this.call(() => inner.events(query)),
      claim: (request) => this.call(() => inner.claim(request)),
      beat: (request) => this.call(() => inner.beat(request)),
      retire: (worker, now) => this.call(() => inner.retire(worker, now)),
      close: () => inner.close(),
    }
  }

  blobs(inner: Blobs): Blobs {
    return {
      put: (hash, text) => this.call(() => inner.put(hash, text)),
      get: (hash) => this.call(() => inner.get(hash)),
    }
  }

  /** The engine calls these on its own: time must not move while it waits for an answer. */
  reader(inner: Reader): Reader {
    const watched = (name: keyof Reader) =>
      ((...values: readonly never[]) =>
        this.call(() =>
          (inner[name] as (...values: readonly never[]) => Promise<unknown>).call(inner, ...values),
        )) as never
    return new Proxy(inner, { get: (_, name) => watched(name as keyof Reader) })
  }

  private async call<T>(work: () => Promise<T>): Promise<T> {
    if (this.dead) return new Promise<T>(() => {})
    this.inFlight++
    try {
      const answer = await work()
      return this.dead ? await new Promise<T>(() => {}) : answer
    } finally {
      this.inFlight--
      if (this.inFlight === 0) for (const resolve of this.waiting.splice(0)) resolve()
    }
  }

  /** Settles when no call is open. Waits instead of polling, because a real store needs the processor too. */
  async quiet(): Promise<void> {
    if (this.inFlight > 0) await new Promise<void>((resolve) => this.waiting.push(resolve))
  }
}

interface Life {
  readonly engine: Engine
  readonly store: Store
  readonly watch: Watch
  readonly clock: VirtualClock
  readonly agents: ReturnType<typeof lazyAgents>
}

/** What a test may provide besides the system: executors in place of the real ones. */
export type TestExecutors = Pick<EngineSettings, 'price' | 'models' | 'broker' | 'code'> &
  Pick<TrihandOptions, 'agents' | 'folder' | 'name'>

const live = async (source: SystemSource, place: TestStore, now: number, hands: TestExecutors): Promise<Life> => {
  const clock = new VirtualClock(now)
  const store = await place.open(clock)
  const watch = new Watch()
  const ids = place.ids()
  const planService = newPlanService((tenant) => openPlans(engine.of(tenant), reader, { ids, clock }))
  const system = withBulk(
    defineWithChats(source, { ids, clock, planService }),
    () => engine,
    () => reader,
  )
  // Polls and heartbeats are far apart: in a test nothing is lost, so they have nothing to find.
  const blobs = watch.blobs(store.blobs)
  const reader = watch.reader(store.reader)
  const agents = lazyAgents({
    workspaces: join(tmpdir(), 'trihand-test-workspaces'),
    ...hands.agents,
    ...{ clock, ids, blobs, reader: store.reader, environment: {}, folder: hands.folder ?? '.' },
    system: () => engine.definition,
  })
  const engine: Engine = joinEngine(
    {
      ...store,
      ledger: watch.ledger(store.ledger),
      blobs,
      reader,
      pollMs: durationMs('30d'),
    },
    system,
    ids,
    clock,
    {
      ...{ ...hands, leaseTtl: '30d', drain: 0, agent: agents.enter },
      // Without a name it takes no commands, like a process that is not listed.
      ...(hands.name === undefined ? {} : { worker: { ...UNPLACED, id: workerId(ids.uuid()), name: hands.name } }),
    },
  )
  const life = { engine, store: { ...store, reader }, watch, clock, agents }
  await agents.ready(system)
  await whileRunning(life, () => engine.start())
  return life
}

/** The leases of a killed process expire at once instead of after the ttl, for which the test's clock would have to wait. */
const pronounceDead = async (ledger: Ledger, ids: Ids, now: number): Promise<void> => {
  const coroner = workerId(ids.uuid())
  await ledger.beat({ worker: coroner, now, ttlMs: -1 })
  await ledger.retire(coroner, now)
}

/** Fires what is due up to `end`; waits for open store calls before time moves. */
const runUntil = async ({ clock, watch }: Life, end: number): Promise<void> => {
  for (;;) {
    await breathe()
    if (watch.inFlight > 0) {
      await watch.quiet()
      continue
    }
    const next = clock.nextAt
    if (next === null || next > end) return
    await clock.fire(0)
  }
}

/** Waits for work of the engine while its turns and store calls continue. */
const whileRunning = async <T>(life: Life, work: () => Promise<T>): Promise<T> => {
  let over = false
  const done = work().finally(() => {
    over = true
  })
  done.catch(() => {})
  while (!over) await runUntil(life, life.clock.now())
  return done
}

/** Starts a system on a store, with manual time. */
export const startTestSystem = async (
  source: SystemSource,
  place: TestStore,
  hands: TestExecutors = {},
): Promise<TestSystem> => {
  let life = await live(source, place, START, hands)
  return {
    get clock() {
      return life.clock
    },
    get engine() {
      return life.engine
    },
    get store() {
      return life.store
    },
    send: (event, options = {}) => whileRunning(life, () => life.engine.send(event, options)),
    start: (name, input = null, options = {}) => whileRunning(life, () => life.engine.startRun(name, input, options)),
    look: (id) => life.engine.look(id),
    run: (work) => whileRunning(life, work),
    settle: () => runUntil(life, life.clock.now()),
    async advance(duration) {
      const end = life.clock.now() + durationMs(duration)
      await runUntil(life, end)
      await life.clock.advance(end - life.clock.now())
    },
    async crash(next = source, { down = 0 } = {}) {
      life.watch.dead = true
      const now = life.clock.now() + durationMs(down)
      await life.agents.close()
      await pronounceDead(life.store.ledger, place.ids(), now)
      await life.store.ledger.close()
      life = await live(next, place, now, hands)
      await runUntil(life, now)
    },
    async close() {
      await whileRunning(life, () => life.engine.stop())
      await life.agents.close()
      await life.store.ledger.close()
      await place.remove()
    },
  }
}
