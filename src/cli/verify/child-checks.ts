/**
 * V13 across two runs: whoever waits for a child waits for one that exists, and is woken when it ends.
 *
 * Asked in batches, because the child is another stream than the one being read.
 */
import { Batch } from './batch.ts'
import type { Findings } from './report.ts'
import { isEnded, type Rest } from './rest-checks.ts'
import type { StreamHead, Tables } from './tables.ts'

interface OpenCall {
  readonly parent: string
  readonly seq: number
  readonly step: string
  readonly child: string
  /** A worker holds the parent, or it is due: it will see how the child ended. */
  readonly willLook: boolean
}

export class ChildChecks {
  readonly #findings: Findings
  readonly #calls: Batch<OpenCall>

  constructor(findings: Findings, tables: Tables) {
    this.#findings = findings
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
      // A child that is retried ends once more: it may wait for that at its gate.
      const looks = willLook || (open.kind === 'calling' && open.again)
      if (child !== null) this.#calls.add({ parent: place.stream, seq: open.seq, step, child, willLook: looks })
    }
  }

  settle(): Promise<void> {
    return this.#calls.settle()
  }

  end(): Promise<void> {
    return this.#calls.end()
  }

  #check({ parent, seq, step, child, willLook }: OpenCall, head: StreamHead | null): void {
    const place = { stream: parent, seq }
    this.#findings.expect('V13', head !== null, place, () => `step ${step} waits for ${child}, which does not exist`)
    if (head === null) return
    this.#findings.expect(
      'V13',
      `run_${head.parent}` === parent,
      place,
      () => `step ${step} waits for ${child}, which is not its child`,
    )
    this.#findings.expect(
      'V13',
      willLook || !isEnded(head.status),
      place,
      () => `step ${step} waits for ${child}, which ended with ${head.status}, and nothing wakes the run`,
    )
  }
}
