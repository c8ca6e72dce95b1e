/**
 * Saved filters: each person has their own, as documents of their tenant.
 *
 * Owns who can read a filter, and that no change overwrites an unseen version. The form of a filter is model/kernel/saved-filter.ts; the
 * meaning of its terms belongs to the list that it filters.
 *
 * filters-1  A person cannot read or change another person's filter.
 * filters-2  If two people change the same version, one succeeds: the change is written with an event of the server whose id is unique.
 */
import type { IncomingEvent, InnerSendOptions, Receipt } from '#engine/core/incoming.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import {
  type FilterIntent,
  type FilterSpec,
  filterSpec,
  fromFilterJson,
  MAX_FILTERS,
  type SavedFilter,
  toFilterJson,
} from '#model/kernel/saved-filter.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'

export interface FiltersDeps {
  /** Sends as the server itself, for no tenant. */
  send(event: IncomingEvent, options: InnerSendOptions): Promise<Receipt>
  note(documents: readonly DocumentWrite[]): Promise<void>
  readonly reader: Pick<Reader, 'document' | 'documents'>
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Pick<Ids, 'uuid'>
}

/** The person who owns the filters. */
export interface FilterOwner {
  readonly tenant: TenantId
  readonly person: string
}

const TYPE = 'trihand.filter.changed'
const SOURCE = 'trihand'

/** filters-1: a table for each person. */
const tableOf = ({ person }: FilterOwner): string => `trihand.filter/${person}`

const specOf = (intent: FilterIntent): FilterSpec => {
  const spec = filterSpec(intent)
  if ('kind' in spec) throw new TrihandError(spec.code, spec.detail)
  return spec
}

const stale = (id: string): TrihandError =>
  new TrihandError('PRECONDITION_FAILED', `another user has changed the filter ${id} in the meantime`)

export class Filters {
  private readonly deps: FiltersDeps

  constructor(deps: FiltersDeps) {
    this.deps = deps
  }

  /** Returns the filters, sorted by name. */
  async list(owner: FilterOwner): Promise<readonly SavedFilter[]> {
    const query = { tenant: owner.tenant, table: tableOf(owner), after: null, limit: MAX_FILTERS }
    const found = await this.deps.reader.documents(query)
    return found
      .flatMap(({ value }) => fromFilterJson(value) ?? [])
      .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }

  async show(owner: FilterOwner, id: string): Promise<SavedFilter> {
    const found = fromFilterJson(await this.deps.reader.document(owner.tenant, tableOf(owner), id))
    if (found === null) throw new TrihandError('NOT_FOUND', `there is no filter ${id}`)
    return found
  }

  /** `uuid`: determines the filter's id. A second create with the same uuid returns the same filter. */
  async create(owner: FilterOwner, intent: FilterIntent, uuid: string = this.deps.ids.uuid()): Promise<SavedFilter> {
    const spec = specOf(intent)
    const id = `flt_${uuid.replaceAll('-', '')}`
    const made = fromFilterJson(await this.deps.reader.document(owner.tenant, tableOf(owner), id))
    if (made !== null) return made
    if ((await this.list(owner)).length >= MAX_FILTERS)
      throw new TrihandError('INPUT_INVALID', `you already have ${MAX_FILTERS} filters; delete one first`)
    const now = this.deps.clock.now()
    const filter = { id, ...spec, version: 1, createdAt: now, updatedAt: now }
    await this.deps.note([this.written(owner, id, toFilterJson(filter))])
    return filter
  }

  /** Replaces the version that the caller has seen; fails if there is a newer one. */
  async replace(owner: FilterOwner, seen: SavedFilter, intent: FilterIntent): Promise<SavedFilter> {
    const filter = { ...seen, ...specOf(intent), version: seen.version + 1, updatedAt: this.deps.clock.now() }
    await this.change(owner, seen, toFilterJson(filter))
    return filter
  }

  async remove(owner: FilterOwner, seen: SavedFilter): Promise<void> {
    await this.change(owner, seen, null)
  }

  /** filters-2: writes the change with an event that is unique for the version. */
  private async change(owner: FilterOwner, { id, version }: SavedFilter, value: Json): Promise<void> {
    const event = { type: TYPE, source: SOURCE, id: `${id}.${version + 1}`, data: { at: this.deps.ids.uuid() } }
    try {
      const { duplicate } = await this.deps.send(event, { isOwn: true, documents: [this.written(owner, id, value)] })
      if (duplicate) throw stale(id)
    } catch (error) {
      if (error instanceof TrihandError && error.code === 'EVENT_ID_REUSED') throw stale(id)
      throw error
    }
  }

  private written(owner: FilterOwner, key: string, value: Json): DocumentWrite {
    return { tenant: owner.tenant, table: tableOf(owner), key, value }
  }
}
