/**
 * Changes of a table in the user's own database: read from its outbox, sent as events, and then removed there.
 *
 * Owns the polling. A change is sent exactly once, because its row's id is the event's: a crash between sending and removing repeats a row that
 * the ledger knows already (source-1). Never installs anything (`trihand triggers install` does).
 */
import { type TableSource as Definition, WATCH_EVENTS } from '#manifest/define/sources.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Ids } from '#ports/ids.ts'
import type { Outbox, OutboxRow, OutboxWatch } from '#ports/outbox.ts'
import { type Source, type SourceDeps, sendOccurrence } from './source.ts'

export interface TableDeps extends SourceDeps {
  openOutbox(database: string): Promise<Outbox>
}

const AT_ONCE = 500
const KEY_DIGITS = 16

/** The name of the source in the outbox. */
export const watchOf = ({ name, table, on }: Definition, ids: Pick<Ids, 'digest'>): OutboxWatch => ({
  key: ids
    .digest(name)
    .replace(/[^A-Za-z0-9]/g, '')
    .toLowerCase()
    .slice(0, KEY_DIGITS),
  table,
  on,
})

export class TableSource implements Source {
  readonly name: string
  readonly #definition: Definition
  readonly #deps: TableDeps
  readonly #watch: OutboxWatch
  #outbox: Outbox | null = null
  #cancel: (() => void) | null = null
  #polling: Promise<void> = Promise.resolve()

  constructor(definition: Definition, deps: TableDeps) {
    this.name = definition.name
    this.#definition = definition
    this.#deps = deps
    this.#watch = watchOf(definition, deps.ids)
  }

  async start(): Promise<void> {
    if (this.#outbox !== null) return
    const outbox = await this.#deps.openOutbox(this.#definition.database)
    if (!(await outbox.isInstalled(this.#watch))) {
      await outbox.close()
      throw new TrihandError('TRIGGER_NOT_INSTALLED', `the table ${this.#definition.table} has no change triggers yet`)
    }
    this.#outbox = outbox
    this.#later(0)
  }

  async stop(): Promise<void> {
    const outbox = this.#outbox
    this.#outbox = null
    this.#cancel?.()
    await this.#polling
    await outbox?.close()
  }

  #later(ms: number): void {
    const { clock } = this.#deps
    this.#cancel = clock.at(clock.now() + ms, () => {
      this.#polling = this.#poll()
    })
  }

  async #poll(): Promise<void> {
    let isMore = false
    try {
      isMore = await this.#drain()
    } catch (error) {
      this.#deps.report(this.name, error)
    }
    if (this.#outbox !== null) this.#later(isMore ? 0 : this.#definition.everyMs)
  }

  /** Returns true if there may be more rows. */
  async #drain(): Promise<boolean> {
    const outbox = this.#outbox
    if (outbox === null) return false
    const rows = await outbox.read(this.#watch, AT_ONCE)
    if (rows.length === 0) return false
    await Promise.all(rows.map((row) => sendOccurrence(this.#deps, this.name, this.#occurrence(row), [])))
    await outbox.forget(rows.map(({ id }) => id))
    return rows.length === AT_ONCE
  }

  #occurrence({ id, change, row, before, at }: OutboxRow) {
    const { table } = this.#definition
    return { type: WATCH_EVENTS.table, id, subject: table, time: at, data: { table, change, row, before } }
  }
}
