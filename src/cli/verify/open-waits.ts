/** The open waits of parked runs, indexed by the values in an event. */
import type { StatementSyncInstance } from '@photostructure/sqlite'
import type { Scratch } from './scratch.ts'

export interface OpenWait {
  readonly type: string
  readonly path: string
  readonly value: string
  readonly tenant: string
  /** Only events after this sequence count. */
  readonly base: number
  readonly run: string
  readonly seq: number
  readonly step: string
}

interface Statements {
  readonly put: StatementSyncInstance
  readonly match: StatementSyncInstance
  readonly consume: StatementSyncInstance
}

const SCHEMA = `create table open_wait (type text, path text, value text, tenant text, base integer, run text, seq integer, step text);
  create index open_wait_match on open_wait (type, path, value, tenant, base);
  create table consumed (run text, seq integer, event integer, primary key (run, seq, event)) without rowid`

export class OpenWaits {
  readonly #scratch: Scratch
  #statements: Statements | null = null
  readonly #paths = new Map<string, Set<string>>()

  constructor(scratch: Scratch) {
    this.#scratch = scratch
  }

  add({ type, path, value, tenant, base, run, seq, step }: OpenWait): void {
    this.#prepared().put.run(type, path, value, tenant, base, run, seq, step)
    const paths = this.#paths.get(type) ?? new Set<string>()
    this.#paths.set(type, paths.add(path))
  }

  /** Records that the wait that this fact opened does not take an event that its run has received before. */
  consumed(run: string, seq: number, event: number): void {
    this.#prepared().consume.run(run, seq, event)
  }

  /** The paths at which waits for this type compare a value; '' stands for the type alone. */
  pathsOf(type: string): ReadonlySet<string> {
    return this.#paths.get(type) ?? new Set()
  }

  /** The waits that an event with this sequence should have ended. */
  matching(event: Omit<OpenWait, 'run' | 'step' | 'base'>): readonly OpenWait[] {
    return this.#prepared().match.all(event.type, event.path, event.value, event.tenant, event.seq, event.seq)
  }

  #prepared(): Statements {
    this.#statements ??= this.#prepare()
    return this.#statements
  }

  #prepare(): Statements {
    const db = this.#scratch.open(SCHEMA)
    return {
      put: db.prepare(
        'insert into open_wait (type, path, value, tenant, base, run, seq, step) values (?, ?, ?, ?, ?, ?, ?, ?)',
      ),
      match: db.prepare(
        `select * from open_wait w where type = ? and path = ? and value = ? and tenant = ? and base < ?
          and not exists (select 1 from consumed c where c.run = w.run and c.seq = w.seq and c.event = ?)`,
      ),
      consume: db.prepare('insert or ignore into consumed (run, seq, event) values (?, ?, ?)'),
    }
  }
}
