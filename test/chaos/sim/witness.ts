/**
 * What the store did at each call, observed independently: who wrote under which epoch, who claimed, who was freed.
 *
 * Owns the rules that can only be checked at the moment of a call (ledger-4, ledger-7, V12, the promise of a batch). Knows the
 * store's state before and after, and shares no code with the ledger under test.
 */
import { documentKey, type MemoryStore } from '#adapters/storage/memory/store.ts'
import { type Instant, isRunId, type RunId, type StreamId, type WorkerId } from '#model/kernel/ids.ts'
import type { Append, BeatRequest, ClaimRequest, Claims, Outcome, StreamWrite } from '#ports/ledger.ts'

/** How long a worker may be silent before its leases are lost. */
export const LEASE_TTL_MS = 3_000

interface Before {
  readonly version: number
  readonly systemHash: string
  readonly epoch: number
  readonly lease: WorkerId | null
}

/** From one tick to another. */
export interface Absence {
  readonly worker: string
  readonly from: number
  to: number
}

/** One write that took effect. */
export interface WitnessedWrite {
  readonly stream: StreamId
  readonly fromSeq: number
  readonly facts: number
  readonly epoch: number | null
  readonly tick: number
}

export class Witness {
  readonly violations: string[] = []
  readonly writes: WitnessedWrite[] = []
  /** When each event was stored, by sequence. */
  readonly eventTicks = new Map<number, number>()
  /** When workers were silent for so long that they must consider their leases lost. */
  readonly silences: Absence[] = []
  /** The worker that sends heartbeats under this name: a worker takes a new name after a claim whose answer was lost. */
  readonly ownerOf = new Map<string, string>()
  /** When a run was claimed, by run and epoch. */
  readonly claimTicks = new Map<string, number>()
  /** The version of the worker that had a run first. */
  readonly firstHolders = new Map<StreamId, string>()
  /** Increases with everything that changes the store. */
  changes = 0
  readonly #store: MemoryStore
  readonly #tick: () => number
  readonly #appendIds = new Map<string, string>()
  /** Kept here, not read from the store, which forgets the workers that it has freed. */
  readonly #beatAt = new Map<WorkerId, { readonly at: number; readonly tick: number }>()

  /** A worker learns from the answer to its late heartbeat that its leases may be gone: its silence counts until the heartbeat after that. */
  readonly #silenceOf = new Map<WorkerId, Absence>()

  constructor(store: MemoryStore, tick: () => number) {
    this.#store = store
    this.#tick = tick
  }

  /** Reads the state before the batch is written; call the returned function with the outcomes. */
  append(batch: readonly Append[]): (outcomes: readonly Outcome[]) => void {
    this.#checkBatch(batch)
    const before = new Map(
      batch.flatMap(({ writes }) => writes.map(({ stream }) => [stream, this.#look(stream)] as const)),
    )
    const documents = batch.map((append) => this.#documentsOf(append))
    return (outcomes) => {
      for (const [i, append] of batch.entries()) {
        const outcome = outcomes[i]
        if (outcome?.kind === 'conflict' && this.#documentsOf(append) !== documents[i])
          this.violations.push('V16: an append that met a conflict has changed documents')
        if (outcome === undefined) this.violations.push('ledger-2: an append of the batch has no outcome')
        else if (outcome.kind === 'written') this.#written(append, outcome, before)
      }
    }
  }

  claim({ worker, taker, now }: ClaimRequest): (claims: Claims) => void {
    const before = this.#leases()
    const served = this.#served(now)
    return ({ claims }) => {
      for (const { stream: run, epoch } of claims) {
        if (taker !== undefined) this.#took(run, taker.version, before.get(run)?.systemHash ?? '', served)
        const { lease, epoch: old } = before.get(run) ?? { lease: null, epoch: 0 }
        this.changes++
        this.claimTicks.set(`${run} ${epoch}`, this.#tick())
        if (lease !== null) this.violations.push(`ledger-7: ${run} was claimed by ${worker} while ${lease} held it`)
        if (epoch <= old) this.violations.push(`ledger-7: a claim of ${run} left its epoch at ${epoch}`)
      }
    }
  }

  /** Only the leases of workers that were silent for too long are freed. */
  beat({ worker, now, ttlMs }: BeatRequest, owner: string): (freed: number) => void {
    this.ownerOf.set(worker, owner)
    const before = this.#leases()
    const beats = new Map(this.#store.workers)
    const last = this.#beatAt.get(worker) ?? { at: now, tick: 0 }
    const tick = this.#tick()
    const silence = this.#silenceOf.get(worker)
    // A heartbeat that arrives late adds nothing.
    if (silence !== undefined && now > last.at) {
      silence.to = tick
      this.#silenceOf.delete(worker)
    }
    if (now - last.at > ttlMs / 2) {
      const absence = { worker: owner, from: last.tick, to: tick }
      this.silences.push(absence)
      this.#silenceOf.set(worker, absence)
    }
    this.#beatAt.set(worker, { at: Math.max(now, last.at), tick })
    return (freed) => {
      this.changes += freed
      for (const [run, { lease }] of before) {
        if (lease === null || this.#store.streams.get(run)?.lease === lease) continue
        const beatAt = lease === worker ? now : beats.get(lease)?.beatAt
        if (beatAt !== undefined && now - beatAt <= ttlMs) {
          this.violations.push(`the lease of ${run} was taken from ${lease}, who had beaten ${now - beatAt} ms ago`)
        }
      }
    }
  }

  /** pin-2: versions and handlers that a worker serves whose last heartbeat is within a lease. */
  #served(now: Instant): ReadonlySet<string> {
    const living = [...this.#store.workers.values()].filter(({ beatAt }) => now - beatAt <= LEASE_TTL_MS)
    return new Set(
      living.flatMap(({ info }) =>
        info === null || info.drains ? [] : (info.handlers ?? []).map((handler) => `${info.version} ${handler}`),
      ),
    )
  }

  #took(run: StreamId, version: string, pinned: string, served: ReadonlySet<string>): void {
    if (!isRunId(run)) return
    const handler = this.#store.streams.get(run)?.handler
    if (!this.firstHolders.has(run)) this.firstHolders.set(run, version)
    else if (pinned !== version && served.has(`${pinned} ${handler}`))
      this.violations.push(`pin-2: ${run} went from ${pinned} to ${version} while a worker of ${pinned} lived`)
  }

  #documentsOf({ documents }: Append): string {
    return documents.map(({ tenant, table, key }) => this.#store.documents.get(documentKey(tenant, table, key))).join()
  }

  #look(stream: StreamId): Before {
    const found = this.#store.streams.get(stream)
    const systemHash = found?.systemHash ?? ''
    return { version: found?.facts.length ?? 0, systemHash, epoch: found?.epoch ?? 0, lease: found?.lease ?? null }
  }

  #leases(): ReadonlyMap<StreamId, Before> {
    return new Map([...this.#store.streams.keys()].map((id) => [id, this.#look(id)]))
  }

  /** The port: at most one append of a batch may write a given existing stream; an append id never names other content. */
  #checkBatch(batch: readonly Append[]): void {
    const seen = new Set<StreamId>()
    for (const { appendId, writes, events } of batch) {
      for (const { stream, create } of writes) {
        if (create === null && seen.has(stream)) this.violations.push(`one batch writes ${stream} twice`)
        seen.add(stream)
      }
      const content = [
        ...writes.map((one) => `${one.stream} ${one.expectedVersion} ${one.headHash}`),
        ...events.map(({ event }) => event.id),
      ].join()
      const known = this.#appendIds.get(appendId) ?? content
      if (known !== content) this.violations.push(`append id ${appendId} was used for two contents`)
      this.#appendIds.set(appendId, known)
    }
  }

  #written(
    append: Append,
    outcome: Exclude<Outcome, { readonly kind: 'conflict' }>,
    before: ReadonlyMap<StreamId, Before>,
  ): void {
    this.changes++
    for (const sequence of outcome.sequences) this.eventTicks.set(sequence, this.#tick())
    for (const write of append.writes) this.#wrote(write, before.get(write.stream) as Before)
  }

  #wrote(write: StreamWrite, before: Before): void {
    const { stream, expectedVersion, epoch, facts, create } = write
    if (before.version !== expectedVersion) {
      this.violations.push(`ledger-4: ${stream} was at ${before.version} when a write for ${expectedVersion} passed`)
    }
    if (create === null && epoch !== null && before.epoch !== epoch) {
      this.violations.push(`V12: ${stream} was at epoch ${before.epoch} when a write of epoch ${epoch} passed`)
    }
    if (create !== null && create.lease !== null) this.firstHolders.set(stream, create.systemHash)
    this.writes.push({
      stream,
      fromSeq: expectedVersion,
      facts: facts.length,
      epoch: create === null ? epoch : null,
      tick: this.#tick(),
    })
  }

  /** When this fact of a run was written. */
  tickOf(run: RunId, seq: number): number {
    const found = this.writes.find((one) => one.stream === run && seq >= one.fromSeq && seq < one.fromSeq + one.facts)
    return found?.tick ?? Number.POSITIVE_INFINITY
  }

  /** The epoch under which this fact of a run was written; null for a creation or a command from outside. */
  epochOf(run: RunId, seq: number): number | null {
    return (
      this.writes.find((one) => one.stream === run && seq >= one.fromSeq && seq < one.fromSeq + one.facts)?.epoch ??
      null
    )
  }
}
