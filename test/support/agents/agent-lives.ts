/**
 * A world with an agent system that crashes and restarts: the ledger, a billing model and a mail server outlive each crash.
 *
 * Owns the points at which a life may end: every ledger call, model call and mail, before it happens or before it is answered.
 */
import { MemoryBlobs } from '#adapters/storage/memory/blobs.ts'
import { openMemory } from '#adapters/storage/memory/open.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { InProcessDispatcher } from '#adapters/system/dispatcher.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { joinEngine } from '#compose/assemble.ts'
import { lazyAgents } from '#compose/lazy-agents.ts'
import type { Engine } from '#engine/core/engine.ts'
import { normalise, type SystemSource } from '#manifest/define/define.ts'
import { workerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { faultyLedger } from '#testing/faulty-ledger.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { type PaidModel, paidModel } from './agents.ts'

export type Position = 'before' | 'unanswered'

/** Where a life ends: at the given point, before the call happens or after it without an answer. */
export interface CrashAt {
  readonly point: number
  readonly position: Position
}

const START = Date.UTC(2026, 0, 1)
const never = <T>(): Promise<T> => new Promise(() => {})
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export interface Life {
  readonly engine: Engine
  /** Points passed so far. */
  readonly points: () => number
  readonly isDead: () => boolean
  /** Performs all work that is due now. */
  settle(): Promise<void>
  /** Awaits work of the engine while its turns run; null if the life ended meanwhile. */
  run<T>(work: () => Promise<T>): Promise<T | null>
}

export class World {
  readonly store = new MemoryStore()
  readonly blobs = new MemoryBlobs()
  readonly mails: Json[] = []
  private readonly script: Parameters<typeof paidModel>[0]
  private now = START
  paid = 0

  constructor(script: Parameters<typeof paidModel>[0]) {
    this.script = script
  }

  /** Called by the tools of the system; each call is a point of the current life. */
  effect: (work: () => unknown) => Promise<unknown> = async (work) => work()

  /** `works: false`: accepts commands, performs nothing. */
  async live(source: SystemSource, crash: CrashAt | null, works = true): Promise<Life> {
    const clock = new VirtualClock(this.now)
    const ids = new SystemIds()
    const opened = openMemory(this.store, this.blobs)
    let points = 0
    let isDead = false
    const at = (): Position | null => {
      if (isDead) return 'before'
      const here = points++
      return crash !== null && here === crash.point ? crash.position : null
    }
    const through = async <T>(work: () => Promise<T> | T): Promise<T> => {
      const position = at()
      if (position === 'before') isDead = true
      if (isDead) return never()
      const answer = await work()
      if (position === 'unanswered') isDead = true
      return isDead ? never() : answer
    }
    this.effect = (work) => through(async () => work())
    const inner = paidModel(this.script)
    const models: PaidModel = {
      ...inner,
      model: {
        call: (request, signal) =>
          through(() => {
            this.paid++
            return inner.model.call(request, signal)
          }),
      },
    }
    const ledger = faultyLedger(opened.ledger, ({ method }) => {
      if (method !== 'append' && method !== 'claim' && method !== 'load') return isDead ? 'crash_before' : null
      const position = at()
      if (position === null) return null
      isDead = true
      return position === 'before' ? 'crash_before' : 'crash_after'
    })
    await this.bury(opened.ledger, ids)
    const system = normalise(source, (text) => ids.digest(text))
    const agents = lazyAgents({
      ...{ clock, ids, blobs: this.blobs, reader: opened.reader, environment: {}, folder: '.', models },
      price: () => null,
      workspaces: '.never-used',
      system: () => engine.definition,
    })
    const store = {
      ...opened,
      ledger,
      dispatcher: new InProcessDispatcher(clock),
      durable: false,
      description: 'memory',
    }
    const engine: Engine = joinEngine(
      { ...store, pollMs: 1e9, sweepMs: null, commit: { maxBatch: 256, maxInFlight: 1 } },
      system,
      ids,
      clock,
      {
        leaseTtl: '30d',
        drain: 0,
        agent: agents.enter,
      },
    )
    await agents.ready(system)
    const settle = async (): Promise<void> => {
      for (let quiet = 0; quiet < 3; ) {
        await breathe()
        const next = clock.pending()[0]
        if (next === undefined || next.at > clock.now()) quiet++
        else {
          quiet = 0
          await clock.fire(0)
        }
      }
      this.now = clock.now()
    }
    const run = async <T>(work: () => Promise<T>): Promise<T | null> => {
      let over = false
      const done = work().finally(() => {
        over = true
      })
      done.catch(() => {})
      while (!over && !isDead) await settle()
      return over ? done : null
    }
    const life: Life = { engine, points: () => points, isDead: () => isDead, settle, run }
    await run(() => (works ? engine.start() : engine.declare()))
    await settle()
    return life
  }

  /** The leases of the previous life expire at once. */
  private async bury(ledger: ReturnType<typeof openMemory>['ledger'], ids: SystemIds): Promise<void> {
    const coroner = workerId(ids.uuid())
    await ledger.beat({ worker: coroner, now: this.now, ttlMs: -1 })
    await ledger.retire(coroner, this.now)
  }
}
