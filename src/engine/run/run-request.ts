/**
 * A command on its way to the ledger, with everything that must be written together with its fact.
 *
 * Owns how the requests of one run become one append. Never knows who asked.
 *
 * request-1  What a command brings along (events, runs, documents, memory) is written if and only if its fact is.
 */
import { type Advance, advanceRun } from '#engine/core/advance.ts'
import { type FactLifecycleReport, type LifecycleReport, reportsWithFact } from '#model/event/lifecycle.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { Refusal } from '#model/kernel/machine.ts'
import type { RunCommand, RunFact, RunState } from '#model/run/fact.ts'
import type { SessionDocument } from '#model/session/session.ts'
import type { DocumentWrite, NewEvent, StreamWrite } from '#ports/ledger.ts'
import type { NewRun } from './new-run.ts'

export interface SideWrites {
  readonly events: readonly NewEvent[]
  readonly runs: readonly NewRun[]
  readonly documents: readonly DocumentWrite[]
  readonly memory: { readonly key: string; readonly set: SessionDocument; readonly unset: readonly string[] } | null
  /** Tasks that are created. */
  readonly tasks?: readonly StreamWrite[]
  /** Lifecycle events that the executor emits with the command. */
  readonly reports?: readonly LifecycleReport[]
}

/** The most requests in one append: while the first of very many children work, the next ones are written. */
export const MAX_REQUESTS = 1_024

export const NO_SIDE_WRITES: SideWrites = { events: [], runs: [], documents: [], memory: null }

/** The lifecycle event that an executor emits with a child; `about` names the child. */
export const lifecycleAbout = (
  report: LifecycleReport | undefined,
  about: LifecycleReport['data'],
): Pick<SideWrites, 'reports'> =>
  report === undefined ? {} : { reports: [{ ...report, data: { ...report.data, ...about } }] }

/** `gone`: the run left this process before the command was decided here. */
export type Answer =
  | { readonly kind: 'recorded'; readonly facts: readonly RunFact[] }
  | Refusal
  | { readonly kind: 'gone' }

export interface Request {
  readonly command: RunCommand
  readonly sideWrites: SideWrites | null
  /** Called once the fact is in the ledger, the command was refused, or the run has left. */
  readonly done: ((answer: Answer) => void) | null
}

/** A request that writes nothing besides its facts, and whose answer is not awaited. */
export const plainRequest = (command: RunCommand): Request => ({ command, sideWrites: null, done: null })

/** The facts that carry side writes; anything else that a command yields (a late result) leaves it behind. */
const CARRIERS: ReadonlySet<RunFact['type']> = new Set([
  'step.completed',
  'step.uncertain',
  'child.started',
  'run.completed',
])

export interface Gathered {
  readonly state: RunState
  readonly facts: readonly RunFact[]
  /** Answers for the requests that want one. */
  readonly answers: readonly { readonly done: NonNullable<Request['done']>; readonly answer: Answer }[]
  /** Side writes whose fact was decided. */
  readonly carried: readonly SideWrites[]
  /** Lifecycle events of executors, with the facts that carry them. */
  readonly reports: readonly FactLifecycleReport[]
  readonly left: readonly SideWrites[]
}

const NONE: readonly never[] = []

/**
 * A delay counts from the time of its fact, and time in a run never goes back, whatever the clock does. Only the clock decides what is
 * due: a timer set by a clock that ran ahead must not fire early.
 */
const inTime = (command: RunCommand, notBefore: Instant): RunCommand =>
  command.now < notBefore && (command.type === 'fail_step' || command.type === 'fail_run')
    ? { ...command, now: notBefore }
    : command

/** Decides the requests one after another on the same state. */
export const gather = (from: RunState, requests: readonly Request[], notBefore: Instant): Gathered => {
  const [only] = requests
  if (only !== undefined && requests.length === 1 && only.sideWrites === null && only.done === null)
    return plain(advanceRun(from, inTime(only.command, notBefore)))
  return gatherAll(from, requests, notBefore)
}

/** The common case: one request without side writes and without a callback. */
const plain = ({ state, facts }: Advance<RunState, RunFact>): Gathered => ({
  state,
  facts,
  answers: NONE,
  carried: NONE,
  left: NONE,
  reports: NONE,
})

const gatherAll = (from: RunState, requests: readonly Request[], notBefore: Instant): Gathered => {
  let state = from
  const facts: RunFact[] = []
  const answers: Gathered['answers'][number][] = []
  const carried: SideWrites[] = []
  const left: SideWrites[] = []
  const reports: FactLifecycleReport[] = []
  for (const request of requests) {
    const advance = advanceRun(state, inTime(request.command, notBefore))
    state = advance.state
    const before = facts.length
    for (const fact of advance.facts) facts.push(fact)
    if (request.sideWrites !== null) {
      const carrier = advance.facts.findIndex((fact) => CARRIERS.has(fact.type))
      if (carrier < 0) left.push(request.sideWrites)
      else {
        carried.push(request.sideWrites)
        reports.push(
          ...reportsWithFact(request.sideWrites.reports ?? NONE, advance.facts[carrier], before + carrier, state),
        )
      }
    }
    if (request.done !== null)
      answers.push({ done: request.done, answer: advance.refusal ?? { kind: 'recorded', facts: advance.facts } })
  }
  return { state, facts, answers, carried, left, reports }
}

type Merged = Required<Omit<SideWrites, 'memory' | 'reports'>>

const NOTHING_DELIVERED: Merged = { events: [], runs: [], documents: [], tasks: [] }

/** Merges side writes. Each run then points at its event's place in the merged list. */
export const mergeSideWrites = (carried: readonly SideWrites[]): Merged => {
  if (carried.length === 0) return NOTHING_DELIVERED
  const events: NewEvent[] = []
  const runs: NewRun[] = []
  const documents: DocumentWrite[] = []
  const tasks: StreamWrite[] = []
  for (const sideWrites of carried) {
    const offset = events.length
    events.push(...sideWrites.events)
    runs.push(
      ...(offset === 0
        ? sideWrites.runs
        : sideWrites.runs.map((run) => ({ ...run, write: shiftEvent(run.write, offset) }))),
    )
    documents.push(...sideWrites.documents)
    tasks.push(...(sideWrites.tasks ?? []))
  }
  return { events, runs, documents, tasks }
}

/** Moves the place of the run's event by `offset`. */
export const shiftEvent = (write: StreamWrite, offset: number): StreamWrite =>
  offset === 0 || write.create === null || write.create.event === null
    ? write
    : { ...write, create: { ...write.create, event: write.create.event + offset } }
