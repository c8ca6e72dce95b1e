/**
 * The customers: send orders and payments, keep what was not acknowledged, and repeat it to the next process.
 *
 * Owns `acks.jsonl`, the evidence of what was acknowledged (V1). Runs in the process that is never killed.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import type { IncomingEvent } from '#engine/core/incoming.ts'
import { isEnded, type RunStatus } from '#model/run/status.ts'
import type { Random } from '#test/support/random.ts'
import type { ChildLine } from './child.ts'

const SOURCE = 'customers'

type KnownEvent = IncomingEvent & { readonly id: string }

export class Client {
  readonly #random: Random
  readonly #acks: number
  readonly #unacknowledged = new Map<string, KnownEvent>()
  /** Payments that follow an acknowledged order, now or in a later life. */
  readonly #owed: KnownEvent[] = []
  #orders = 0
  /** Orders whose receipt has arrived. */
  readonly acknowledged = new Set<string>()
  acknowledgements = 0

  constructor(acksFile: string, random: Random) {
    this.#random = random
    this.#acks = openSync(acksFile, 'a')
  }

  close(): void {
    closeSync(this.#acks)
  }

  placeOrder(): void {
    this.#orders += 1
    const order = `order-${this.#orders}`
    this.#unacknowledged.set(order, { type: 'shop/ordered', source: SOURCE, id: order, data: { order } })
  }

  /** Everything still to be sent: what was never acknowledged, and payments whose time has come. */
  letters(payAll: boolean): readonly KnownEvent[] {
    const due = payAll ? this.#owed.length : this.#random.below(this.#owed.length + 1)
    for (const payment of this.#owed.splice(0, due)) this.#unacknowledged.set(payment.id, payment)
    return [...this.#unacknowledged.values()]
  }

  get isServed(): boolean {
    return this.#unacknowledged.size === 0 && this.#owed.length === 0
  }

  hear(line: ChildLine): void {
    switch (line.kind) {
      case 'receipt':
        return this.#hearReceipt(line)
      case 'step':
        return this.#write({ kind: 'step', run: line.run, step: line.step })
      case 'ended':
        return this.#write({ kind: 'run', run: line.run, status: line.status })
      case 'ready':
      case 'counts':
      case 'refused':
        return
    }
  }

  #hearReceipt({ source, id, sequence }: Extract<ChildLine, { kind: 'receipt' }>): void {
    const event = this.#unacknowledged.get(id)
    this.#write({ kind: 'event', source, id, sequence })
    if (event === undefined) return
    this.#unacknowledged.delete(id)
    if (event.type !== 'shop/ordered') return
    this.acknowledged.add(id)
    this.#owed.push({ type: 'shop/paid', source: SOURCE, id: `${id}/paid`, data: { order: id } })
  }

  #write(ack: object): void {
    this.acknowledgements += 1
    writeSync(this.#acks, `${JSON.stringify(ack)}\n`)
  }
}

/** The number of runs that have not ended. */
export const backlogOf = (counts: Readonly<Record<string, number>>): number =>
  Object.entries(counts).reduce((sum, [status, count]) => (isEnded(status as RunStatus) ? sum : sum + count), 0)
