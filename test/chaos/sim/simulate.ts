/**
 * One schedule: a small cast of workers, a few errands, one tape. Synchronous, so that a tape always gives the same history.
 *
 * Owns the course: what the tape can choose, then the calm in which everything must come to rest, then the judgement.
 */
import { MemoryLedger } from '../../../src/adapters/memory/ledger.ts'
import { MemoryStore } from '../../../src/adapters/memory/store.ts'
import type { Ids } from '../../../src/ports/ids.ts'
import type { Ledger } from '../../../src/ports/ledger.ts'
import { Cast, LEASE_TTL_MS } from './cast.ts'
import { check } from './check/check.ts'
import { checkRest } from './check/rest.ts'
import { Client } from './client.ts'
import { simDigest } from './digest.ts'
import { Errands } from './errands.ts'
import { type FaultName, Faults } from './faults.ts'
import { Line } from './line.ts'
import { Look, type LookedRun } from './look.ts'
import { assertDrains } from './microtasks.ts'
import { type Owner, Scheduler } from './scheduler.ts'
import { SimLedger, simBlobs } from './sim-ledger.ts'
import { SimWorker } from './sim-worker.ts'
import type { Systems } from './system.ts'
import type { Tape } from './tape.ts'
import { Witness } from './witness.ts'
import { World } from './world.ts'

export interface SimOptions {
  readonly systems: Systems
  /** Seeded bugs: at the store's end of the line, and at the engine's. */
  /** Is told of every message between workers and store. */
  readonly trace?: (line: string) => void
  readonly atStore?: (inner: Ledger, store: MemoryStore) => Ledger
  readonly atEngine?: (line: Ledger, store: MemoryStore) => Ledger
}

export interface Verdict {
  readonly violations: readonly string[]
  readonly fired: Readonly<Partial<Record<FaultName, number>>>
  readonly runs: number
  readonly facts: number
  readonly ticks: number
  /** The history of every run, one line per fact. */
  readonly tell: () => readonly string[]
}

const START = 1_700_000_000_000
const MAX_TICKS = 20_000
/** Longer than a lease, a let-go and a poll together: whoever is to move has moved by then. */
const QUIET_MS = 9_000
const STUCK_MS = 60_000
const MAX_ROUNDS = 8

const unchanged = (ledger: Ledger): Ledger => ledger

export const simulate = (tape: Tape, options: SimOptions): Verdict => new Simulation(tape, options).play()

const simIds = (): Ids => {
  let drawn = 0
  let rolled = 1
  return {
    uuid: () => (++drawn).toString(16).padStart(32, '0'),
    roll: () => {
      rolled = (rolled * 48_271) % 2_147_483_647
      return rolled / 2_147_483_647
    },
    digest: simDigest,
  }
}

class Simulation {
  readonly #tape: Tape
  readonly #faults: Faults
  readonly #scheduler = new Scheduler(START)
  readonly #store = new MemoryStore()
  /** Of what happens at the store and nowhere else. */
  readonly #owner: Owner = { name: 'store', state: 'alive', skewMs: 0 }
  readonly #witness: Witness
  readonly #look: Look
  readonly #client: Client
  readonly #cast: Cast
  readonly #errands: Errands
  readonly #world: World
  readonly #violations: string[] = []

  constructor(tape: Tape, { systems, atStore = unchanged, atEngine = unchanged, trace }: SimOptions) {
    assertDrains()
    this.#tape = tape
    this.#faults = new Faults(tape)
    const [scheduler, faults, kept] = [this.#scheduler, this.#faults, new Map<string, string>()]
    const store = this.#owner
    this.#world = new World(scheduler)
    systems.scene.world = this.#world
    this.#witness = new Witness(this.#store, () => scheduler.ticks)
    this.#look = new Look(this.#store, kept)
    this.#client = new Client(scheduler)
    const told = trace === undefined ? null : (line: string): void => trace(`+${scheduler.now - START} ${line}`)
    const settings = {
      ids: simIds(),
      scheduler,
      tape,
      faults,
      system: systems.editions[1],
      options: { slots: tape.pick([8, 1, 2, 3]), leaseTtlMs: LEASE_TTL_MS, pollMs: 2_000, drainMs: 500 },
      commit: { maxBatch: tape.pick([64, 1, 2]), maxInFlight: tape.pick([1, 2]) },
    }
    const spawn = (name: string): SimWorker => {
      const line = (worker: Owner): Line => new Line({ worker, store, scheduler, tape, faults, trace: told })
      const ledger = (worker: Owner): Ledger => {
        const inner = atStore(new MemoryLedger(this.#store), this.#store)
        return atEngine(new SimLedger(inner, line(worker), this.#witness, faults), this.#store)
      }
      return new SimWorker(name, { ...settings, ledger, blobs: (worker) => simBlobs(line(worker), kept) })
    }
    this.#cast = new Cast({
      scheduler,
      tape,
      faults,
      client: this.#client,
      store,
      spawn,
      newEdition: systems.editions[2],
    })
    this.#errands = new Errands({ tape, faults, client: this.#client, cast: this.#cast, look: this.#look })
  }

  play(): Verdict {
    try {
      for (let workers = this.#tape.pick([2, 1, 3]); workers > 0; workers--) this.#cast.spawn()
      this.#act()
      this.#calm()
    } catch (error) {
      // An error that leaves a callback would have ended the process.
      this.#violations.push(`threw out of a callback: ${error instanceof Error ? error.stack : String(error)}`)
    }
    return this.#verdict()
  }

  /** While there is tape: faults, calls from outside and every order of callbacks. */
  #act(): void {
    while (!this.#tape.isOver && this.#scheduler.ticks < MAX_TICKS / 2) {
      const fault = this.#faults.forTurn()
      if (fault !== null) this.#cast.strike(fault)
      if (this.#errands.isPending && this.#tape.odds(100)) this.#errands.doOne()
      else if (this.#scheduler.readyCount > 0) this.#scheduler.runReady(this.#tape.below(this.#scheduler.readyCount))
      else if (this.#errands.isPending && this.#tape.below(3) === 0) this.#errands.doOne()
      else if (!this.#errands.isPending && this.#isQuiet()) break
      else this.#wait()
    }
    this.#tape.end()
  }

  #wait(): void {
    const next = this.#scheduler.nextAt()
    if (next !== null) this.#scheduler.advanceTo(next)
    else if (this.#cast.alive.length === 0) this.#cast.spawn()
  }

  /** Past the tape: first in line, no faults. Everything must come to rest, and then to its end with the help that it asks for. */
  #calm(): void {
    this.#cast.heal()
    while (this.#errands.isPending) {
      this.#rest()
      this.#errands.doOne()
    }
    for (let round = 0; round < MAX_ROUNDS; round++) {
      this.#rest()
      this.#violations.push(...checkRest(this.#look, this.#client, this.#cast))
      if (this.#violations.length > 0) return
      if (!this.#errands.help(round)) return this.#probe()
    }
    const left = this.#look.runs().filter(({ state }) => state.kind === 'live')
    this.#violations.push(
      ...left.map(({ id, stream }) => `V13: ${id} (${stream.handler}) does not end although it got all it asked for`),
    )
  }

  /** At rest every place is free: a run that is started at a worker begins there, without a claim. */
  #probe(): void {
    const workers = this.#cast.serving
    const begun = this.#client.acknowledged.length
    for (const [i, worker] of workers.entries())
      this.#client.startRun(worker, 'probe', { id: i, kind: 0 }, null, () => {})
    this.#rest()
    const runs = this.#client.acknowledged.slice(begun).flatMap((one) => (one.kind === 'run' ? [one.run] : []))
    const claimed = runs.filter((run) => this.#witness.claimTicks.has(`${run} 1`))
    if (runs.length < workers.length) this.#violations.push('V30: a worker at rest did not take a run')
    this.#violations.push(...claimed.map((run) => `worker-1: no place was free for ${run} although nobody worked`))
  }

  /** Until nothing moves any more. */
  #rest(): void {
    const { scheduler, witness } = { scheduler: this.#scheduler, witness: this.#witness }
    let seen = witness.changes
    let since = scheduler.now
    while (scheduler.ticks < MAX_TICKS) {
      if (scheduler.readyCount > 0) scheduler.runReady(0)
      else if (this.#isQuiet()) return
      else this.#wait()
      if (witness.changes !== seen) [seen, since] = [witness.changes, scheduler.now]
      const patience = this.#hasDue() ? STUCK_MS : QUIET_MS
      if (scheduler.readyCount === 0 && scheduler.now - since > patience) return
    }
    this.#violations.push(`V30: no rest after ${MAX_TICKS} callbacks`)
  }

  /** Nobody works, nothing is due, no message is on its way, everybody was answered. */
  #isQuiet(): boolean {
    if (this.#client.unanswered.length > 0 || this.#scheduler.hasTimer(this.#owner)) return false
    if (this.#cast.alive.some(({ engine }) => engine.residentCount > 0)) return false
    return this.#store.byCreation.every((stream) => stream.lease === null && stream.wakeAt === null)
  }

  #hasDue(): boolean {
    return this.#store.nextParked() !== undefined
  }

  #verdict(): Verdict {
    const found = [...this.#violations, ...this.#witness.violations, ...this.#client.violations]
    if (found.length === 0)
      found.push(...check({ look: this.#look, witness: this.#witness, client: this.#client, world: this.#world }))
    const facts = this.#store.byCreation.reduce((sum, stream) => sum + stream.facts.length, 0)
    return {
      violations: found,
      fired: this.#faults.fired,
      runs: this.#store.byCreation.length,
      facts,
      ticks: this.#scheduler.ticks,
      tell: () => this.#look.runs().flatMap(storyOf),
    }
  }
}

const storyOf = ({ id, stream, facts }: LookedRun): readonly string[] => [
  `${id} ${stream.handler} ${stream.status}, epoch ${stream.epoch}, signal ${stream.signal}, lease ${stream.lease}, wake ${stream.wakeAt}`,
  ...facts.map(({ type, at, ...rest }, seq) => `  ${seq} +${at - START} ${type} ${JSON.stringify(rest).slice(0, 200)}`),
]
