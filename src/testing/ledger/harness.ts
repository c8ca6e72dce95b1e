/**
 * What the chapters of the ledger suite share: a fresh store for each test, and the few calls that most tests make.
 *
 * Owns opening and closing. Knows no test runner. `resends` accepts already_written where an append was written, as after a connection that loses
 * answers.
 */
import type { ClaimableId, RunId, StreamId, WorkerId } from '#model/kernel/ids.ts'
import type { Append, Ledger, Outcome, StreamRecord, StreamWrite } from '#ports/ledger.ts'
import { aCreation, anAppend, aWrite, newRun, newWorker, START } from './builders.ts'

export interface LedgerUnderTest {
  readonly ledger: Ledger
  /** Closes the ledger and opens the same store again. */
  reopen?(): Promise<Ledger>
  /** Another ledger on the same store, as another process would have it. The harness closes it. */
  second?(): Promise<Ledger>
  /** Cleans everything up; called once after each test, whatever the test closed itself. */
  close(): Promise<void>
}

export interface LedgerCapabilities {
  /** `reopen` finds everything that was acknowledged. */
  readonly reopens?: boolean
  /** `second` works: several processes may share the store. */
  readonly shared?: boolean
  /** The ledger resends by itself: an outcome may be already_written where written is expected. */
  readonly resends?: boolean
  /** Opens a store whose last event sequence is this number. */
  readonly openAt?: (lastSequence: number) => Promise<LedgerUnderTest>
  /** The number of random histories; each opens its own store. */
  readonly histories?: number
}

/** Must return an empty store each time. */
export type OpenLedger = () => Promise<LedgerUnderTest>

export type Written = Extract<Outcome, { kind: 'written' | 'already_written' }>

export class LedgerHarness {
  readonly open: OpenLedger
  readonly capabilities: LedgerCapabilities
  #current: LedgerUnderTest | null = null
  #others: Ledger[] = []

  constructor(open: OpenLedger, capabilities: LedgerCapabilities) {
    this.open = open
    this.capabilities = capabilities
  }

  async start(): Promise<void> {
    this.#current = await this.open()
  }

  async stop(): Promise<void> {
    for (const other of this.#others.splice(0)) await other.close()
    await this.#current?.close()
    this.#current = null
  }

  get ledger(): Ledger {
    if (this.#current === null) throw new Error('no ledger is open: this runs outside a test')
    return this.#current.ledger
  }

  async second(): Promise<Ledger> {
    const other = await this.#current?.second?.()
    if (other === undefined) throw new Error('declared as shared, but has no second()')
    this.#others.push(other)
    return other
  }

  async reopen(): Promise<Ledger> {
    const reopened = await this.#current?.reopen?.()
    if (reopened === undefined) throw new Error('declared to reopen, but has no reopen()')
    this.#others.push(reopened)
    return reopened
  }

  async append(append: Partial<Append>): Promise<Outcome> {
    const [outcome] = await this.ledger.append([anAppend(append)])
    if (outcome === undefined) throw new Error('a batch of one was answered with nothing')
    return outcome
  }

  async write(...writes: readonly StreamWrite[]): Promise<Outcome> {
    return this.append({ writes })
  }

  /** Appends, and fails the test unless that succeeded. */
  async written(append: Partial<Append>): Promise<Written> {
    return this.expectWritten(await this.append(append))
  }

  expectWritten(outcome: Outcome | undefined): Written {
    if (outcome?.kind === 'written') return outcome
    if (outcome?.kind === 'already_written' && this.capabilities.resends) return outcome
    throw new Error(`expected the append to be written, got ${JSON.stringify(outcome)}`)
  }

  /** A resent append does not name its runs again, so the runs are only checked if the first answer arrived. */
  expectSignalled(outcome: Written, ...runs: readonly ClaimableId[]): void {
    if (outcome.kind === 'already_written') return
    const missing = runs.filter((run) => !outcome.signalled.includes(run))
    if (missing.length > 0)
      throw new Error(`expected ${missing.join(', ')} among the signalled: ${outcome.signalled.join(', ')}`)
  }

  async load(stream: StreamId): Promise<StreamRecord> {
    const [record] = await this.ledger.load([stream])
    if (record === undefined || record === null) throw new Error(`there is no stream ${stream}`)
    return record
  }

  async exists(stream: StreamId): Promise<boolean> {
    const [record] = await this.ledger.load([stream])
    return record !== null
  }

  /** The runs that a new worker claims at this instant. It keeps them. */
  async claimable(now: number, only?: readonly ClaimableId[]): Promise<readonly ClaimableId[]> {
    const { claims } = await this.ledger.claim({ worker: newWorker(), now, limit: 1000, ...(only && { only }) })
    return claims.map((claim) => claim.stream)
  }

  async isDue(run: ClaimableId, now: number = START): Promise<boolean> {
    return (await this.claimable(now, [run])).includes(run)
  }

  /** A run at version 1, due at START, without a holder. */
  async createRun(write: Partial<StreamWrite> = {}): Promise<RunId> {
    const run = newRun()
    await this.written({ writes: [aCreation(run, {}, write)] })
    return run
  }

  /** A run at version 1 and epoch 1, held by a worker that has sent a heartbeat. */
  async createHeldRun(worker: WorkerId = newWorker()): Promise<RunId> {
    const run = newRun()
    await this.ledger.beat({ worker, now: START, ttlMs: 60_000 })
    await this.written({ writes: [aCreation(run, { lease: worker }, { status: 'running', wakeAt: null })] })
    return run
  }

  /** A run at version 2 and epoch 1 that waits only for signals, unless the write says more. */
  async createParkedRun(write: Partial<StreamWrite> = {}): Promise<RunId> {
    const run = await this.createHeldRun()
    await this.written({ writes: [aWrite(run, { status: 'waiting', release: true, ...write })] })
    return run
  }
}
