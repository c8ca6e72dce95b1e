/**
 * The store as the checks read it: runs with their facts, the errand of each run, the log of events.
 *
 * Owns reading only. Folds with the model's `evolve`, and knows nothing of the engine.
 */
import type { EventRow } from '#adapters/storage/memory/event-log.ts'
import type { MemoryStore } from '#adapters/storage/memory/store.ts'
import type { MemoryStream } from '#adapters/storage/memory/stream.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { GateFact } from '#model/flow/gate-fact.ts'
import { readGateFact, readRunFact, readScheduleFact, readTaskFact } from '#model/kernel/fact-codec.ts'
import { isRunId, isSessionId, isTaskId, LOCAL_TENANT, type RunId, type TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { RunFact, RunState } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { ScheduleFact } from '#model/schedule/fact.ts'
import type { TaskFact, TaskState } from '#model/task/fact.ts'
import { task as taskMachine } from '#model/task/task.ts'
import type { SealedFact } from '#ports/ledger.ts'
import type { Errand } from './play.ts'

export interface LookedRun {
  readonly id: RunId
  readonly stream: MemoryStream
  readonly facts: readonly RunFact[]
  readonly state: RunState
}

export interface LookedCoordinator<Fact extends GateFact | ScheduleFact = GateFact | ScheduleFact> {
  readonly id: string
  readonly stream: MemoryStream
  readonly facts: readonly Fact[]
}

export interface LookedTask {
  readonly id: TaskId
  readonly stream: MemoryStream
  readonly facts: readonly TaskFact[]
  readonly state: TaskState
}

export const isPaused = ({ facts }: LookedCoordinator): boolean =>
  facts.findLast(({ type }) => type.endsWith('.paused') || type.endsWith('.resumed'))?.type.endsWith('.paused') === true

export class Look {
  readonly store: MemoryStore
  readonly #blobs: ReadonlyMap<string, string>
  /** Facts never change, so a run is read again only when it has more of them. */
  readonly #known = new Map<RunId, LookedRun>()

  constructor(store: MemoryStore, blobs: ReadonlyMap<string, string>) {
    this.store = store
    this.#blobs = blobs
  }

  runs(): readonly LookedRun[] {
    return this.store.byCreation.flatMap((stream) => (isRunId(stream.id) ? [this.#read(stream, stream.id)] : []))
  }

  tasks(): readonly LookedTask[] {
    return this.store.byCreation.flatMap((stream) => {
      if (!isTaskId(stream.id)) return []
      const facts = stream.facts.map(readTaskFact)
      return [{ id: stream.id, stream, facts, state: fold(taskMachine, facts) }]
    })
  }

  sessions(): readonly MemoryStream[] {
    return this.store.byCreation.filter((stream) => isSessionId(stream.id))
  }

  gates(): readonly LookedCoordinator<GateFact>[] {
    return this.#coordinators('gat_', readGateFact)
  }

  schedules(): readonly LookedCoordinator<ScheduleFact>[] {
    return this.#coordinators('sch_', readScheduleFact)
  }

  coordinators(): readonly LookedCoordinator[] {
    return [...this.gates(), ...this.schedules()]
  }

  events(): readonly StoredEvent[] {
    return this.store.events
      .page({ tenant: LOCAL_TENANT, type: null, before: null, limit: Number.MAX_SAFE_INTEGER })
      .toReversed()
  }

  row(sequence: number): EventRow | undefined {
    return this.store.events.bySequence(sequence)
  }

  value(payload: Payload): Json {
    return 'value' in payload ? payload.value : (JSON.parse(this.#blobs.get(payload.blob) ?? 'null') as Json)
  }

  /** What the run was started with. */
  errand({ stream, facts }: LookedRun): Errand {
    const [first] = facts
    if (first?.type === 'run.started' && first.input.kind === 'given')
      return this.value(first.input.payload) as unknown as Errand
    const row = stream.event === null ? undefined : this.row(stream.event)
    return (row === undefined ? { id: -1, kind: 0 } : JSON.parse(row.text).data) as Errand
  }

  #coordinators<Fact extends GateFact | ScheduleFact>(
    prefix: string,
    read: (fact: SealedFact) => Fact,
  ): readonly LookedCoordinator<Fact>[] {
    return this.store.byCreation.flatMap((stream) =>
      stream.id.startsWith(prefix) ? [{ id: stream.id, stream, facts: stream.facts.map(read) }] : [],
    )
  }

  #read(stream: MemoryStream, id: RunId): LookedRun {
    const known = this.#known.get(id)
    if (known !== undefined && known.facts.length === stream.facts.length) return known
    const facts = stream.facts.map(readRunFact)
    const run = { id, stream, facts, state: fold(runMachine, facts) }
    this.#known.set(id, run)
    return run
  }
}
