/**
 * Checks V13 across two runs: a run that waits for a child waits for one that exists or is queued at a gate, and is woken when it ends. If
 * the child belongs to another caller, the run must follow it.
 *
 * Queried in batches, because the child is another stream than the one being read.
 */
import { Batch } from '#cli/verify/batch.ts'
import type { Findings } from '#cli/verify/report.ts'
import type { StreamHead, Tables } from '#cli/verify/tables.ts'
import type { CoordinatorStarts } from './coordinator-starts.ts'
import { isEnded, type Rest } from './rest-checks.ts'

interface OpenCall {
  readonly parent: string
  readonly seq: number
  readonly step: string
  readonly child: string
  /** A worker holds the parent, or it is due: it will see how the child ended. */
  readonly willLook: boolean
}

type Coordinators = Pick<CoordinatorStarts, 'isWaiting' | 'isFollowed'>

export class ChildChecks {
  readonly #findings: Findings
  readonly #coordinators: Coordinators
  /** Gates may be read later, so these are checked after all streams were read. */
  readonly #absent: OpenCall[] = []
  readonly #foreign: OpenCall[] = []
  readonly #calls: Batch<OpenCall>

  constructor(findings: Findings, tables: Tables, coordinators: Coordinators) {
    this.#findings = findings
    this.#coordinators = coordinators
    this.#calls = new Batch(async (calls) => {
      const heads = await tables.heads(calls.map(({ child }) => child))
      for (const call of calls) this.#check(call, heads.get(call.child) ?? null)
    })
  }

  add({ row, state, moment, place }: Rest): void {
    if (state.end !== null || place.stream === null) return
    const willLook = row.lease !== null || (row.wake_at !== null && row.wake_at <= moment.now)
    for (const [step, open] of state.openSteps()) {
      const child = open.kind === 'calling' ? open.child : open.kind === 'uncertain' ? open.task : null
      // A child that is retried ends a second time: it may wait for that at its gate.
      const looks = willLook || (open.kind === 'calling' && open.again)
      if (child !== null) this.#calls.add({ parent: place.stream, seq: open.seq, step, child, willLook: looks })
    }
  }

  settle(): Promise<void> {
    return this.#calls.settle()
  }

  async end(): Promise<void> {
    await this.#calls.end()
    const found = (call: OpenCall, holds: boolean, what: string): void =>
      this.#findings.expect(
        'V13',
        holds,
        { stream: call.parent, seq: call.seq },
        () => `step ${call.step} waits for ${call.child}, which ${what}`,
      )
    for (const call of this.#absent) found(call, this.#coordinators.isWaiting(call.child), 'does not exist')
    for (const call of this.#foreign)
      found(call, call.willLook || this.#coordinators.isFollowed(call.child, call.parent), 'is not its child')
  }

  #check(call: OpenCall, head: StreamHead | null): void {
    const { parent, seq, step, child, willLook } = call
    if (head === null) {
      this.#absent.push(call)
      return
    }
    if (`run_${head.parent}` !== parent) this.#foreign.push(call)
    this.#findings.expect(
      'V13',
      willLook || !isEnded(head.status) || this.#coordinators.isFollowed(child, parent),
      { stream: parent, seq },
      () => `step ${step} waits for ${child}, which ended with ${head.status}, but nothing wakes the run`,
    )
  }
}
