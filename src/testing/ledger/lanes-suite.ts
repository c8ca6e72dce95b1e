/** Ledger suite, chapter 9: random claims and releases of runs in lanes, compared with a plain list that is searched in full (ledger-8). */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { choose, laneOf, Occupancy, PLAIN_LANE, type Slot } from '#model/flow/lane.ts'
import type { Instant, RunId, WorkerId } from '#model/kernel/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import { aCreation, anAppend, aWrite, newRun, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

const HISTORIES = 30
const MOVES = 30
const TIMEOUT = 120_000

type Move = { readonly after: number } & (
  | {
      readonly kind: 'create'
      readonly handler: string
      readonly priority: number
      readonly slots: readonly Slot[]
      readonly wakeIn: number
    }
  | {
      readonly kind: 'claim'
      readonly worker: number
      readonly limit: number
      readonly handlers: readonly string[] | null
    }
  | { readonly kind: 'release'; readonly which: number; readonly wakeIn: number | null }
  | { readonly kind: 'retire'; readonly worker: number }
)

interface Run {
  readonly stream: RunId
  readonly handler: string
  readonly lane: string
  wakeAt: Instant | null
  lease: WorkerId | null
  version: number
  epoch: number
}

const after = { after: fc.constantFrom(0, 0, 5, 1_000) }
const handler = fc.constantFrom('mail', 'print')
const slot: fc.Arbitrary<Slot> = fc.record({
  key: fc.constantFrom('a', 'b'),
  limit: fc.constantFrom(1, 2, 3),
  weight: fc.constantFrom(1, 1, 2),
})
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      handler,
      priority: fc.constantFrom(0, 0, 0, 1, -1),
      slots: fc.uniqueArray(slot, { maxLength: 2, selector: ({ key }) => key }),
      wakeIn: fc.constantFrom(0, 0, 10, 700),
      ...after,
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      worker: fc.nat(2),
      limit: fc.constantFrom(1, 2, 9),
      handlers: fc.option(fc.uniqueArray(handler, { maxLength: 2 }), { nil: null }),
      ...after,
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('release' as const),
      which: fc.nat(),
      wakeIn: fc.constantFrom(null, 0, 10),
      ...after,
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ kind: fc.constant('retire' as const), worker: fc.nat(2), ...after }), weight: 1 },
)

/** Plays a history on a ledger and on a plain list, and compares them at every claim. */
class LaneHistory {
  readonly #ledger: Ledger
  readonly #workers = [newWorker(), newWorker(), newWorker()]
  readonly #runs: Run[] = []
  #now = START

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  async play(one: Move): Promise<void> {
    this.#now += one.after
    if (one.kind === 'create') await this.#create(one)
    if (one.kind === 'claim') await this.#claim(one)
    if (one.kind === 'release') await this.#release(one)
    if (one.kind === 'retire') await this.#retire(this.#workers[one.worker] as WorkerId)
  }

  async #create({ handler: name, priority, slots, wakeIn }: Extract<Move, { kind: 'create' }>): Promise<void> {
    const [stream, wakeAt] = [newRun(), this.#now + wakeIn]
    const create = { handler: name, priority, slots, createdAt: this.#now }
    await this.#ledger.append([anAppend({ writes: [aCreation(stream, create, { wakeAt })] })])
    this.#runs.push({
      stream,
      handler: name,
      lane: laneOf(name, priority, slots),
      wakeAt,
      lease: null,
      version: 1,
      epoch: 0,
    })
  }

  async #claim({ worker: which, limit, handlers }: Extract<Move, { kind: 'claim' }>): Promise<void> {
    const [worker, now] = [this.#workers[which] as WorkerId, this.#now]
    const expected = this.#expectedClaims(limit, handlers)
    for (const run of expected.chosen) Object.assign(run, { lease: worker, wakeAt: null, epoch: run.epoch + 1 })
    const wakes = this.#parked(handlers).filter((run) => run.lane === PLAIN_LANE || run.wakeAt > now)
    const nextDueAt = Math.min(expected.left ?? Infinity, ...wakes.map(({ wakeAt }) => wakeAt))
    expect(await this.#ledger.claim({ worker, now, limit, handlers })).toMatchObject({
      claims: expected.chosen.map(({ stream, epoch }) => ({ stream, epoch })),
      nextDueAt: nextDueAt === Infinity ? null : nextDueAt,
    })
  }

  #expectedClaims(limit: number, handlers: readonly string[] | null): { chosen: readonly Run[]; left: Instant | null } {
    const held = this.#runs.filter(({ lease }) => lease !== null).map(({ lane }) => ({ lane, count: 1 }))
    const due = this.#parked(handlers).filter(({ wakeAt }) => wakeAt <= this.#now)
    const items = due.map((run) => ({ run, lane: run.lane, wakeAt: run.wakeAt, key: run.stream }))
    const { chosen, left } = choose(items, new Occupancy(held), limit)
    return { chosen: chosen.map(({ run }) => run), left: left?.wakeAt ?? null }
  }

  #parked(handlers: readonly string[] | null): readonly (Run & { wakeAt: Instant })[] {
    const isParked = (run: Run): run is Run & { wakeAt: Instant } => run.lease === null && run.wakeAt !== null
    return this.#runs.filter(isParked).filter((run) => handlers?.includes(run.handler) ?? true)
  }

  async #release({ which, wakeIn }: Extract<Move, { kind: 'release' }>): Promise<void> {
    const held = this.#runs.filter(({ lease }) => lease !== null)
    const run = held[which % Math.max(1, held.length)]
    if (run === undefined) return
    const { stream, version, epoch } = run
    const wakeAt = wakeIn === null ? null : this.#now + wakeIn
    const status = wakeIn === null ? 'success' : 'waiting'
    const write = aWrite(stream, { expectedVersion: version, epoch, release: true, status, wakeAt })
    const [outcome] = await this.#ledger.append([anAppend({ writes: [write] })])
    expect(outcome?.kind).toMatch('written')
    const waiting = this.#parked(null).filter(({ lane }) => lane !== PLAIN_LANE)
    Object.assign(run, { lease: null, wakeAt, version: version + 1 })
    if (run.lane === PLAIN_LANE || waiting.length === 0 || outcome?.kind !== 'written') return
    expect(waiting.some((one) => outcome.signalled.includes(one.stream))).toBe(true)
  }

  async #retire(worker: WorkerId): Promise<void> {
    await this.#ledger.retire(worker, this.#now)
    for (const run of this.#runs)
      if (run.lease === worker) Object.assign(run, { lease: null, wakeAt: this.#now, epoch: run.epoch + 1 })
  }
}

export const lanesSuite = (harness: LedgerHarness): void => {
  const play = async (moves: readonly Move[]): Promise<void> => {
    const opened = await harness.open()
    const history = new LaneHistory(opened.ledger)
    for (const one of moves) await history.play(one)
    await opened.close()
  }

  test(
    'ledger-8: a random history of lanes claims the same runs as a full search',
    () =>
      fc.assert(fc.asyncProperty(fc.array(move, { maxLength: MOVES, size: 'max' }), play), {
        numRuns: Math.min(HISTORIES, harness.capabilities.histories ?? HISTORIES),
      }),
    TIMEOUT,
  )
}
