/**
 * The controls of the shim: which fault is active, and how often each has fired.
 *
 * Owns the control page (its layout is shim.c's). Both sides see a change at once, because the page is shared memory.
 */
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'

/** In the order of their numbers in shim.c. */
const FAULTS = ['none', 'disk_full', 'write_error', 'sync_error', 'read_only'] as const
export type Fault = (typeof FAULTS)[number]

const PAGE_BYTES = 4_096
const DEATH_AT = 1
const COUNTERS_AT = 8
const COUNTER_BYTES = 4

export class StorageFault {
  readonly path: string
  readonly #fd: number

  constructor(path: string) {
    writeFileSync(path, Buffer.alloc(PAGE_BYTES))
    this.path = path
    this.#fd = openSync(path, 'r+')
  }

  set(fault: Fault): void {
    writeSync(this.#fd, Buffer.from([FAULTS.indexOf(fault)]), 0, 1, 0)
  }

  /** Every process under the shim dies before its next operation on a ledger file, and never within one. */
  orderDeath(isOrdered: boolean): void {
    writeSync(this.#fd, Buffer.from([isOrdered ? 1 : 0]), 0, 1, DEATH_AT)
  }

  fired(fault: Fault): number {
    const counter = Buffer.alloc(COUNTER_BYTES)
    readSync(this.#fd, counter, 0, COUNTER_BYTES, COUNTERS_AT + COUNTER_BYTES * FAULTS.indexOf(fault))
    return counter.readUInt32LE()
  }

  close(): void {
    closeSync(this.#fd)
  }
}
