/**
 * Enters a handler on the record of a run, and performs nothing: finds which recorded steps this code asks for, and which new ones.
 *
 * Owns the gate that answers from the record alone. Steps without a recorded result never resolve, so no step's code is called. Code outside of
 * steps runs as it does with every wake.
 *
 * replay-1  No step is performed, no event sent and nothing written, whatever the code asks for.
 * replay-3  A new step that blocks the code is assumed to have the result of the first recorded step that was not asked for, so that the code
 *           after it is seen. Errors that the code throws after that are ignored.
 * replay-2  Code that reads data that the record does not hold (documents, memory) is not judged by the steps it skips.
 */
import type { StoredEvent } from '#model/event/event.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { RunId, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Effect } from '#model/run/step.ts'
import type { Abort } from '#ports/executor.ts'
import type {
  AskReply,
  Entry,
  ScheduleContext,
  StepPort,
  StepRequest,
  TaskOutcome,
  TaskRequest,
  WaitAnswer,
} from '#ports/step-port.ts'

export type RecordedStep =
  | { readonly kind: 'done'; readonly value: Json; readonly once: boolean }
  | { readonly kind: 'failed'; readonly error: Failure }
  | { readonly kind: 'received'; readonly answer: WaitAnswer }
  | { readonly kind: 'open' }

export interface RecordedRun {
  readonly id: RunId
  readonly tenant: TenantId
  readonly attempt: number
  readonly input: Json
  readonly event: StoredEvent | null
  readonly events: readonly StoredEvent[]
  readonly schedule: ScheduleContext | null
  readonly steps: ReadonlyMap<string, RecordedStep>
}

export interface Replayed {
  /** Recorded steps that the code did not ask for. Also empty where the code could not be judged. */
  readonly unclaimed: readonly string[]
  /** Steps that it asks for without a record, with their effects. */
  readonly fresh: ReadonlyMap<string, Effect | null>
  /** The error it threw; null: it has ended or waits. */
  readonly error: unknown
  /** New steps that were assumed to have a result (replay-3). */
  readonly supposed: readonly string[]
  /** What it read that the record does not hold; null: nothing (replay-2). */
  readonly reads: string | null
}

/** Settles after a moment and says whether to assume a result, or to give up. Called again and again while the code asks for nothing. */
export type Pause = (times: number) => Promise<'wait' | 'suppose' | 'give up'>

/** At most this many more new steps than recorded ones are assumed to be done. */
const MOST_SUPPOSED = 10

const never = <T>(): Promise<T> => new Promise<T>(() => {})

/** Steps that the engine itself records around a handler. No author can use such a name. */
const isOwnStep = (step: string): boolean => step.startsWith('trihand[#')

class RecordGate implements StepPort {
  readonly claimed = new Set<string>()
  readonly fresh = new Map<string, Effect | null>()
  readonly supposed: string[] = []
  /** New steps that the code waits for, in the order in which it asked. */
  private readonly blocked: { readonly step: string; readonly answer: (value: Json) => void }[] = []
  /** Grows with each call. */
  calls = 0
  private readonly steps: RecordedRun['steps']
  private readonly errors: (step: string, failure: Failure) => Error

  constructor(steps: RecordedRun['steps'], errors: (step: string, failure: Failure) => Error) {
    this.steps = steps
    this.errors = errors
  }

  stateOf(step: string): 'none' | 'open' | 'settled' {
    const recorded = this.steps.get(step)
    if (recorded === undefined) return 'none'
    return recorded.kind === 'open' ? 'open' : 'settled'
  }

  valueOf(step: string): { readonly value: Json } | null {
    const recorded = this.steps.get(step)
    if (recorded?.kind !== 'done') return null
    this.claim(step)
    return recorded
  }

  run({ step, effect }: StepRequest): Promise<Json> {
    return this.value(step, effect)
  }

  async perform({ step, effect }: TaskRequest): Promise<TaskOutcome> {
    return (await this.value(step, effect)) as unknown as TaskOutcome
  }

  async sleepUntil(step: string): Promise<void> {
    await this.value(step)
  }

  async waitForEvent(step: string): Promise<WaitAnswer> {
    const recorded = this.claim(step)
    if (recorded?.kind === 'received') return recorded.answer
    await this.value(step)
    return { status: 'timed_out', events: [], missing: [] }
  }

  invoke(step: string): Promise<Json> {
    return this.value(step)
  }

  async emit(step: string): Promise<readonly string[]> {
    return (await this.value(step)) as unknown as readonly string[]
  }

  async ask(step: string): Promise<AskReply> {
    return (await this.value(step)) as unknown as AskReply
  }

  /** Whether there was a listener then says nothing about now. */
  async report(step: string): Promise<void> {
    this.claimed.add(step)
  }

  get unclaimed(): readonly string[] {
    return [...this.steps.keys()].filter((step) => !this.claimed.has(step) && !isOwnStep(step))
  }

  /** replay-3. False: there is no step to assume a result for. */
  suppose(): boolean {
    const next = this.supposed.length < this.steps.size + MOST_SUPPOSED ? this.blocked.shift() : undefined
    if (next === undefined) return false
    const [first] = this.unclaimed.flatMap((step) => {
      const recorded = this.steps.get(step)
      return recorded?.kind === 'done' ? [recorded.value] : []
    })
    this.supposed.push(next.step)
    next.answer(first ?? null)
    return true
  }

  private claim(step: string, effect: Effect | null = null): RecordedStep | undefined {
    this.calls++
    this.claimed.add(step)
    const recorded = this.steps.get(step)
    if (recorded === undefined) this.fresh.set(step, effect)
    return recorded
  }

  private async value(step: string, effect: Effect | null = null): Promise<Json> {
    const recorded = this.claim(step, effect)
    switch (recorded?.kind) {
      case 'done':
        return recorded.value
      case 'failed':
        throw this.errors(step, recorded.error)
      case 'received':
        return null
      case 'open':
        return never()
      case undefined:
        return new Promise((answer) => this.blocked.push({ step, answer }))
    }
  }
}

const REQUESTERS = ['trihand:replay']

class RecordEntry implements Entry {
  readonly gate: StepPort
  private readonly recorded: RecordedRun
  private readonly misses: (what: string) => void

  constructor(recorded: RecordedRun, gate: StepPort, misses: (what: string) => void) {
    this.recorded = recorded
    this.gate = gate
    this.misses = misses
  }

  get run(): RunId {
    return this.recorded.id
  }

  get tenant(): TenantId {
    return this.recorded.tenant
  }

  get attempt(): number {
    return this.recorded.attempt
  }

  /** Only agents use it, and agents are not replayed. */
  readonly life = 0

  get input(): Json {
    return this.recorded.input
  }

  get event(): StoredEvent | null {
    return this.recorded.event
  }

  get events(): readonly StoredEvent[] {
    return this.recorded.events
  }

  /** A placeholder: the people that a task excludes are not compared with the record. */
  get requesters(): readonly string[] {
    return REQUESTERS
  }

  get schedule(): ScheduleContext | null {
    return this.recorded.schedule
  }

  behind(gate: StepPort): Entry {
    return new RecordEntry(this.recorded, gate, this.misses)
  }

  effectKey(): string {
    return this.recorded.id
  }

  recall(): Promise<Json | null> {
    return this.missing("the session's memory")
  }

  move(): Promise<void> {
    return this.missing('the state of an entity')
  }

  document(): Promise<Json | null> {
    return this.missing('documents')
  }

  documents(): ReturnType<Entry['documents']> {
    return this.missing('documents')
  }

  isToldOf(): boolean {
    return false
  }

  hasTold(): boolean {
    return true
  }

  // replay-1: the handler's intents are dropped.
  emit(): void {}
  write(): void {}
  report(): void {}
  whileActive<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  cancel(): void {}

  private missing<T>(what: string): Promise<T> {
    this.misses(what)
    return never()
  }
}

export interface ReplayDeps {
  readonly enter: (entry: Entry, abort: Abort) => unknown
  readonly errors: (step: string, failure: Failure) => Error
  readonly pause: Pause
}

export const replay = async (run: RecordedRun, { enter, errors, pause }: ReplayDeps): Promise<Replayed> => {
  const gate = new RecordGate(run.steps, errors)
  let reads: string | null = null
  const entry = new RecordEntry(run, gate, (what) => {
    reads = what
  })
  const end: { isOver: boolean; error: unknown } = { isOver: false, error: null }
  const aborting = new AbortController()
  const work = async (): Promise<unknown> => enter(entry, { signal: aborting.signal })
  void work().then(
    () => {
      end.isOver = true
    },
    (error: unknown) => {
      end.isOver = true
      end.error = error
    },
  )
  await quiet(gate, () => end.isOver || reads !== null, pause)
  return {
    unclaimed: reads === null ? gate.unclaimed : [],
    fresh: gate.fresh,
    supposed: gate.supposed,
    error: end.error,
    reads,
  }
}

/** Waits until the code has ended, has asked for everything on record, or asks for nothing more. */
const quiet = async (gate: RecordGate, isOver: () => boolean, pause: Pause): Promise<void> => {
  for (let [times, seen] = [0, -1]; ; times++) {
    if (gate.calls !== seen) [times, seen] = [0, gate.calls]
    const next = await pause(times)
    if (isOver() || next === 'give up') return
    if (gate.calls !== seen) continue
    if (times > 0 && gate.unclaimed.length === 0) return
    if (next === 'suppose' && gate.suppose()) times = 0
  }
}
