/**
 * The ledger and the blobs as one virtual worker sees them: the memory store behind a line that fails.
 *
 * Owns which faults each call can meet, and shows every call to the witness at the moment it takes effect.
 */
import type { StoredEvent } from '#model/event/event.ts'
import type { Instant, StreamId, WorkerId } from '#model/kernel/ids.ts'
import type { Blobs } from '#ports/blobs.ts'
import type {
  Append,
  BeatRequest,
  ClaimRequest,
  Claims,
  EventQuery,
  Ledger,
  Outcome,
  StreamRecord,
  StreamWrite,
} from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import type { Faults } from './faults.ts'
import { APPEND_FAULTS, type Line, READ_FAULTS, WRITE_FAULTS } from './line.ts'
import type { Witness } from './witness.ts'

const seen = async <T>(result: Promise<T>, look: (value: T) => void): Promise<T> => {
  const value = await result
  look(value)
  return value
}

const appendText = (batch: readonly Append[]): string =>
  batch
    .map(({ writes, events }) => [...writes.map(writeText), ...events.map(({ event }) => event.type)].join(' + '))
    .join(' | ')

const writeText = ({ stream, expectedVersion, epoch, facts, release, wakeAt }: StreamWrite): string =>
  `${stream.slice(-3)}@${expectedVersion}/${epoch} [${facts.map(({ type }) => type).join()}] ${release ? 'release' : 'keep'} wake ${wakeAt}`

export class SimLedger implements Ledger {
  readonly #inner: Ledger
  readonly #line: Line
  readonly #witness: Witness
  readonly #faults: Faults
  /** Append ids that have left this worker. */
  readonly #sent = new Set<string>()

  constructor(inner: Ledger, line: Line, witness: Witness, faults: Faults) {
    this.#inner = inner
    this.#line = line
    this.#witness = witness
    this.#faults = faults
  }

  append(batch: readonly Append[]): Promise<readonly Outcome[]> {
    const apply = (): Promise<readonly Outcome[]> => {
      const look = this.#witness.append(batch)
      return seen(this.#inner.append(batch), (outcomes) => {
        look(outcomes)
        for (const outcome of outcomes) this.#sight(outcome)
      })
    }
    const fresh = batch.every(({ appendId }) => !this.#sent.has(appendId))
    for (const { appendId } of batch) this.#sent.add(appendId)
    return this.#line.call({
      name: () => `append ${appendText(batch)}`,
      possible: APPEND_FAULTS,
      apply,
      conflict: () => (fresh ? this.#withConflict(batch) : null),
    })
  }

  load(streams: readonly StreamId[], options?: { readonly after?: number }): Promise<readonly (StreamRecord | null)[]> {
    return this.#line.call({
      name: () => `load ${streams.join()}`,
      possible: READ_FAULTS,
      apply: () => this.#inner.load(streams, options),
    })
  }

  events(query: EventQuery): Promise<readonly StoredEvent[]> {
    return this.#line.call({ name: () => 'events', possible: READ_FAULTS, apply: () => this.#inner.events(query) })
  }

  claim(request: ClaimRequest): Promise<Claims> {
    const apply = (): Promise<Claims> => {
      const look = this.#witness.claim(request)
      return seen(this.#inner.claim(request), look)
    }
    return this.#line.call({ name: () => 'claim', possible: WRITE_FAULTS, apply })
  }

  beat(request: BeatRequest): Promise<number> {
    const apply = (): Promise<number> => {
      const look = this.#witness.beat(request, this.#line.owner)
      return seen(this.#inner.beat(request), (freed) => {
        look(freed)
        if (freed > 0) this.#faults.count('lease_freed')
      })
    }
    return this.#line.call({ name: () => 'beat', possible: WRITE_FAULTS, apply })
  }

  retire(worker: WorkerId, now: Instant): Promise<void> {
    return this.#line.call({
      name: () => `retire ${worker}`,
      possible: WRITE_FAULTS,
      apply: () => this.#inner.retire(worker, now),
    })
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #sight(outcome: Outcome): void {
    if (outcome.kind === 'already_written') this.#faults.count('resent')
    if (outcome.kind !== 'conflict') return
    if (outcome.reason === 'epoch') this.#faults.count('fenced')
    if (outcome.reason === 'taken') this.#faults.count('repeat')
  }

  /** One append of the batch meets a version that nobody has; the others are written. Births have no version to miss, and a repeat
   *  never does: it finds itself written, or the version as it was (ledger-3). */
  #withConflict(batch: readonly Append[]): Promise<readonly Outcome[]> | null {
    const at = batch.findIndex(({ writes }) => writes.some(({ create }) => create === null))
    const stream = batch[at]?.writes.find(({ create }) => create === null)?.stream
    if (stream === undefined) return null
    const others = batch.filter((_, i) => i !== at)
    const look = this.#witness.append(others)
    return Promise.all([this.#inner.append(others), this.#inner.load([stream])]).then(([outcomes, [row]]) => {
      look(outcomes)
      const conflict: Outcome = {
        kind: 'conflict',
        reason: 'version',
        stream,
        version: row?.version ?? 0,
        epoch: row?.epoch ?? 0,
      }
      return [...outcomes.slice(0, at), conflict, ...outcomes.slice(at)]
    })
  }
}

/** Documents as a worker reads them. */
export const simDocument =
  (line: Line, reader: Pick<Reader, 'document'>): Reader['document'] =>
  (tenant, table, key) =>
    line.call({
      name: () => `document ${table} ${key}`,
      possible: READ_FAULTS,
      apply: () => reader.document(tenant, table, key),
    })

export const simDocuments =
  (line: Line, reader: Pick<Reader, 'documents'>): Reader['documents'] =>
  (query) =>
    line.call({
      name: () => `documents ${query.table}`,
      possible: READ_FAULTS,
      apply: () => reader.documents(query),
    })

export const simBlobs = (line: Line, kept: Map<string, string>): Blobs => ({
  put: (hash, text) =>
    line.call({
      name: () => 'put a blob',
      possible: READ_FAULTS,
      apply: async () => {
        kept.set(hash, text)
      },
    }),
  get: (hash) =>
    line.call({ name: () => 'get a blob', possible: READ_FAULTS, apply: async () => kept.get(hash) ?? null }),
})
