/**
 * Checks events and their runs: which runs an event started, which run emitted it, and the length of its chain of causes.
 *
 * The events that one run emitted are compared while that run is read; the rest are queries to the store.
 */
import { Batch } from '#cli/verify/batch.ts'
import { type Findings, NOWHERE, type Place } from '#cli/verify/report.ts'
import { canonicalText } from '#cli/verify/source/json-path.ts'
import { digest, type Seals } from '#cli/verify/source/seals.ts'
import type { EventRow, Tables } from '#cli/verify/tables.ts'

/** Far above any limit that a system declares (16): an event with more hops shows that the limit did not work. */
const MAX_HOPS = 1_000

interface NamedEvent {
  readonly tenant: string
  readonly id: string
  readonly place: Place
}

/** What a run emitted, from both sides. */
export interface Emitted {
  readonly run: string
  readonly tenant: string
  /** From its results: the event and the fact that names it. */
  readonly named: ReadonlyMap<string, number>
  /** From its ends: each may be reported by an event named after the fact, and by those that its handler declares for such an end. */
  readonly ends: ReadonlySet<string>
  /** From other facts about its work, each with at most one lifecycle event. */
  readonly tellers: ReadonlySet<string>
  /** From the events that name this run as their cause. */
  readonly caused: readonly string[]
}

export class EventChecks {
  readonly #findings: Findings
  readonly #tables: Tables
  readonly #named: Batch<NamedEvent>
  readonly #seals: Seals

  constructor(findings: Findings, tables: Tables, seals: Seals) {
    this.#seals = seals
    this.#findings = findings
    this.#tables = tables
    this.#named = new Batch((named) => this.#checkNamed(named))
  }

  /** V16, for one run. */
  emitted({ run, tenant, named, ends, tellers, caused }: Emitted): void {
    const found = new Set(caused)
    for (const id of found) {
      this.#findings.expect(
        'V16',
        named.has(id) || ends.has(factOf(id)) || (LIFECYCLE.test(id) && tellers.has(factOf(id))),
        { stream: run, seq: null },
        () => `event ${id} names this run as its sender, but no result and no fact of the run has it`,
      )
    }
    for (const [id, seq] of named) if (!found.has(id)) this.#named.add({ tenant, id, place: { stream: run, seq } })
  }

  settle(): Promise<void> {
    return this.#named.settle()
  }

  async end(): Promise<void> {
    await this.#named.end()
    await this.#checkCauses()
    await this.#checkTriggered()
    await this.#checkSuppressed()
  }

  /** V18: the hops of an event equal the length of its chain of handlers. */
  checkChain(event: EventRow): void {
    const { seq, hops, chain } = event
    this.#findings.expect('V18', hops <= MAX_HOPS, NOWHERE, () => `event ${seq} has ${hops} hops`)
    this.#findings.expect(
      'V18',
      lengthOf(chain) === hops,
      NOWHERE,
      () => `event ${seq} has ${hops} hops, but its chain is ${chain}`,
    )
  }

  /** V3: the data of an event must match the hash that was taken when it was stored. A seal with a key covers its identity, too. */
  checkData({ seq, tenant, source, id, type, data, data_hash }: EventRow): void {
    const text = canonicalText(data) ?? ''
    const isPlain = !this.#seals.hasKey && !this.#seals.isKeyed(data_hash)
    const sealed = ['event', tenant, source, id, type, text].join('\n')
    const plainFlaw = digest(text) === data_hash ? null : 'does not match the hash from when it arrived'
    const flaw = isPlain ? plainFlaw : this.#seals.flawOf(data_hash, sealed)
    this.#findings.expect('V3', flaw === null, NOWHERE, () => `the data of event ${seq} (${type}) ${flaw}`)
  }

  async #checkNamed(named: readonly NamedEvent[]): Promise<void> {
    const tenants = new Set(named.map(({ tenant }) => tenant))
    for (const tenant of tenants) {
      const own = named.filter((event) => event.tenant === tenant)
      const missing = await this.#tables.missingEvents(
        tenant,
        own.map(({ id }) => id),
      )
      for (const { id, place } of own) {
        this.#findings.expect('V16', !missing.has(id), place, () => `the result names event ${id}, which is missing`)
      }
    }
  }

  async #checkCauses(): Promise<void> {
    for await (const { seq, causation } of this.#tables.causeless()) {
      this.#findings.expect(
        'V16',
        false,
        NOWHERE,
        () => `event ${seq} was caused by ${causation}, which does not exist`,
      )
    }
  }

  /** V15. A store with an intact unique index cannot contain duplicates; they are checked all the same. */
  async #checkTriggered(): Promise<void> {
    for await (const { hex, event, tenant, event_tenant } of this.#tables.triggered()) {
      this.#findings.expect(
        'V15',
        event_tenant === tenant,
        { stream: `run_${hex}`, seq: null },
        () =>
          `the run was started by event ${event}, which is ${event_tenant === null ? 'missing' : `the tenant ${event_tenant}'s`}`,
      )
    }
    for await (const { event, handler, count } of this.#tables.doubled()) {
      this.#findings.expect('V15', false, NOWHERE, () => `event ${event} started ${handler} ${count} times`)
    }
  }

  async #checkSuppressed(): Promise<void> {
    for await (const { event, trigger_name, known, hex } of this.#tables.suppressed()) {
      this.#findings.expect(
        'V15',
        known !== null,
        NOWHERE,
        () => `${trigger_name} was not started by event ${event}, which is missing`,
      )
      this.#findings.expect(
        'V15',
        hex === null,
        { stream: hex === null ? null : `run_${hex}`, seq: null },
        () => `event ${event} started ${trigger_name}, although a suppression is recorded`,
      )
    }
  }
}

const LIFECYCLE = /\/(agent|workflow)\.[a-z]+$/

/** `run/seq` reports an end; `run/seq/type` is declared for it, or reports the run's work. */
const factOf = (id: string): string => id.split('/').slice(0, 2).join('/')

/** -1 for a text that is not a list. */
const lengthOf = (chain: string): number => {
  try {
    const parsed: unknown = JSON.parse(chain)
    return Array.isArray(parsed) ? parsed.length : -1
  } catch {
    return -1
  }
}
