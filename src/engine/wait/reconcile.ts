/**
 * Looks for what a run waits for: events for its open waits, and the ends of its children.
 *
 * Owns looking. A signal only says that a look may find something; the model decides what counts of what is found here.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { fetchValue, storeValue } from '#engine/core/payloads.ts'
import { isStoreTrouble } from '#engine/core/store-retry.ts'
import { retryRun } from '#engine/rerun/retry-run.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import { type Answer, plainRequest } from '#engine/run/run-request.ts'
import { loadTask } from '#engine/tasks/state.ts'
import { partialEnd } from '#model/agent/call-terms.ts'
import type { OpenWait, WaitSpec } from '#model/event/wait.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { isTaskId, type RunId, type TaskId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { callName, doneSteps, hasRetriedFor } from '#model/run/child-retry.ts'
import type { ChildEnd, RunCommand, RunState } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import { isEnded } from '#model/run/status.ts'
import { taskAnswer } from '#model/task/view.ts'
import type { StreamRecord } from '#ports/ledger.ts'
import {
  type Look,
  lookAmong,
  lookFor,
  NOTHING_PREFETCHED,
  NOTHING_TAKEN,
  type Prefetched,
  type Taken,
} from './look.ts'

/** The waits of a run that events can end. */
export const openWaitsOf = (state: RunState | null): readonly OpenWait[] => {
  if (state?.kind !== 'live' || state.open.size === 0 || state.cancel !== null) return []
  return state.open.entries().flatMap(([, open]) => (open.kind === 'waiting' ? [open.wait] : []))
}

export const offerEvents = async (activeRun: ActiveRun, prefetched: Prefetched = NOTHING_PREFETCHED): Promise<void> => {
  const live = activeRun.live
  if (live === null || live.cancel !== null) return
  const { context, record, inputs } = activeRun
  for (const [step, open] of live.open.entries()) {
    if (open.kind !== 'waiting') continue
    const { wait } = open
    const known = prefetched(wait)
    const looked = { wait, trigger: inputs.input, taken: takenIn(activeRun, step) }
    const look = known === null ? await lookFor(context.ledger, record.tenant, looked) : lookAmong(looked, known)
    receiveEvents(activeRun, { step, spec: wait.spec }, look)
  }
}

/** Which events other waits of a run in memory have received or were promised, always as of now, also in the middle of a look. */
export const takenIn = (activeRun: ActiveRun, step: string): Taken => ({
  get consumed() {
    return activeRun.live?.consumed ?? NOTHING_TAKEN.consumed
  },
  isPromised: (sequence) => activeRun.seen.isPromised(sequence, step),
})

/** Asks the run to record that a step's wait has received what a look has found. */
export const receiveEvents = (
  activeRun: ActiveRun,
  { step, spec }: { readonly step: string; readonly spec: WaitSpec },
  { received, passed }: Pick<Look, 'received' | 'passed'>,
): void => {
  const { seen, context } = activeRun
  const now = context.clock.now()
  for (const found of received) seen.keep(found)
  const events = received.map(({ type, sequence }) => ({ type, sequence }))
  const together = spec.most === undefined ? events.map((event) => [event]) : [events]
  for (const [event, ...others] of together) {
    if (event === undefined) continue
    const command = { type: 'receive_event', now, step, event, others, passed } as const
    if (spec.fresh === true) promise(activeRun, command)
    else activeRun.ask(plainRequest(command))
  }
}

/** Until it is recorded, other waits of the run leave these events to this one. */
const promise = (activeRun: ActiveRun, command: Extract<RunCommand, { readonly type: 'receive_event' }>): void => {
  const { step, event, others = [] } = command
  const sequences = [event, ...others].map(({ sequence }) => sequence)
  for (const sequence of sequences) activeRun.seen.promise(sequence, step)
  const seeAgain = lookUnless(activeRun, (answer) => answer.kind === 'recorded' && answer.facts.length > 0)
  const done = (answer: Answer): void => {
    for (const sequence of sequences) activeRun.seen.redeem(sequence)
    seeAgain(answer)
  }
  activeRun.ask({ command, sideWrites: null, done })
}

/** A wait that left events to others looks again if one of them was not received after all. Null: it left none. */
export const relying = (activeRun: ActiveRun, passed: readonly number[]): ((answer: Answer) => void) | null =>
  passed.length === 0
    ? null
    : lookUnless(activeRun, () => passed.every((sequence) => activeRun.live?.consumed.events.has(sequence) === true))

/**
 * Looks again for all waits that are still open, before the run may park, unless `isWell` says that all went as intended. For all of them,
 * because an event that was promised and not received is for another wait, also if the wait that it was promised to is over.
 */
const lookUnless = (activeRun: ActiveRun, isWell: (answer: Answer) => boolean): ((answer: Answer) => void) => {
  activeRun.begin()
  return (answer) => {
    const { live, isGone } = activeRun
    const isOpen = !isGone && live !== null && live.cancel === null && live.pause === null
    const mustLook = isOpen && openWaitsOf(live).length > 0 && !isWell(answer)
    // If the look fails, the next claim makes up for it: the store is in trouble, and the run is released.
    const look = mustLook ? activeRun.whileActive(() => offerEvents(activeRun)).catch(() => {}) : Promise.resolve()
    void look.finally(() => activeRun.end())
  }
}

/** How many streams are read at once. */
const HEADS = 1_000
const ENDED = 100

interface Calling {
  readonly step: string
  readonly child: RunId | TaskId
  /** The call goes on with a child that has ended before; the child is retried for it. */
  readonly isAgain: boolean
  readonly isUngated?: boolean
}

/** Asks the run to record the ends of children that were not offered yet. */
export const offerChildren = async (activeRun: ActiveRun): Promise<void> => {
  const calling =
    activeRun.live?.open
      .entries()
      .flatMap(([step, open]) =>
        open.kind === 'calling' && !activeRun.seen.isOffered(open.child)
          ? [{ step, child: open.child, isAgain: open.again !== undefined, isUngated: open.ungated === true }]
          : [],
      ) ?? []
  for (let from = 0; from < calling.length; from += HEADS) await offerSome(activeRun, calling.slice(from, from + HEADS))
}

const offerSome = async (activeRun: ActiveRun, calling: readonly Calling[]): Promise<void> => {
  const heads = await activeRun.context.ledger.load(
    calling.map(({ child }) => child),
    { after: Number.MAX_SAFE_INTEGER },
  )
  const ended = calling.filter(({ child }, i) => {
    const head = heads[i]
    return head != null && !isTaskId(child) && isEnded(head.status)
  })
  for (let from = 0; from < ended.length; from += ENDED) await offerEnded(activeRun, ended.slice(from, from + ENDED))
  for (const [i, { step, child }] of calling.entries()) {
    if (heads[i] == null || !isTaskId(child)) continue
    const end = await answerOf(activeRun.context, child)
    if (end !== null) endChild(activeRun, { step, child, isAgain: false }, end)
  }
}

const offerEnded = async (activeRun: ActiveRun, ended: readonly Calling[]): Promise<void> => {
  const records = await activeRun.context.ledger.load(ended.map(({ child }) => child))
  for (const [i, one] of ended.entries()) {
    const record = records[i]
    if (record == null) throw new TrihandError('NOT_FOUND', `there is no run ${one.child}`)
    if (one.isAgain && (await retryFor(activeRun, one, record))) continue
    const end = await endOf(activeRun.context, record)
    if (end !== null && !activeRun.seen.isOffered(one.child)) endChild(activeRun, one, end)
  }
}

/** child-retry-2. True: the child's end does not count yet. */
const retryFor = async (activeRun: ActiveRun, calling: Calling, record: StreamRecord): Promise<boolean> => {
  const { context, live } = activeRun
  const { step, child } = calling
  if (live === null || record.broken !== undefined || isTaskId(child)) return false
  const facts = record.facts.map(readRunFact)
  const call = callName(live, step)
  const state = fold(runMachine, facts)
  if (state.kind !== 'ended' || state.output !== null || hasRetriedFor(facts, call)) return false
  try {
    const { by = `run ${activeRun.record.id}`, kind = 'user' } = live.retried ?? {}
    const intent = { by, kind, call, ...(calling.isUngated === true && { isUngated: true }) }
    await retryRun(context, child, intent, (happened) => hasRetriedFor(happened, call))
  } catch (error) {
    if (!(error instanceof TrihandError) || isStoreTrouble(error)) throw error
    // RUN_NOT_FAILED: another retry came first, and the end of the child wakes this run.
    if (error.code !== 'RUN_NOT_FAILED')
      endChild(activeRun, calling, { kind: 'failed', error: { code: error.code, message: error.detail } })
  }
  return true
}

/** Asks the run to record a child's end. Until that is answered, further looks skip the child. */
const endChild = (activeRun: ActiveRun, { step, child }: Calling, end: ChildEnd): void => {
  const { context, seen } = activeRun
  seen.offer(child)
  activeRun.ask({
    command: { type: 'end_child', now: context.clock.now(), step, child, end },
    sideWrites: null,
    done: () => seen.answered(child),
  })
}

/** Returns how a run ended; null while it has not. */
const endOf = async (context: EngineContext, record: StreamRecord): Promise<ChildEnd | null> => {
  const { stream, status, broken } = record
  if (broken !== undefined)
    return { kind: 'failed', error: { code: 'FACT_BROKEN', message: `child ${stream} ${status}: ${broken}` } }
  const state = fold(runMachine, record.facts.map(readRunFact))
  if (state.kind !== 'ended') return null
  if (state.output !== null) {
    if (state.status !== 'partial' || state.last.start.terms?.tellsPartial !== true)
      return { kind: 'done', result: state.output }
    const { payload } = await storeValue(context, partialEnd(await fetchValue(context, state.output)))
    return { kind: 'done', result: payload }
  }
  const { code, message } = state.error ?? { code: 'CHILD_FAILED' as const, message: 'no reason was recorded' }
  const done = doneSteps(state.last)
  const error = { code, message: `child ${record.stream} ${state.status}: ${message}` }
  return { kind: 'failed', error: done.length === 0 ? error : { ...error, done } }
}

/** Returns what people have answered; null while they have not. A withdrawn task fails its step, so that a retry asks again. */
const answerOf = async (context: EngineContext, task: TaskId): Promise<ChildEnd | null> => {
  const { state } = await loadTask(context, task)
  const answer = taskAnswer(state)
  if (answer === null) return null
  if (answer.status === 'withdrawn')
    return { kind: 'failed', error: { code: 'TASK_WITHDRAWN', message: answer.feedback ?? 'the task was withdrawn' } }
  const { payload } = await storeValue(context, { task, ...answer })
  return { kind: 'done', result: payload, ...(state.kind === 'open' && { open: true as const }) }
}
