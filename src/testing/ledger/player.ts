/**
 * Plays one random history on one ledger. A move says "at the right version", not "at version 3", so that each of two ledgers
 * can carry it out for itself; a player returns what must be equal on both.
 *
 * Left out, because stores may differ there: how far a signal counts, gaps between sequences, which past instant "due at once" is,
 * and whether an event reaches a wait that the same append or batch closes.
 */
import type { Instant, RunId, WorkerId } from '#model/kernel/ids.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import type {
  Append,
  Ledger,
  NewEvent,
  Outcome,
  SealedFact,
  StreamRecord,
  StreamWrite,
  WaitRow,
} from '#ports/ledger.ts'
import { aCreation, anAppend, anEvent, aWrite, newRun, newWorker, START } from './builders.ts'

const TTL = 25

export interface WaitMove {
  readonly step: 'a' | 'b'
  readonly type: 'x' | 'y'
  readonly order: 0 | 1 | null
  readonly seen: 'counted' | 'none'
}

/** `id` is drawn from a few values, so that identities collide. */
export interface EventMove {
  readonly id: number
  readonly type: 'x' | 'y'
  readonly order: 0 | 1
}

export interface CreateMove {
  readonly kind: 'create'
  readonly run: number
  readonly worker: number | null
  readonly wakeIn: number | null
  readonly event: EventMove | null
  readonly opens: WaitMove | null
}

export interface WriteMove {
  readonly kind: 'write'
  readonly run: number
  readonly versionOff: number
  readonly as: 'holder' | 'stale holder' | 'outsider'
  readonly facts: number
  readonly status: RunStatus
  readonly wakeIn: number | null
  readonly release: boolean
  readonly seen: 'fresh' | 'none'
  readonly opens: WaitMove | null
  readonly closes: 'a' | 'b' | null
  readonly event: EventMove | null
  readonly signals: number | null
  /** A second run that is written from outside in the same append. */
  readonly also: number | null
}

export type AppendMove = CreateMove | WriteMove | { readonly kind: 'event'; readonly event: EventMove }

export type Move = { readonly after: number } & (
  | AppendMove
  | { readonly kind: 'batch'; readonly moves: readonly AppendMove[] }
  | { readonly kind: 'resend'; readonly back: number }
  | { readonly kind: 'claim'; readonly worker: number; readonly only: readonly number[] | null }
  | { readonly kind: 'beat' | 'retire'; readonly worker: number }
)

/** The participants of a history, the same for both ledgers. */
export interface Cast {
  readonly runs: readonly RunId[]
  readonly workers: readonly WorkerId[]
}

export const newCast = (): Cast => ({
  runs: Array.from({ length: 4 }, newRun),
  workers: Array.from({ length: 3 }, newWorker),
})

const pick = <Item>(items: readonly Item[], index: number): Item => items[index % items.length] as Item

export class Player {
  readonly #ledger: Ledger
  readonly #cast: Cast
  readonly #sent: (readonly Append[])[] = []
  readonly #sequences = new Set<number>()
  #signals = new Map<RunId, number>()
  #now: Instant = START
  #turn = 0

  constructor(ledger: Ledger, cast: Cast) {
    this.#ledger = ledger
    this.#cast = cast
  }

  async play(move: Move): Promise<unknown> {
    this.#turn += 1
    this.#now += move.after
    switch (move.kind) {
      case 'create':
      case 'write':
      case 'event':
        return this.#send(await this.#toAppends([move]))
      case 'batch':
        return this.#send(await this.#toAppends(withoutOrder(move.moves)))
      case 'resend':
        return this.#sent.length === 0 ? null : this.#send(pick(this.#sent, move.back))
      case 'claim':
        return this.#claim(move)
      case 'beat':
        return this.#ledger.beat({ worker: pick(this.#cast.workers, move.worker), now: this.#now, ttlMs: TTL })
      case 'retire':
        return this.#ledger.retire(pick(this.#cast.workers, move.worker), this.#now)
    }
  }

  /** All streams and events at this moment. */
  async view(): Promise<unknown> {
    const before = this.#signals
    this.#signals = new Map()
    const records = await this.#ledger.load(this.#cast.runs)
    const streams = records.map((record) => (record === null ? null : this.#strip(record, before)))
    const events = await this.#ledger.events({ tenant: LOCAL_TENANT, limit: 1000 })
    return { streams, events: events.map(({ id, type, data }) => ({ id, type, data })) }
  }

  #strip(record: StreamRecord, before: ReadonlyMap<RunId, number>): unknown {
    const run = record.stream as RunId
    this.#signals.set(run, record.signal)
    return {
      ...record,
      signal: record.signal > (before.get(run) ?? 0) ? 'raised' : 'as before',
      wakeAt: record.wakeAt === null ? null : Math.max(record.wakeAt, this.#now),
      event: record.event === null ? null : this.#rank(record.event),
      base: this.#rank(record.base),
    }
  }

  async #claim({ worker, only }: { worker: number; only: readonly number[] | null }): Promise<unknown> {
    const { claims } = await this.#ledger.claim({
      worker: pick(this.#cast.workers, worker),
      now: this.#now,
      limit: 100,
      ...(only && { only: only.map((run) => pick(this.#cast.runs, run)) }),
    })
    return claims.map(({ stream, version, epoch }) => `${stream} ${version} ${epoch}`).sort()
  }

  async #send(batch: readonly Append[]): Promise<unknown> {
    // A release that changes nothing leaves no trace once the run is claimed again, so it is not sent a second time.
    if (batch.every(({ writes, events }) => events.length > 0 || writes.some(({ facts }) => facts.length > 0)))
      this.#sent.push(batch)
    const outcomes = await this.#ledger.append(batch)
    for (const outcome of outcomes)
      if (outcome.kind !== 'conflict') for (const one of outcome.sequences) this.#sequences.add(one)
    return outcomes.map((outcome) => this.#stripOutcome(outcome))
  }

  #stripOutcome(outcome: Outcome): unknown {
    if (outcome.kind !== 'conflict')
      return { written: true, sequences: outcome.sequences.map((one) => this.#rank(one)) }
    if (outcome.reason !== 'taken') return outcome
    return { ...outcome, sequence: this.#rank(outcome.sequence), runs: [...outcome.runs].sort() }
  }

  /** The number of known events with a sequence up to this one. */
  #rank(sequence: number): number {
    return [...this.#sequences].filter((one) => one <= sequence).length
  }

  async #toAppends(moves: readonly AppendMove[]): Promise<readonly Append[]> {
    const appends: Append[] = []
    for (const [i, move] of moves.entries()) {
      const writes =
        move.kind === 'event' ? [] : move.kind === 'create' ? [await this.#creation(move)] : await this.#writes(move)
      appends.push(
        anAppend({
          appendId: `${this.#cast.runs[0]}-${this.#turn}-${i}`,
          writes,
          events: move.event === null ? [] : [this.#event(move.event)],
          signals: move.kind === 'write' && move.signals !== null ? [pick(this.#cast.runs, move.signals)] : [],
        }),
      )
    }
    return appends
  }

  #event({ id, type, order }: EventMove): NewEvent {
    return anEvent(
      { id: `${this.#cast.runs[0]}-${id}`, type, time: this.#now, data: { order } },
      { dataHash: `${type}${order}` },
    )
  }

  async #creation(move: CreateMove): Promise<StreamWrite> {
    const run = pick(this.#cast.runs, move.run)
    const lease = move.worker === null ? null : pick(this.#cast.workers, move.worker)
    return aCreation(
      run,
      { lease, createdAt: this.#now, event: move.event === null ? null : 0 },
      { ...this.#facts(run, 1), wakeAt: this.#wake(move.wakeIn), opensWaits: await this.#waits(move.opens, 0) },
    )
  }

  async #writes(move: WriteMove): Promise<readonly StreamWrite[]> {
    const write = await this.#write(move, pick(this.#cast.runs, move.run))
    const other = move.also === null ? undefined : pick(this.#cast.runs, move.also)
    if (other === undefined || other === write.stream) return [write]
    const asOutsider: WriteMove = { ...move, as: 'outsider', facts: 1, versionOff: 0, opens: null, closes: null }
    return [write, await this.#write(asOutsider, other)]
  }

  async #write(move: WriteMove, run: RunId): Promise<StreamWrite> {
    const [record] = await this.#ledger.load([run])
    const { version = 0, epoch = 0, signal = 0, base = 0, lease = null, headHash = '' } = record ?? {}
    const isOutside = move.as === 'outsider' || (move.as === 'holder' && lease === null)
    const count = isOutside || !move.release ? Math.max(1, move.facts) : move.facts
    return aWrite(run, {
      expectedVersion: Math.max(0, version + move.versionOff),
      epoch: isOutside ? null : move.as === 'holder' ? epoch : epoch + 1,
      ...(count === 0 ? { facts: [], headHash } : this.#facts(run, count)),
      status: move.status,
      wakeAt: this.#wake(move.wakeIn),
      release: !isOutside && move.release,
      seenSignal: move.seen === 'fresh' ? signal : 0,
      opensWaits: await this.#waits(move.opens, base),
      closesWaits: move.closes === null || move.event !== null ? [] : [move.closes],
    })
  }

  #facts(run: RunId, count: number): { facts: readonly SealedFact[]; headHash: string } {
    const name = `${run}-${this.#turn}`
    const facts = Array.from({ length: count }, (_, i) => ({
      type: 'f',
      recordedAt: this.#now,
      body: `"${name}"`,
      hash: `${name}-${i}`,
    }))
    return { facts, headHash: `${name}-${count - 1}` }
  }

  async #waits(move: WaitMove | null, base: number): Promise<readonly WaitRow[]> {
    if (move === null) return []
    const { step, type, order } = move
    const value = order === null ? { path: '', value: '' } : { path: 'order', value: String(order) }
    const sought = order === null ? { types: [type] } : { matching: [{ type, ...value, after: base }] }
    const events = await this.#ledger.events({ tenant: LOCAL_TENANT, ...sought, after: base, limit: 1000 })
    return [{ step, type, ...value, base, seen: move.seen === 'counted' ? events.length : 0 }]
  }

  #wake(wakeIn: number | null): Instant | null {
    return wakeIn === null ? null : this.#now + wakeIn
  }
}

/**
 * Limits a batch so that neither its order nor a resend is visible: each run and each event once, no wait closed, and next to
 * events no new run that would count them.
 */
const withoutOrder = (moves: readonly AppendMove[]): readonly AppendMove[] => {
  const hasEvents = moves.some((move) => move.event !== null)
  const taken = new Set<string>()
  return moves.flatMap((move): AppendMove[] => {
    const names = [
      ...(move.kind === 'event' ? [] : [`run ${move.run}`]),
      ...(move.event === null ? [] : [`event ${move.event.id}`]),
    ]
    if (names.some((name) => taken.has(name))) return []
    if (move.kind === 'create' && hasEvents && move.event === null) return []
    for (const name of names) taken.add(name)
    return [move.kind === 'write' ? { ...move, closes: null, also: null, signals: null } : move]
  })
}
