/**
 * Reads runs that have not ended, with what they have recorded, so that other code can be checked against them (executors/replay.ts).
 *
 * Owns the reading: input, triggering events and the values of settled steps, from blobs too. Changes nothing.
 */
import { triggerOf } from '#engine/core/cause.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import type { LiveRun, RunState } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { SettledStep } from '#model/run/step.ts'
import type { StreamRecord } from '#ports/ledger.ts'
import { type RunInputs, readInputs } from './input.ts'

export type SeenStep =
  | { readonly kind: 'done'; readonly value: Json; readonly once: boolean }
  | { readonly kind: 'failed'; readonly error: { readonly code: string; readonly message: string } }
  | {
      readonly kind: 'received'
      readonly events: readonly StoredEvent[]
      readonly timedOut: boolean
      readonly missing: readonly string[]
    }
  /** `types`: the events that it waits for. */
  | { readonly kind: 'open'; readonly types: readonly string[] }

export interface OpenRun extends RunInputs {
  readonly id: RunId
  readonly handler: string
  /** The version of the code that it is pinned to. */
  readonly version: string
  readonly attempt: number
  readonly event: StoredEvent | null
  readonly steps: readonly (readonly [step: string, seen: SeenStep])[]
}

/** A run that cannot be read, and why. */
export interface UnreadableRun {
  readonly id: RunId
  readonly handler: string
  readonly version: string
  readonly unreadable: string
}

const messageOf = (error: unknown): string => (error instanceof TrihandError ? error.detail : String(error))

export class OpenRuns {
  private readonly context: EngineContext

  constructor(context: EngineContext) {
    this.context = context
  }

  /** Leaves out runs that have ended meanwhile. */
  async read(runs: readonly RunId[]): Promise<readonly (OpenRun | UnreadableRun)[]> {
    const found: (OpenRun | UnreadableRun)[] = []
    for (const record of await this.context.ledger.load(runs)) {
      const one = record === null ? null : await this.readOne(record)
      if (one !== null) found.push(one)
    }
    return found
  }

  private async readOne(record: StreamRecord): Promise<OpenRun | UnreadableRun | null> {
    const { handler, systemHash: version } = record
    const about = { id: record.stream as RunId, handler, version }
    try {
      if (record.broken !== undefined) return { ...about, unreadable: 'its facts do not fit their hashes' }
      const state: RunState = fold(runMachine, record.facts.map(readRunFact))
      if (state.kind !== 'live') return null
      const event = await this.triggerOf(record, state)
      const inputs = await readInputs(this.context, { tenant: record.tenant, event }, state.start.input)
      return { ...about, ...inputs, event, attempt: state.failures + 1, steps: await this.stepsOf(state) }
    } catch (error) {
      return { ...about, unreadable: messageOf(error) }
    }
  }

  private async triggerOf(record: StreamRecord, state: RunState): Promise<StoredEvent | null> {
    const sequence = triggerOf(record, state)
    return sequence === null ? null : ((await this.events([sequence]))[0] ?? null)
  }

  private events(sequences: readonly number[]): Promise<readonly StoredEvent[]> {
    const { ledger, tenant } = this.context
    return sequences.length === 0 ? Promise.resolve([]) : ledger.events({ tenant, sequences, limit: sequences.length })
  }

  private async stepsOf(state: LiveRun): Promise<OpenRun['steps']> {
    const steps: [string, SeenStep][] = []
    for (const [step, settled] of state.settled.entries()) steps.push([step, await this.seen(settled)])
    for (const [step, open] of state.open.entries())
      steps.push([step, { kind: 'open', types: open.kind === 'waiting' ? open.wait.spec.types : [] }])
    return steps
  }

  private async seen(settled: SettledStep): Promise<SeenStep> {
    if (settled.kind === 'failed') return { kind: 'failed', error: settled.error }
    if (settled.kind === 'done')
      return { kind: 'done', value: await fetchValue(this.context, settled.result), once: settled.once === true }
    const { timedOut, missing } = settled
    return { kind: 'received', events: await this.events(settled.events.map((one) => one.sequence)), timedOut, missing }
  }
}
