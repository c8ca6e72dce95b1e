/**
 * Waking a run and entering its handler: what time, events and children have changed is recorded first, then the code runs.
 *
 * Owns the order of a wake. Never performs a step itself (gate.ts) and never writes (commit.ts).
 *
 * enter-1  A step intended by an earlier holder is never begun here: it is put in doubt, as soon as people may be asked.
 * enter-2  The handler is entered only on a state that the ledger holds.
 * enter-3  An event that is in the ledger when a run wakes comes before a timeout that has passed meanwhile.
 * enter-4  A throttled run is first entered only when its throttle lets it begin at that moment (starts.ts).
 */
import { storeValue } from '#engine/core/payloads.ts'
import { type Performed, toPerform } from '#engine/core/perform.ts'
import { offerDoubts, raiseDoubts } from '#engine/step/doubt.ts'
import { Gate, type StepErrors } from '#engine/step/gate.ts'
import { type Intents, packIntents } from '#engine/step/intents.ts'
import { isOpen } from '#engine/step/once.ts'
import { NOTHING_PREFETCHED, type Prefetched } from '#engine/wait/look.ts'
import { offerChildren, offerEvents } from '#engine/wait/offer.ts'
import type { FunctionDefinition } from '#manifest/define/system.ts'
import { checkAgainst } from '#manifest/schema/schema.ts'
import { batchOutcome } from '#model/flow/policies/batch-outcome.ts'
import { DEFAULT_RETRY, type RetryPolicy } from '#model/flow/policies/retry.ts'
import { type Failure, TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunCommand } from '#model/run/fact.ts'
import { isUntouched, wakeAt } from '#model/run/run.ts'
import { NO_VERSION } from '#model/worker/pin.ts'
import { RunEntry } from './entry.ts'
import { readInputs } from './input.ts'
import { findLost } from './lost-children.ts'
import { offerParentEnd } from './parent-end.ts'
import type { Answer } from './request.ts'
import type { Resident } from './resident.ts'

const MAX_RECOVERIES = 5

/** A run that was claimed: look around, record what has changed, then enter. */
export const awaken = async (
  resident: Resident,
  recoveries: number,
  prefetched: Prefetched,
  errors: StepErrors,
  /** Its parent may have ended before this wake. */
  mayBeLeft = true,
): Promise<void> => {
  try {
    const { context, record, live } = resident
    resident.inputs = await readInputs(context, record, live?.start.input ?? { kind: 'event' })
    await catchUp(resident, recoveries, prefetched, mayBeLeft)
    const isHeld = context.starts.holds(resident)
    const start = !isReady(resident) ? 'never' : isHeld ? await askForStart(resident) : 'free'
    if (start === 'now' || start === 'free') await recordEntry(resident)
    // The definition may have been replaced since it was claimed.
    for (let over = handOverOf(resident); over !== null; over = handOverOf(resident)) await recorded(resident, over)
    if (start !== 'never' && isReady(resident)) {
      enter(resident, errors)
      if (start === 'now') context.starts.made(resident)
      resident.watchTime()
    } else if (!resident.isGone) {
      if (recoveries > 0 && resident.live?.cancel != null) await findLost(resident)
      resident.spreadCancel()
    }
  } catch (error) {
    const failure: Failure =
      error instanceof TrihandError
        ? { code: error.code, message: error.detail }
        : { code: 'INTERNAL', message: String(error) }
    resident.drop('dropped', failure)
    return
  }
  resident.end()
}

/** A run that was created a moment ago in this process: there is nothing to look for. `isLeft`: but the end of its parent. */
export const enterFresh = async (resident: Resident, errors: StepErrors, isLeft: boolean): Promise<void> =>
  awaken(resident, 0, NOTHING_PREFETCHED, errors, isLeft)

const isReady = (resident: Resident): boolean => isOpen(resident) && resident.live?.retryAt === null

/** run-5: the code that would be entered is of another version than had it so far. Null: it is not, or nothing is entered. */
const handOverOf = ({ context, live, record, isGone }: Resident): Extract<RunCommand, { type: 'hand_over' }> | null => {
  const { born, now } = record.versions
  if (live === null || live.cancel !== null || isGone) return null
  const [from, to] = [live.version ?? born, now === NO_VERSION ? NO_VERSION : context.system().hash]
  return from === to ? null : { type: 'hand_over', now: context.clock.now(), from, to }
}

/** run-6: only a run that had to begin by an instant pays for it. */
const recordEntry = async (resident: Resident): Promise<void> => {
  if (resident.live?.start.startBy == null) return
  await recorded(resident, { type: 'enter_run', now: resident.context.clock.now() })
}

/** enter-4. */
const askForStart = async (resident: Resident): Promise<'now' | 'free' | 'never'> => {
  const start = await resident.context.starts.admit(resident, () => isReady(resident))
  if (typeof start !== 'number') return start
  resident.waitsUntil = start
  return 'never'
}

const catchUp = async (
  resident: Resident,
  recoveries: number,
  prefetched: Prefetched,
  mayBeLeft: boolean,
): Promise<void> => {
  const live = resident.live
  if (live === null) return
  const now = resident.context.clock.now()
  const commands: RunCommand[] = []
  const handOver = handOverOf(resident)
  if (handOver !== null) commands.push(handOver)
  if (recoveries >= MAX_RECOVERIES) {
    await findLost(resident)
    const message = `the run lost its worker ${recoveries} times in a row without progress`
    commands.push({ type: 'quarantine_run', now, error: { code: 'RUN_QUARANTINED', message } })
  }
  for (const command of commands) resident.ask({ command, luggage: null, done: null })
  if (live.open.size > 0) {
    raiseDoubts(resident)
    await offerEvents(resident, prefetched)
    await offerChildren(resident)
    await offerDoubts(resident)
  }
  // A parent tells its children of its end by a signal. One that was not begun may have been born with that end.
  const looks = mayBeLeft && (resident.record.signal > 0 || recoveries > 0 || isUntouched(live))
  const isLeft = looks && (await offerParentEnd(resident))
  const due = wakeAt(live)
  if (due !== null && due <= now) resident.context.observers.tell((observer) => observer.woke(now - due))
  const isTimeUp = (due !== null && due <= now) || live.start.startBy !== null
  if (isTimeUp || isLeft || commands.length > 0 || live.open.size > 0) await recorded(resident)
}

/** A run in memory whose time has come: people may have to be asked, or an event is there. */
export const lookAgain = (resident: Resident): Promise<void> => {
  raiseDoubts(resident)
  return offerEvents(resident, NOTHING_PREFETCHED)
}

/** enter-2, enter-3: time passes last; settles once that and everything asked before is in the ledger. */
const recorded = (
  resident: Resident,
  command: RunCommand = { type: 'pass_time', now: resident.context.clock.now() },
): Promise<void> =>
  new Promise((resolve) => {
    const done = (answer: Answer): void => {
      if (answer.kind !== 'gone') resolve()
    }
    resident.ask({ command, luggage: null, done })
  })

const enter = (resident: Resident, errors: StepErrors): void => {
  const { context, record } = resident
  const definition = context.system().functions.get(record.handler)
  const entry = new RunEntry(resident, new Gate(resident, errors), definition)
  resident.entry = 'inside'
  resident.claimed = resident.live === null || resident.live.settled.size === 0 ? null : new Set()
  const performance = toPerform(context, entry, {
    performed: (performed) => {
      resident.performances.end(performance)
      if (!resident.isGone) void leave(resident, definition, performed, entry.intents)
    },
  })
  resident.performances.begin(performance)
  performance.begin()
}

/** The handler's last word becomes the run's end, or its next attempt. */
const leave = async (
  resident: Resident,
  definition: FunctionDefinition | undefined,
  performed: Performed,
  intents: Intents,
): Promise<void> => {
  resident.entry = 'over'
  resident.begin()
  try {
    if (performed.kind === 'failed')
      failRun(resident, performed.failure, performed.retryable, definition?.retry ?? DEFAULT_RETRY)
    else await resident.whileActive(() => finishRun(resident, definition, performed, intents))
  } catch (error) {
    const failure: Failure =
      error instanceof TrihandError
        ? { code: error.code, message: error.detail }
        : { code: 'INTERNAL', message: String(error) }
    failRun(resident, failure, false, DEFAULT_RETRY)
  }
  resident.end()
}

const finishRun = async (
  resident: Resident,
  definition: FunctionDefinition | undefined,
  performed: Extract<Performed, { kind: 'done' }>,
  intents: Intents,
): Promise<void> => {
  const { context } = resident
  const { payload, value } = await storeValue(context, performed.result)
  if (definition?.output != null)
    await checkAgainst(definition.output, value, 'OUTPUT_INVALID', `the output of ${definition.name}`)
  const status = statusAfter(resident, definition, value) ?? performed.status
  const luggage = intents.isEmpty ? null : await packIntents(resident, '', intents)
  const events = luggage?.events.map(({ event }) => event.id) ?? []
  const writes = luggage?.documents.map(({ table, key }) => ({ table, key })) ?? []
  resident.ask({
    command: { type: 'finish_run', now: context.clock.now(), status, output: payload, events, writes },
    luggage,
    done: null,
  })
}

/** What a run of a batch says about its events. That all have failed is an end of its own, and no reason to try all of it again. */
const statusAfter = (
  { inputs, live, context }: Resident,
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

const failRun = (resident: Resident, error: Failure, retryable: boolean, retry: RetryPolicy): void => {
  const { clock, ids } = resident.context
  resident.ask({
    command: { type: 'fail_run', now: clock.now(), error, retryable, retry, roll: ids.roll() },
    luggage: null,
    done: null,
  })
}
