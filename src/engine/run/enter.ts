/**
 * Wakes a run and enters its handler: first records what time, events and children have changed, then runs the code.
 *
 * Owns the order of a wake. Never performs a step itself (step/gate.ts) and never writes (core/commit.ts).
 *
 * enter-1  A step intended by an earlier holder is never begun here: it becomes uncertain as soon as people may be asked.
 * enter-2  The handler is entered only on a state that the ledger holds.
 * enter-3  An event that is in the ledger when a run wakes comes before a timeout that has passed meanwhile.
 * enter-4  A throttled run is first entered only when its throttle lets it begin at that moment (starts.ts).
 */
import { storeValue } from '#engine/core/payloads.ts'
import { type ExecutionResult, toPerform } from '#engine/core/perform.ts'
import { type Intents, packIntents } from '#engine/step/intents.ts'
import { isOpen } from '#engine/step/once.ts'
import { StepDriver, type StepErrors } from '#engine/step/step-driver.ts'
import { applyResolutions, reportUncertainSteps } from '#engine/step/uncertain-step.ts'
import { NOTHING_PREFETCHED, type Prefetched } from '#engine/wait/look.ts'
import { offerChildren, offerEvents } from '#engine/wait/reconcile.ts'
import type { FunctionDefinition } from '#manifest/define/system.ts'
import { checkAgainst } from '#manifest/schema/schema.ts'
import { batchOutcome } from '#model/flow/policies/batch-outcome.ts'
import { DEFAULT_RETRY, type RetryPolicy } from '#model/flow/policies/retry.ts'
import { type Failure, TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunCommand } from '#model/run/fact.ts'
import { isUntouched, wakeAt } from '#model/run/run.ts'
import { NO_VERSION } from '#model/worker/pin.ts'
import type { ActiveRun } from './active-run.ts'
import { RunEntry } from './entry.ts'
import { readInputs } from './input.ts'
import { findLost } from './lost-children.ts'
import { offerParentEnd } from './parent-end.ts'
import { type Answer, plainRequest } from './run-request.ts'

const MAX_RECOVERIES = 5

/** Wakes a claimed run: looks for what has changed, records it, then enters the handler. */
export const awaken = async (
  activeRun: ActiveRun,
  recoveries: number,
  prefetched: Prefetched,
  errors: StepErrors,
  /** Its parent may have ended before this wake. */
  mayBeLeft = true,
): Promise<void> => {
  try {
    const { context, record, live } = activeRun
    activeRun.inputs = await readInputs(context, record, live?.start.input ?? { kind: 'event' })
    await catchUp(activeRun, recoveries, prefetched, mayBeLeft)
    const isHeld = context.starts.holds(activeRun)
    const start = !isReady(activeRun) ? 'never' : isHeld ? await askForStart(activeRun) : 'free'
    if (start === 'now' || start === 'free') await recordEntry(activeRun)
    // The definition may have been replaced since the run was claimed.
    for (let over = handOverOf(activeRun); over !== null; over = handOverOf(activeRun)) await recorded(activeRun, over)
    if (start !== 'never' && isReady(activeRun)) {
      enter(activeRun, errors)
      if (start === 'now') context.starts.made(activeRun)
      activeRun.watchTime()
    } else if (!activeRun.isGone) {
      if (recoveries > 0 && activeRun.live?.cancel != null) await findLost(activeRun)
      activeRun.spreadCancel()
    }
  } catch (error) {
    const failure: Failure =
      error instanceof TrihandError
        ? { code: error.code, message: error.detail }
        : { code: 'INTERNAL', message: String(error) }
    activeRun.drop('dropped', failure)
    return
  }
  activeRun.end()
}

/** Enters a run that was just created in this process: there is nothing to look for. `isLeft`: except the end of its parent. */
export const enterFresh = async (activeRun: ActiveRun, errors: StepErrors, isLeft: boolean): Promise<void> =>
  awaken(activeRun, 0, NOTHING_PREFETCHED, errors, isLeft)

const isReady = (activeRun: ActiveRun): boolean => isOpen(activeRun) && activeRun.live?.retryAt === null

/** run-5: the code to be entered has another version than the run had so far. Null: it has the same, or nothing is entered. */
const handOverOf = ({
  context,
  live,
  record,
  isGone,
}: ActiveRun): Extract<RunCommand, { type: 'hand_over' }> | null => {
  const { born, now } = record.versions
  if (live === null || live.cancel !== null || isGone) return null
  const [from, to] = [live.version ?? born, now === NO_VERSION ? NO_VERSION : context.system().hash]
  return from === to ? null : { type: 'hand_over', now: context.clock.now(), from, to }
}

/** run-6: records the entry. Only a run that must begin by a given instant pays for this append. */
const recordEntry = async (activeRun: ActiveRun): Promise<void> => {
  if (activeRun.live?.start.startBy == null) return
  await recorded(activeRun, { type: 'enter_run', now: activeRun.context.clock.now() })
}

/** enter-4. */
const askForStart = async (activeRun: ActiveRun): Promise<'now' | 'free' | 'never'> => {
  const start = await activeRun.context.starts.admit(activeRun, () => isReady(activeRun))
  if (typeof start !== 'number') return start
  activeRun.waitsUntil = start
  return 'never'
}

const catchUp = async (
  activeRun: ActiveRun,
  recoveries: number,
  prefetched: Prefetched,
  mayBeLeft: boolean,
): Promise<void> => {
  const live = activeRun.live
  if (live === null) return
  const now = activeRun.context.clock.now()
  const commands: RunCommand[] = []
  const handOver = handOverOf(activeRun)
  if (handOver !== null) commands.push(handOver)
  if (recoveries >= MAX_RECOVERIES) {
    await findLost(activeRun)
    const message = `the run lost its worker ${recoveries} times in a row without progress`
    commands.push({ type: 'quarantine_run', now, error: { code: 'RUN_QUARANTINED', message } })
  }
  for (const command of commands) activeRun.ask(plainRequest(command))
  if (live.open.size > 0) {
    reportUncertainSteps(activeRun)
    await offerEvents(activeRun, prefetched)
    await offerChildren(activeRun)
    await applyResolutions(activeRun)
  }
  // A parent signals its end to its children. A child that has not begun may have been created in the append of that end.
  const looks = mayBeLeft && (activeRun.record.signal > 0 || recoveries > 0 || isUntouched(live))
  const isLeft = looks && (await offerParentEnd(activeRun))
  const due = wakeAt(live)
  if (due !== null && due <= now) activeRun.context.observers.tell((observer) => observer.woke(now - due))
  const isTimeUp = (due !== null && due <= now) || live.start.startBy !== null
  if (isTimeUp || isLeft || commands.length > 0 || live.open.size > 0) await recorded(activeRun)
}

/** For a run in memory whose timer has fired: people may have to be asked, or an event may have arrived. */
export const lookAgain = (activeRun: ActiveRun): Promise<void> => {
  reportUncertainSteps(activeRun)
  return offerEvents(activeRun, NOTHING_PREFETCHED)
}

/** enter-2, enter-3: `pass_time` is asked for last; settles once that and everything asked before is in the ledger. */
const recorded = (
  activeRun: ActiveRun,
  command: RunCommand = { type: 'pass_time', now: activeRun.context.clock.now() },
): Promise<void> =>
  new Promise((resolve) => {
    const done = (answer: Answer): void => {
      if (answer.kind !== 'gone') resolve()
    }
    activeRun.ask({ command, sideWrites: null, done })
  })

const enter = (activeRun: ActiveRun, errors: StepErrors): void => {
  const { context, record } = activeRun
  const definition = context.system().functions.get(record.handler)
  const entry = new RunEntry(activeRun, new StepDriver(activeRun, errors), definition)
  activeRun.entry = 'inside'
  activeRun.claimed = activeRun.live === null || activeRun.live.settled.size === 0 ? null : new Set()
  const execution = toPerform(context, entry, {
    performed: (performed) => {
      activeRun.executions.end(execution)
      if (!activeRun.isGone) void leave(activeRun, definition, performed, entry.intents)
    },
  })
  activeRun.executions.begin(execution)
  execution.begin()
}

/** Turns the handler's result into the run's end or its next attempt. */
const leave = async (
  activeRun: ActiveRun,
  definition: FunctionDefinition | undefined,
  performed: ExecutionResult,
  intents: Intents,
): Promise<void> => {
  activeRun.entry = 'over'
  activeRun.begin()
  try {
    if (performed.kind === 'failed')
      failRun(activeRun, performed.failure, performed.retryable, definition?.retry ?? DEFAULT_RETRY)
    else await activeRun.whileActive(() => finishRun(activeRun, definition, performed, intents))
  } catch (error) {
    const failure: Failure =
      error instanceof TrihandError
        ? { code: error.code, message: error.detail }
        : { code: 'INTERNAL', message: String(error) }
    failRun(activeRun, failure, false, DEFAULT_RETRY)
  }
  activeRun.end()
}

const finishRun = async (
  activeRun: ActiveRun,
  definition: FunctionDefinition | undefined,
  performed: Extract<ExecutionResult, { kind: 'done' }>,
  intents: Intents,
): Promise<void> => {
  const { context } = activeRun
  const { payload, value } = await storeValue(context, performed.result)
  if (definition?.output != null)
    await checkAgainst(definition.output, value, 'OUTPUT_INVALID', `the output of ${definition.name}`)
  const status = statusAfter(activeRun, definition, value) ?? performed.status
  const sideWrites = intents.isEmpty ? null : await packIntents(activeRun, '', intents)
  const events = sideWrites?.events.map(({ event }) => event.id) ?? []
  const writes = sideWrites?.documents.map(({ table, key }) => ({ table, key })) ?? []
  activeRun.ask({
    command: { type: 'finish_run', now: context.clock.now(), status, output: payload, events, writes },
    sideWrites,
    done: null,
  })
}

/** The status that a batch run reports for its events. If all have failed, the run fails with a code of its own, and is not retried as a whole. */
const statusAfter = (
  { inputs, live, context }: ActiveRun,
  definition: FunctionDefinition | undefined,
  output: Json,
): 'success' | 'partial' | null => {
  if (live?.start.input.kind !== 'events') return null
  const flows = definition?.flow == null ? [] : [definition.flow, ...definition.flow.ofTriggers.values()]
  const batch = flows.map(({ policies }) => policies.batch).find((policy) => policy !== null)
  const isReader = [...context.system().queues.values()].some(({ handler }) => handler === definition?.name)
  if (batch == null && !isReader) return null
  const ids = inputs.events.map(({ id }) => id)
  const { status } = batchOutcome(ids, output, batch?.outputs ?? null)
  if (status === 'failed') throw new TrihandError('BATCH_ITEMS_FAILED', `each of the ${ids.length} items has failed`)
  return status === 'partial' ? 'partial' : null
}

const failRun = (activeRun: ActiveRun, error: Failure, retryable: boolean, retry: RetryPolicy): void => {
  const { clock, ids } = activeRun.context
  activeRun.ask({
    command: { type: 'fail_run', now: clock.now(), error, retryable, retry, roll: ids.roll() },
    sideWrites: null,
    done: null,
  })
}
