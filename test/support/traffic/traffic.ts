/**
 * A worker that writes to a ledger like the engine, without the engine: events arrive; runs are claimed, perform steps, wait and end.
 *
 * Owns the mix and the receipts: what was acknowledged, so that a checker can look for it later. Continues with what is in the ledger, so
 * it can follow a crash. Never resends: the given ledger does (insistent.ts).
 */
import type { StoredEvent } from '#model/event/event.ts'
import type { WaitSpec } from '#model/event/wait.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT, type RunId, runId, type WorkerId, workerId } from '#model/kernel/ids.ts'
import { inline } from '#model/kernel/payload.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Append, Claim, Ledger, Outcome, StreamWrite, WaitRow } from '#ports/ledger.ts'
import type { Random } from '#test/support/random.ts'
import { Letters } from './letters.ts'
import { newRun } from './new-run.ts'
import { RunPen } from './run-pen.ts'
import { ACTIONS, nextIntents, type Surroundings } from './story.ts'

/** What the ledger has acknowledged: facts by hash (which seals stream, place and content), events by sequence. */
export interface Receipt {
  readonly append: string
  readonly facts: readonly string[]
  readonly events: readonly (readonly [sequence: number, source: string, id: string])[]
  readonly blobs: readonly string[]
}

export interface TrafficOptions {
  readonly ledger: Ledger
  readonly blobs: Blobs
  readonly random: Random
  readonly acknowledge: (receipts: readonly Receipt[]) => void
  /** Called with an append that the ledger refused: no part of it may ever be there. */
  readonly refuse?: (append: string) => void
  readonly leaseTtlMs?: number
  /** The maximum number of held runs, and so the size of a batch. */
  readonly width?: number
}

interface Entry {
  readonly append: Append
  readonly blobs: readonly string[]
  readonly written: () => void
  readonly refused: () => void
}

const nothing = (): void => {}
const MAX_PLAN = 6
const BEAT_MS = 500
const WANTED_EVENTS = 1_000

export class Traffic {
  #worker: WorkerId
  readonly #options: Required<TrafficOptions>
  readonly #letters: Letters
  readonly #held = new Map<RunId, RunPen>()
  /** Runs that wait for an answer that is not sent yet. */
  readonly #unanswered: RunId[] = []
  #position = 0
  #beatAt = 0

  constructor(options: TrafficOptions) {
    this.#options = { leaseTtlMs: 15_000, width: 8, refuse: nothing, ...options }
    const life = options.random.hex()
    this.#worker = workerId(life)
    this.#letters = new Letters(life)
  }

  /** One batch: claims due runs, writes one append per held run and some arrivals, records what was acknowledged. */
  async turn(): Promise<void> {
    await this.#beat()
    await this.#claim()
    const entries = [...this.#arrivals(), ...this.#answers()]
    for (const pen of this.#held.values()) entries.push(await this.#advance(pen))
    if (entries.length === 0) return
    const batch = shuffled(entries, this.#options.random)
    const outcomes = await this.#options.ledger.append(batch.map((entry) => entry.append))
    this.#settle(batch, outcomes)
  }

  #settle(batch: readonly Entry[], outcomes: readonly Outcome[]): void {
    const receipts: Receipt[] = []
    for (const [index, entry] of batch.entries()) {
      const outcome = outcomes[index]
      if (outcome === undefined) throw new Error('the ledger answered fewer outcomes than appends')
      if (outcome.kind === 'conflict') {
        entry.refused()
        this.#options.refuse(entry.append.appendId)
        continue
      }
      this.#position = Math.max(this.#position, outcome.position)
      entry.written()
      receipts.push(receiptOf(entry, outcome.sequences))
    }
    this.#options.acknowledge(receipts)
  }

  async #beat(): Promise<void> {
    const now = Date.now()
    if (now - this.#beatAt < BEAT_MS) return
    await this.#options.ledger.beat({ worker: this.#worker, now, ttlMs: this.#options.leaseTtlMs })
    this.#beatAt = now
  }

  async #claim(): Promise<void> {
    const { ledger, width } = this.#options
    const limit = width - this.#held.size
    if (limit <= 0) return
    const claims = await this.#claims(limit)
    const records = await ledger.load(claims.map((claim) => claim.stream))
    for (const [index, claim] of claims.entries()) {
      const record = records[index]
      if (record === null || record === undefined)
        throw new Error(`claimed ${claim.stream}, and the ledger does not have it`)
      this.#held.set(claim.stream as RunId, RunPen.resume(record, claim))
    }
  }

  /** A claim with an unknown outcome may have leased runs to us: the worker releases all it has and restarts under another id. */
  async #claims(limit: number): Promise<readonly Claim[]> {
    const { ledger, random } = this.#options
    try {
      return (await ledger.claim({ worker: this.#worker, now: Date.now(), limit })).claims
    } catch (error) {
      if (!(error instanceof TrihandError) || error.outcome !== 'unknown') throw error
      await ledger.retire(this.#worker, Date.now())
      this.#held.clear()
      this.#worker = workerId(random.hex())
      this.#beatAt = 0
      return []
    }
  }

  #arrivals(): readonly Entry[] {
    const { random, width } = this.#options
    const count = this.#held.size < width ? 1 + random.below(2) : 0
    return Array.from({ length: count }, () => this.#arrival())
  }

  /** An external event and the run that it triggers. */
  #arrival(): Entry {
    const { random } = this.#options
    const now = Date.now()
    const plan = Array.from({ length: 1 + random.below(MAX_PLAN) }, () => random.pick(ACTIONS))
    const write = newRun({ id: runId(random.uuid()), plan, now, parent: null })
    const append = this.#append({ writes: [write], events: [this.#letters.arrival(now)] })
    return { append, blobs: [], written: nothing, refused: nothing }
  }

  #answers(): readonly Entry[] {
    const { random } = this.#options
    if (this.#unanswered.length === 0 || random.chance(0.3)) return []
    const run = this.#unanswered.shift()
    if (run === undefined) return []
    const append = this.#append({ events: [this.#letters.answer(run, Date.now())] })
    return [{ append, blobs: [], written: nothing, refused: nothing }]
  }

  async #advance(pen: RunPen): Promise<Entry> {
    const { random, blobs } = this.#options
    const now = Date.now()
    const around = await this.#surroundings(pen, now)
    const intents = nextIntents(pen.state, around)
    if (intents.blob !== undefined) await blobs.put(intents.blob.hash, intents.blob.text)
    const opensWaits = intents.wait === undefined ? [] : [await this.#waitRow(intents.wait)]
    const draft = pen.draft({ commands: intents.commands, now, release: intents.release, opensWaits })
    const child = intents.child === undefined ? [] : [this.#child(pen.id, intents.child, now)]
    const events = intents.emits === undefined ? [] : [this.#letters.emitted(pen.id, intents.emits, now)]
    const documents =
      intents.document === undefined
        ? []
        : [{ tenant: LOCAL_TENANT, table: 'traffic', key: intents.document, value: random.below(1_000) }]
    const ended = draft.next.state.kind === 'ended'
    const signals = ended && pen.parent !== null ? [pen.parent] : []
    // A wait with a timeout gets no answer. The others may get theirs in the batch that opens the wait, or before (ledger-5).
    if (intents.wait?.spec.timeoutAt === null) this.#unanswered.push(pen.id)
    return {
      append: this.#append({ writes: [draft.write, ...child], events, signals, documents }),
      blobs: intents.blob === undefined ? [] : [intents.blob.hash],
      written: () => {
        pen.adopt(draft)
        if (intents.release) this.#held.delete(pen.id)
      },
      refused: () => this.#held.delete(pen.id),
    }
  }

  #child(parent: RunId, child: { readonly id: RunId; readonly step: string }, now: number): StreamWrite {
    return newRun({ id: child.id, plan: ['step', 'step'], now, parent: { run: parent, step: child.step } })
  }

  async #surroundings(pen: RunPen, now: number): Promise<Surroundings> {
    const { ledger, random } = this.#options
    const { answerType } = this.#letters
    const around = { id: pen.id, now, roll: random.roll(), position: this.#position, answerType }
    if (pen.state.kind !== 'live') return { ...around, events: [], childOutput: null }
    const open = pen.state.open.entries().map(([, step]) => step)
    const wait = open.find((step) => step.kind === 'waiting')
    const call = open.find((step) => step.kind === 'calling')
    const events = wait === undefined ? [] : await this.#eventsFor(wait.wait.spec)
    const [child] = call === undefined ? [] : await ledger.load([call.child])
    return { ...around, events, childOutput: child?.status === 'success' ? inline({ child: child.version }) : null }
  }

  #eventsFor({ types, base }: WaitSpec): Promise<readonly StoredEvent[]> {
    return this.#options.ledger.events({ tenant: LOCAL_TENANT, types, after: base, limit: WANTED_EVENTS })
  }

  async #waitRow({ step, spec }: { readonly step: string; readonly spec: WaitSpec }): Promise<WaitRow> {
    const { types, match, base } = spec
    const [type = ''] = types
    const seen = (await this.#eventsFor(spec)).length
    return { step, type, path: match?.path ?? '', value: match?.value ?? '', base, seen }
  }

  #append(parts: Partial<Omit<Append, 'appendId'>>): Append {
    return {
      appendId: `app_${this.#options.random.hex()}`,
      writes: [],
      events: [],
      signals: [],
      documents: [],
      ...parts,
    }
  }
}

const receiptOf = ({ append, blobs }: Entry, sequences: readonly number[]): Receipt => ({
  append: append.appendId,
  facts: append.writes.flatMap((write) => write.facts.map((fact) => fact.hash)),
  events: append.events.map(({ event }, index) => [sequences[index] ?? -1, event.source, event.id]),
  blobs,
})

const shuffled = (entries: readonly Entry[], random: Random): readonly Entry[] =>
  entries
    .map((entry) => ({ entry, order: random.roll() }))
    .sort((a, b) => a.order - b.order)
    .map(({ entry }) => entry)
