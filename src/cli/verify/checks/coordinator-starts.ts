/**
 * Compares which coordinator started which run from both sides: the facts of coordinators, and the runs that have a coordinator as their
 * parent.
 *
 * Kept in the checker's own database, because a run is another stream than the one being read.
 */
import type { StatementSyncInstance } from '@photostructure/sqlite'
import { Batch } from '#cli/verify/batch.ts'
import { type Findings, NOWHERE, type Place } from '#cli/verify/report.ts'
import type { Scratch } from '#cli/verify/scratch.ts'
import type { StreamHead, Tables } from '#cli/verify/tables.ts'

/** A run that a coordinator's fact names. */
export interface Start {
  readonly coordinator: string
  readonly tenant: string
  readonly seq: number
  readonly run: string
  /** The handler whose runs a gate starts; null for a schedule, whose facts do not name it. */
  readonly handler: string | null
  /** True: the coordinator is the run's parent. */
  readonly isTracked: boolean
  /** The run whose step has called it, and is its parent. */
  readonly caller: string | null
  /** The slot of the schedule that the run is for; null: none. */
  readonly slot: number | null
}

interface Statements {
  readonly start: StatementSyncInstance
  readonly place: StatementSyncInstance
  readonly wait: StatementSyncInstance
  readonly leave: StatementSyncInstance
  readonly missing: StatementSyncInstance
  readonly follow: StatementSyncInstance
  readonly unfollow: StatementSyncInstance
  readonly waiting: StatementSyncInstance
  readonly following: StatementSyncInstance
}

const SCHEMA = `create table coordinator_start (run text, coordinator text, slot integer);
  create index coordinator_start_run on coordinator_start (run);
  create table coordinator_place (coordinator text, sequence integer);
  create table coordinator_wait (run text primary key);
  create table coordinator_follow (run text, caller text);
  create table coordinator_missing (run text, coordinator text, seq integer)`

export class CoordinatorStarts {
  readonly #findings: Findings
  readonly #tables: Tables
  readonly #scratch: Scratch
  readonly #named: Batch<Start>
  #add: Statements | null = null

  constructor(findings: Findings, tables: Tables, scratch: Scratch) {
    this.#findings = findings
    this.#tables = tables
    this.#scratch = scratch
    this.#named = new Batch((starts) => this.#check(starts))
  }

  started(start: Start): void {
    this.#prepared().start.run(start.run, start.coordinator, start.slot)
    this.#named.add(start)
  }

  /** Events were given a place at a gate. */
  placed(coordinator: string, sequences: readonly number[]): void {
    for (const sequence of sequences) this.#prepared().place.run(coordinator, sequence)
  }

  /** A run that was asked for waits at a gate. */
  waits(run: string): void {
    this.#prepared().wait.run(run)
  }

  /** It has begun, or was turned away: in both cases the run exists. */
  waitsNoMore(run: string): void {
    this.#prepared().leave.run(run)
  }

  /** A run waits for the end of a run of another caller. */
  follows({ run, by }: { readonly run: string; readonly by: string }): void {
    this.#prepared().follow.run(run, by)
  }

  followsNoMore({ run, by }: { readonly run: string; readonly by: string }): void {
    this.#prepared().unfollow.run(run, by)
  }

  /** Valid once all streams were read. */
  isWaiting(run: string): boolean {
    return this.#prepared().waiting.get(run) !== undefined
  }

  isFollowed(run: string, by: string): boolean {
    return this.#prepared().following.get(run, by) !== undefined
  }

  settle(): Promise<void> {
    return this.#named.settle()
  }

  async end(): Promise<void> {
    await this.#named.end()
    const db = this.#scratch.open(this.#add === null ? SCHEMA : '')
    const count = db.prepare('select count(*) as count from coordinator_start where run = ? and coordinator = ?')
    for await (const { run, coordinator } of this.#tables.coordinatorRuns()) {
      const { count: times } = count.get(`run_${run}`, coordinator)
      this.#findings.expect('V15', times === 1, { stream: `run_${run}`, seq: null }, () =>
        times === 0
          ? `the coordinator ${coordinator} is its parent, but no fact of that coordinator starts it`
          : `${times} facts of the coordinator ${coordinator} start it`,
      )
    }
    this.#doubled(
      db.prepare('select run as what from coordinator_start group by run having count(*) > 1').all(),
      'V15',
      'run',
    )
    const slots = `select coordinator || ' ' || slot as what from coordinator_start where slot is not null group by coordinator, slot having count(*) > 1`
    this.#doubled(db.prepare(slots).all(), 'V24', 'slot')
    const places = `select coordinator || ' ' || sequence as what from coordinator_place group by coordinator, sequence having count(*) > 1`
    this.#doubled(db.prepare(places).all(), 'V15', 'event')
    const lost =
      'select run, coordinator, seq from coordinator_missing where run not in (select run from coordinator_wait)'
    for (const { run, coordinator, seq } of db.prepare(lost).all())
      this.#findings.expect(
        'V15',
        false,
        { stream: coordinator, seq },
        () => `the fact starts ${run}, which does not exist`,
      )
  }

  #doubled(rows: readonly { readonly what: string }[], id: 'V15' | 'V24', noun: string): void {
    for (const { what } of rows)
      this.#findings.expect(
        id,
        false,
        NOWHERE,
        () => `the ${noun} ${what} has more than one place in the facts of coordinators`,
      )
  }

  async #check(starts: readonly Start[]): Promise<void> {
    const heads = await this.#tables.heads(starts.map(({ run }) => run))
    const sent = await this.#missingEvents(starts.filter(({ run, handler }) => handler === null && !heads.has(run)))
    for (const start of starts) this.#judge(start, heads.get(start.run) ?? null, sent)
  }

  /** A slot may send an event instead of starting a run; the id of the event is derived from the run's. */
  async #missingEvents(starts: readonly Start[]): Promise<ReadonlySet<string>> {
    const missing = new Set<string>()
    for (const { tenant, run } of starts)
      for (const id of await this.#tables.missingEvents(tenant, [eventOf(run)])) missing.add(id)
    return missing
  }

  #judge(start: Start, head: StreamHead | null, missing: ReadonlySet<string>): void {
    const { coordinator, seq, run, handler, isTracked, caller } = start
    const place: Place = { stream: coordinator, seq }
    const isThere = head !== null || (handler === null && !missing.has(eventOf(run)))
    // The run may wait at a gate that is read later.
    if (!isThere) this.#prepared().missing.run(run, coordinator, seq)
    if (head === null) return
    const parent = caller !== null ? caller.slice('run_'.length) : isTracked ? coordinator.slice('gat_'.length) : null
    this.#findings.expect('V4', head.parent === parent, place, () => `${run} was started here but has another parent`)
    if (handler !== null)
      this.#findings.expect('V4', head.handler === handler, place, () => `${run} is a run of ${head.handler}`)
  }

  #prepared(): Statements {
    this.#add ??= this.#prepare()
    return this.#add
  }

  #prepare(): Statements {
    const db = this.#scratch.open(SCHEMA)
    return {
      start: db.prepare('insert into coordinator_start (run, coordinator, slot) values (?, ?, ?)'),
      place: db.prepare('insert into coordinator_place (coordinator, sequence) values (?, ?)'),
      wait: db.prepare('insert or ignore into coordinator_wait (run) values (?)'),
      leave: db.prepare('delete from coordinator_wait where run = ?'),
      missing: db.prepare('insert into coordinator_missing (run, coordinator, seq) values (?, ?, ?)'),
      follow: db.prepare('insert into coordinator_follow (run, caller) values (?, ?)'),
      unfollow: db.prepare('delete from coordinator_follow where run = ? and caller = ?'),
      waiting: db.prepare('select 1 as found from coordinator_wait where run = ?'),
      following: db.prepare('select 1 as found from coordinator_follow where run = ? and caller = ?'),
    }
  }
}

const eventOf = (run: string): string => `evt_${run}`
