/**
 * Checks V17: an event that a wait waits for reaches it, whichever of the two came first, and no other event does.
 *
 * Waits with a CEL condition are not compared with the events: only the engine can evaluate it.
 */
import { Batch } from '#cli/verify/batch.ts'
import { OpenWaits } from '#cli/verify/open-waits.ts'
import { type Findings, NOWHERE, type Place } from '#cli/verify/report.ts'
import type { Scratch } from '#cli/verify/scratch.ts'
import type { Fact, Received } from '#cli/verify/source/fact.ts'
import { canonicalAt } from '#cli/verify/source/json-path.ts'
import type { EventRow, Tables } from '#cli/verify/tables.ts'
import type { Rest } from './rest-checks.ts'
import { neededTypes, type OpenStep, type RunState } from './run-state.ts'

interface ReceivedEvent {
  readonly type: string
  readonly sequence: number
  readonly tenant: string
  readonly place: Place
}

export class WaitChecks {
  readonly #findings: Findings
  readonly #received: Batch<ReceivedEvent>
  readonly #open: OpenWaits

  constructor(findings: Findings, tables: Tables, scratch: Scratch) {
    this.#findings = findings
    this.#open = new OpenWaits(scratch)
    this.#received = new Batch(async (received) => {
      const known = await tables.eventTypes(received.map(({ sequence }) => sequence))
      for (const { type, sequence, tenant, place } of received) {
        const found = known.get(sequence)
        findings.expect(
          'V17',
          found?.type === type && found.tenant === tenant,
          place,
          () => `the wait received event ${sequence} of type ${type}, which does not exist`,
        )
      }
    })
  }

  /** An event counts once per run, after the base of its wait, and only while the wait needs its type. */
  received(state: RunState, fact: Fact, tenant: string, place: Place): void {
    if (fact.type !== 'wait.received') return
    const { open } = state.step(fact.step)
    if (open?.kind === 'waiting')
      this.#findings.expect(
        'V17',
        fact.received.length <= open.wait.most,
        place,
        () => `step ${fact.step} received ${fact.received.length} events; it takes at most ${open.wait.most}`,
      )
    for (const { type, sequence } of fact.received) {
      if (open?.kind === 'waiting') this.#isWanted(state, { step: fact.step, open }, { type, sequence }, place)
      this.#received.add({ type, sequence, tenant, place })
    }
  }

  #isWanted(
    state: RunState,
    { step, open }: { readonly step: string; readonly open: Extract<OpenStep, { readonly kind: 'waiting' }> },
    { type, sequence }: Received,
    place: Place,
  ): void {
    const isWanted = sequence > open.wait.base && neededTypes(open).includes(type) && !open.received.has(sequence)
    this.#findings.expect(
      'V17',
      isWanted,
      place,
      () => `step ${step} received event ${sequence} of type ${type}, which it does not wait for`,
    )
    const before = open.wait.isFresh ? state.consumed.get(sequence) : undefined
    this.#findings.expect(
      'V17',
      before === undefined || before === step,
      place,
      () => `step ${step} received event ${sequence} of type ${type}, which step ${before} had received before`,
    )
  }

  /** Keeps the open waits of a run without a wake: no event for any of them may exist already. */
  parked({ row, state, moment, place }: Rest): void {
    const isDue = row.wake_at !== null && row.wake_at <= Math.max(moment.now, moment.event_time)
    if (state.end !== null || state.cancelled || row.lease !== null || isDue || place.stream === null) return
    for (const [step, open] of state.openSteps()) {
      if (open.kind !== 'waiting' || open.wait.condition !== null) continue
      const { path, value } = open.wait.match ?? { path: '', value: '' }
      if (open.wait.isFresh)
        for (const sequence of state.consumed.keys())
          if (sequence > open.wait.base) this.#open.consumed(place.stream, open.seq, sequence)
      for (const type of neededTypes(open)) {
        this.#open.add({
          type,
          path,
          value,
          tenant: row.tenant,
          base: open.wait.base,
          run: place.stream,
          seq: open.seq,
          step,
        })
      }
    }
  }

  /** Compares an event with the waits that were kept. */
  event({ type, tenant, seq, data }: EventRow): void {
    for (const path of this.#open.pathsOf(type)) {
      const value = path === '' ? '' : canonicalAt(data, path)
      const missed = value === null ? [] : this.#open.matching({ type, path, value, tenant, seq })
      const [first = null] = missed
      const place = first === null ? NOWHERE : { stream: first.run, seq: first.seq }
      this.#findings.expect('V17', first === null, place, () => {
        const others = missed.length > 1 ? `, and so do ${missed.length - 1} more` : ''
        return `step ${first?.step} still waits although event ${seq} (${type}) exists${others}`
      })
    }
  }

  settle(): Promise<void> {
    return this.#received.settle()
  }

  end(): Promise<void> {
    return this.#received.end()
  }
}
