/**
 * The set-up of a simulation: one memory store, a cast of workers on it, a client, the world, and what is needed to check them.
 *
 * Owns the wiring and what comes after the last fault: everything must come to rest, and then to its end with the help that it
 * needs. What happens before that is simulate.ts (any tape) and sweep.ts (every crash).
 */
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { plainSeals } from '#model/kernel/seal.ts'
import type { Ids } from '#ports/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import { check } from '#test/chaos/sim/check/check.ts'
import { checkRest } from '#test/chaos/sim/check/rest.ts'
import { Cast } from './cast.ts'
import { Client } from './client.ts'
import { type CrashPoint, CrashPoints } from './crash-points.ts'
import { simDigest } from './digest.ts'
import { Errands, type Planned } from './errands.ts'
import { type FaultName, Faults } from './faults.ts'
import { Line } from './line.ts'
import { Look, type LookedRun } from './look.ts'
import { assertDrains } from './microtasks.ts'
import { START } from './play.ts'
import { type Owner, Scheduler } from './scheduler.ts'
import { SimLedger, simBlobs, simDocument, simDocuments } from './sim-ledger.ts'
import { SimWorker } from './sim-worker.ts'
import type { Bill, Systems } from './system.ts'
import type { Tape } from './tape.ts'
import { LEASE_TTL_MS, Witness } from './witness.ts'
import { World } from './world.ts'

export interface SimOptions {
  readonly systems: Systems
  /** Seeded bugs: at the store's end of the line, and at the engine's. */
  readonly atStore?: (inner: Ledger, store: MemoryStore) => Ledger
  readonly atEngine?: (line: Ledger, store: MemoryStore) => Ledger
  /** Receives every message between workers and store. */
  readonly trace?: (line: string) => void
  /** For a cast of thousands. */
  readonly maxTicks?: number
}

export interface TheatreOptions extends SimOptions {
  readonly planned: (tape: Tape, bill: Bill) => readonly Planned[]
  readonly crashes: readonly CrashPoint[]
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

const MAX_TICKS = 20_000
/** Longer than a lease, a release and a poll together: every worker that will act has acted by then. */
const QUIET_MS = 9_000
const STUCK_MS = 60_000
const MAX_ROUNDS = 8

const unchanged = (ledger: Ledger): Ledger => ledger

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
    ...plainSeals(simDigest),
  }
}

export class Theatre {
  readonly scheduler = new Scheduler(START)
  readonly faults: Faults
  readonly cast: Cast
  readonly errands: Errands
  readonly points: CrashPoints
  readonly violations: string[] = []
  readonly maxTicks: number
  readonly #store = new MemoryStore()
  /** The owner of what happens at the store and nowhere else. */
  readonly #owner: Owner = { name: 'store', state: 'alive', skewMs: 0 }
  readonly #blobs = new Map<string, string>()
  readonly #witness = new Witness(this.#store, () => this.scheduler.ticks)
  readonly #look = new Look(this.#store, this.#blobs)
  readonly #client = new Client(this.scheduler, () => this.#world)
  readonly #world: World
  readonly #options: TheatreOptions

  constructor(tape: Tape, options: TheatreOptions) {
    assertDrains()
    this.#options = options
    this.maxTicks = options.maxTicks ?? MAX_TICKS
    this.faults = new Faults(tape)
    this.points = new CrashPoints(options.crashes)
    const { scheduler, faults, points } = this
    const crash = (worker: Owner): void => this.cast.crash(worker)
    const { scene, bills } = options.systems
    const bill = tape.pick(bills)
    this.#world = new World({ scheduler, points, crash, editions: bill.editions })
    scene.world = this.#world
    const [client, store, look] = [this.#client, this.#owner, this.#look]
    const spawn = this.#spawner(tape, bill, crash)
    this.cast = new Cast({ scheduler, tape, faults, client, store, spawn, newEdition: bill.editions[2] })
    this.errands = new Errands({ tape, faults, client, cast: this.cast, look }, options.planned(tape, bill))
  }

  /** How workers are made: all alike, with places and batches drawn from the tape. */
  #spawner(tape: Tape, bill: Bill, crash: (worker: Owner) => void): (name: string) => SimWorker {
    const { atStore = unchanged, atEngine = unchanged, trace } = this.#options
    const { scheduler, faults, points } = this
    const traceLine = trace === undefined ? null : (line: string): void => trace(`+${scheduler.now - START} ${line}`)
    const settings = {
      ids: simIds(),
      scheduler,
      tape,
      faults,
      system: bill.editions[1],
      options: { slots: tape.pick([8, 1, 2, 3]), leaseTtlMs: LEASE_TTL_MS, pollMs: 2_000, drainMs: 500 },
      commit: { maxBatch: tape.pick([64, 1, 2]), maxInFlight: tape.pick([1, 2]) },
    }
    const line = (worker: Owner): Line =>
      new Line({ worker, store: this.#owner, scheduler, tape, faults, points, crash, trace: traceLine })
    const ledger = (worker: Owner): Ledger => {
      const inner = atStore(new MemoryLedger(this.#store), this.#store)
      return atEngine(new SimLedger(inner, line(worker), this.#witness, faults), this.#store)
    }
    const blobs = (worker: Owner) => simBlobs(line(worker), this.#blobs)
    const reader = new MemoryReader(this.#store)
    const document = (worker: Owner) => simDocument(line(worker), reader)
    const { isComplete = false } = this.#options.systems
    const documents = isComplete ? (worker: Owner) => simDocuments(line(worker), reader) : null
    return (name) => new SimWorker(name, { ...settings, isNamed: isComplete, ledger, blobs, document, documents })
  }

  /** Runs the schedule and checks the result. An error that leaves a callback would have ended the process. */
  play(course: () => void): Verdict {
    try {
      course()
    } catch (error) {
      this.violations.push(`threw out of a callback: ${error instanceof Error ? error.stack : String(error)}`)
    }
    return this.#verdict()
  }

  /** Advances time to the next timer or wake. */
  wait(): void {
    const next = this.scheduler.nextAt()
    if (next !== null) this.scheduler.advanceTo(next)
    else if (this.cast.alive.length === 0) this.cast.spawn()
  }

  /** First in line, no faults: the remaining work is done, everything rests, and ends with the help that it needs. */
  calm(): void {
    this.cast.heal()
    // An answer may cause more work: the list is empty only at rest.
    for (this.rest(); this.errands.isPending; this.rest()) this.errands.doOne()
    this.violations.push(...this.errands.unheard())
    for (let round = 0; round < MAX_ROUNDS; round++) {
      this.rest()
      this.violations.push(...checkRest(this.#look, this.#client, this.cast))
      if (this.violations.length > 0 || !this.errands.help(round)) return
    }
    const left = this.#look.runs().filter(({ state }) => state.kind === 'live')
    this.violations.push(
      ...left.map(({ id, stream }) => `V13: ${id} (${stream.handler}) does not end although it got all it asked for`),
    )
  }

  /** At rest every slot is free: a run that is started at a worker begins there, without a claim. */
  probe(): void {
    const workers = this.cast.serving
    const begun = this.#client.acknowledged.length
    for (const [id, worker] of workers.entries())
      this.#client.startRun(worker, 'probe', { id, kind: 0 }, null, () => {})
    this.rest()
    const runs = this.#client.acknowledged.slice(begun).flatMap((one) => (one.kind === 'run' ? [one.run] : []))
    const claimed = runs.filter((run) => this.#witness.claimTicks.has(`${run} 1`))
    if (runs.length < workers.length) this.violations.push('V30: a worker at rest did not take a run')
    this.violations.push(...claimed.map((run) => `worker-1: no place was free for ${run} although nobody worked`))
  }

  /** Runs until nothing changes any more. */
  rest(): void {
    const { scheduler } = this
    const witness = this.#witness
    let seen = witness.changes
    let since = scheduler.now
    while (scheduler.ticks < this.maxTicks) {
      if (scheduler.readyCount > 0) scheduler.runReady(0)
      else if (this.isQuiet() || this.#isStill()) return
      else this.wait()
      if (witness.changes !== seen) [seen, since] = [witness.changes, scheduler.now]
      const patience = this.#store.nextParked() === undefined ? QUIET_MS : STUCK_MS
      if (scheduler.readyCount === 0 && scheduler.now - since > patience) return
    }
    this.violations.push(`V30: no rest after ${this.maxTicks} callbacks`)
  }

  /** Nothing will happen by itself any more; the check of rest reports any work that is left. */
  #isStill(): boolean {
    return this.cast.alive.length > 0 && this.scheduler.nextAt() === null
  }

  /** No worker starts or works, nothing is due, no message is in flight, every caller was answered. */
  isQuiet(): boolean {
    if (this.#client.unanswered.length > 0 || this.scheduler.hasTimer(this.#owner)) return false
    if (this.cast.alive.some(({ engine, phase }) => phase === 'starting' || engine.activeRunCount > 0)) return false
    return this.#store.byCreation.every((stream) => stream.lease === null && stream.wakeAt === null)
  }

  #verdict(): Verdict {
    const [look, witness, client, world] = [this.#look, this.#witness, this.#client, this.#world]
    const isSkewed = (this.faults.fired.clock_skew ?? 0) > 0
    const absences = [...this.cast.absences, ...witness.silences]
    const found = [...this.violations, ...witness.violations, ...client.violations]
    if (found.length === 0) found.push(...check({ look, witness, client, world, isSkewed, absences }))
    return {
      violations: found,
      fired: this.faults.fired,
      runs: this.#store.byCreation.length,
      facts: this.#store.byCreation.reduce((sum, stream) => sum + stream.facts.length, 0),
      ticks: this.scheduler.ticks,
      tell: () => [...look.coordinators(), ...look.runs()].flatMap(storyOf),
    }
  }
}

interface Told {
  readonly id: string
  readonly facts: readonly { readonly type: string; readonly at: number }[]
}

const storyOf = ({ id, stream, facts }: Pick<LookedRun, 'stream'> & Told): readonly string[] => [
  `${id} ${stream.handler} ${stream.status}, epoch ${stream.epoch}, signal ${stream.signal}, lease ${stream.lease}, wake ${stream.wakeAt}`,
  ...facts.map(({ type, at, ...rest }, seq) => `  ${seq} +${at - START} ${type} ${JSON.stringify(rest).slice(0, 200)}`),
]
