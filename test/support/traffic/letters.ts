/**
 * The events of the traffic: external ones with a number, and those that a run emits.
 *
 * Owns their ids. An emitted event's id follows from the run and the step, so the same draft made twice names the same event.
 */
import type { Event } from '#model/event/event.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import type { NewEvent } from '#ports/ledger.ts'
import { digest } from './run-pen.ts'

/** The position of an external event in a chain of causes. */
export const OUTSIDE = { causationId: null, traceparent: null, hops: 0, chain: [] } as const

const EMITTERS = ['traffic']

const letter = (event: Omit<Event, 'tenant' | 'subject'>): NewEvent => ({
  event: { ...event, tenant: LOCAL_TENANT, subject: null },
  dataHash: digest(JSON.stringify(event.data)),
  suppressed: [],
})

export class Letters {
  readonly #source: string
  /** The event type that runs wait for: a separate one for every sender, so that senders do not see each other's events. */
  readonly answerType: string
  #sent = 0

  constructor(life: string) {
    this.#source = `traffic/${life}`
    this.answerType = `traffic/answered-${life}`
  }

  arrival(now: number): NewEvent {
    return this.#outside('traffic/arrived', { n: this.#sent }, now)
  }

  answer(run: RunId, now: number): NewEvent {
    return this.#outside(this.answerType, { run }, now)
  }

  emitted(run: RunId, id: string, now: number): NewEvent {
    const cause = { correlationId: run, causationId: run, traceparent: null, hops: EMITTERS.length, chain: EMITTERS }
    return letter({ ...cause, id, source: run, type: 'traffic/emitted', time: now, data: { run } })
  }

  #outside(type: string, data: Event['data'], now: number): NewEvent {
    this.#sent += 1
    const id = `${this.#source}/${this.#sent}`
    return letter({ ...OUTSIDE, correlationId: id, id, source: this.#source, type, time: now, data })
  }
}
