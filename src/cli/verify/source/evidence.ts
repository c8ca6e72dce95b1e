/**
 * Evidence from outside the ledger, written by tests: acknowledgements that clients received, and effects that were performed.
 *
 * Owns the format of both files, and where their content is kept while the ledger is read. Users have no such files; then nothing is
 * checked.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import type { Scratch } from '#cli/verify/scratch.ts'
import { UnreadableLedger, unreadable } from './source.ts'

export interface Evidence {
  /** A file with one line per acknowledgement. */
  readonly acks?: string
  /** A file with one line per effect that the outside world performed. */
  readonly world?: string
}

export type Acknowledgement =
  | { readonly kind: 'event'; readonly source: string; readonly id: string; readonly sequence: number }
  | { readonly kind: 'step'; readonly run: string; readonly step: string }
  | { readonly kind: 'run'; readonly run: string; readonly status: string }

export interface EffectEvidence {
  readonly key: string
  readonly run: string
  readonly step: string
  readonly effect: 'once' | 'idempotent'
}

/** How often one step of a run was performed under one key. */
export interface Effect {
  readonly key: string
  readonly run: string
  readonly step: string
  readonly effect: string
  readonly times: number
}

const SCHEMA = `create table ack (run text, kind text, what text);
  create index ack_run on ack (run);
  create table event_ack (source text, id text, sequence integer);
  create table effect (run text, step text, key text, effect text);
  create index effect_run on effect (run, step);
  create index effect_key on effect (key)`

/** A process that is killed while it writes leaves an incomplete last line, which acknowledges nothing. */
const parseLine = (file: string, line: string, number: number, isLast: boolean): unknown => {
  try {
    return JSON.parse(line)
  } catch (error) {
    if (isLast) return null
    throw new UnreadableLedger(`cannot read ${file}: line ${number} is not JSON`, error)
  }
}

async function* linesOf<Line>(file: string): AsyncGenerator<Line> {
  let number = 0
  let previous: string | null = null
  const read = (isLast: boolean): Line | null =>
    previous === null ? null : (parseLine(file, previous, number, isLast) as Line | null)
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line === '') continue
    const parsed = read(false)
    if (parsed !== null) yield parsed
    previous = line
    number += 1
  }
  const last = read(true)
  if (last !== null) yield last
}

export class EvidenceStore {
  readonly #db: DatabaseSyncInstance
  readonly #add: Readonly<Record<'ack' | 'event' | 'effect', StatementSyncInstance>>
  readonly #acks: StatementSyncInstance
  readonly #effects: StatementSyncInstance
  readonly #forget: readonly StatementSyncInstance[]
  /** A field, because the driver's iterator does not keep its statement: if that is garbage-collected in between, the process crashes. */
  readonly #events: StatementSyncInstance

  constructor(scratch: Scratch) {
    this.#db = scratch.open(SCHEMA)
    this.#add = {
      ack: this.#db.prepare('insert into ack (run, kind, what) values (?, ?, ?)'),
      event: this.#db.prepare('insert into event_ack (source, id, sequence) values (?, ?, ?)'),
      effect: this.#db.prepare('insert into effect (run, step, key, effect) values (?, ?, ?, ?)'),
    }
    this.#acks = this.#db.prepare('select distinct kind, what from ack where run = ?')
    this.#effects = this.#db.prepare(`select run, step, key, max(effect) as effect, count(*) as times from effect
      where run = ? group by step, key order by step`)
    this.#events = this.#db.prepare('select distinct source, id, sequence from event_ack')
    this.#forget = ['ack', 'effect'].map((table) => this.#db.prepare(`delete from ${table} where run = ?`))
  }

  /** A file that cannot be read is reported like a ledger that cannot be read. */
  async load(evidence: Evidence): Promise<void> {
    try {
      await this.#read(evidence)
    } catch (error) {
      throw unreadable('the evidence', error)
    }
  }

  async #read({ acks, world }: Evidence): Promise<void> {
    if (acks !== undefined) for await (const ack of linesOf<Acknowledgement>(acks)) this.#addAck(ack)
    if (world !== undefined) for await (const performed of linesOf<EffectEvidence>(world)) this.#addEffect(performed)
  }

  /** The acknowledgements and effects of this run, returned only once: those left at the end belong to runs that do not exist. */
  take(run: string): {
    readonly acks: readonly { readonly kind: 'step' | 'run'; readonly what: string }[]
    readonly effects: readonly Effect[]
  } {
    const taken = { acks: this.#acks.all(run), effects: this.#effects.all(run) }
    if (taken.acks.length > 0 || taken.effects.length > 0) for (const forget of this.#forget) forget.run(run)
    return taken
  }

  runsLeft(): readonly string[] {
    return this.#texts('select run from ack union select run from effect')
  }

  events(): IterableIterator<{ readonly source: string; readonly id: string; readonly sequence: number }> {
    return this.#events.iterate()
  }

  sharedKeys(): readonly string[] {
    return this.#texts(
      'select key from (select distinct key, run, step from effect) as performed group by key having count(*) > 1',
    )
  }

  /** The only column of every row. */
  #texts(sql: string): readonly string[] {
    const rows: readonly Readonly<Record<string, string>>[] = this.#db.prepare(sql).all()
    return rows.flatMap((row) => Object.values(row))
  }

  #addAck(ack: Acknowledgement): void {
    if (ack.kind === 'event') this.#add.event.run(ack.source, ack.id, ack.sequence)
    else this.#add.ack.run(ack.run, ack.kind, ack.kind === 'step' ? ack.step : ack.status)
  }

  #addEffect({ run, step, key, effect }: EffectEvidence): void {
    this.#add.effect.run(run, step, key, effect)
  }
}
