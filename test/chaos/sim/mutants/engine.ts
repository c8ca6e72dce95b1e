/** Seeded bugs of the engine and the model: attempts, timers, cancels, memory of steps, unused leases. */
import { conflictRules } from '#engine/core/turn-queue.ts'
import { ActiveRun } from '#engine/run/active-run.ts'
import { Waiters } from '#engine/run/waiters.ts'
import { SessionHead } from '#engine/services/session-head.ts'
import { StepDriver } from '#engine/step/step-driver.ts'
import { Leases } from '#engine/worker/leases.ts'
import { Worker } from '#engine/worker/worker.ts'
import { consumedRules } from '#model/event/consumed.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { type Decision, facts } from '#model/kernel/machine.ts'
import type { RunCommand, RunFact, RunState } from '#model/run/fact.ts'
import { run } from '#model/run/run.ts'
import { uncertainRules } from '#model/run/uncertain-step.ts'
import type { StepRequest, WaitRequest } from '#ports/step-port.ts'
import { changed, type Mutant, plantMethod, withWrites } from './mutant.ts'

type Decide = (state: RunState, command: RunCommand) => Decision<RunFact>

const plantDecide = (change: (decide: Decide) => Decide): (() => void) => plantMethod<Decide>(run, 'decide', change)

/** The facts of a decision, changed one by one. */
const mapFacts = (decision: Decision<RunFact>, change: (fact: RunFact) => readonly RunFact[]): Decision<RunFact> =>
  decision.kind === 'facts' ? facts(...decision.facts.flatMap(change)) : decision

const onceAgain: Mutant = {
  name: 'a once effect is tried again after a crash',
  plant: () => {
    const forgetIntent = plantDecide((decide) => (state, command) => {
      if (command.type === 'mark_uncertain') return facts()
      const isAgain =
        command.type === 'intend_step' && state.kind === 'live' && state.open.get(command.step)?.kind === 'intended'
      return isAgain
        ? facts({
            type: 'step.intended',
            at: command.now,
            step: command.step,
            attempt: 1,
            effectKey: command.effectKey,
          })
        : decide(state, command)
    })
    const beginAgain = plantMethod<(this: StepDriver, step: string) => boolean>(
      StepDriver.prototype,
      'mayBegin',
      (mayBegin) =>
        function (step) {
          const { live, waiters } = Reflect.get(this, 'activeRun') as ActiveRun
          return mayBegin.call(this, step) || (live?.open.get(step)?.kind === 'intended' && !waiters.isAwaited(step))
        },
    )
    return () => {
      forgetIntent()
      beginAgain()
    }
  },
}

const EARLY_MS = 1

/** Woken one millisecond before its instant, without a second look. */
const earlyTimer: Mutant = {
  name: 'timers fire one millisecond early',
  atStore: (inner) =>
    withWrites(inner, (write) =>
      write.release && write.wakeAt !== null ? { ...write, wakeAt: write.wakeAt - EARLY_MS } : write,
    ),
  plant: () =>
    plantDecide((decide) => (state, command) => {
      if (command.type !== 'pass_time') return decide(state, command)
      return mapFacts(decide(state, { ...command, now: command.now + EARLY_MS }), (fact) => [
        { ...fact, at: command.now },
      ])
    }),
}

const retryAtOnce: Mutant = {
  name: 'a retry does not wait for its delay',
  plant: () =>
    plantDecide(
      (decide) => (state, command) =>
        mapFacts(decide(state, command), (fact) =>
          fact.type === 'step.retry_scheduled'
            ? [fact, { type: 'step.retry_due', at: fact.at, step: fact.step }]
            : [fact],
        ),
    ),
}

const endlessAttempts: Mutant = {
  name: 'attempts are not limited',
  plant: () =>
    plantDecide(
      (decide) => (state, command) =>
        decide(
          state,
          command.type === 'fail_step' ? { ...command, retry: { ...command.retry, maxAttempts: 99 } } : command,
        ),
    ),
}

const lateResultCounts: Mutant = {
  name: 'a result after the cancel is accepted',
  plant: () =>
    plantDecide((decide) => (state, command) => {
      const isLate = command.type === 'complete_step' && state.kind === 'live' && state.cancel !== null
      if (!isLate || state.settled.has(command.step)) return decide(state, command)
      const { now, step, attempt, result } = command
      return facts({ type: 'step.completed', at: now, step, attempt, result })
    }),
}

const childrenLive: Mutant = {
  name: 'a cancel does not reach the children',
  seenAt: 588,
  plant: () =>
    plantMethod<(this: ActiveRun) => void>(
      ActiveRun.prototype,
      'spreadCancel',
      () =>
        function () {
          if (this.live?.cancel == null) return
          this.executions.abort({ code: 'RUN_CANCELLED', message: 'no longer wanted' })
          this.context.commit.request(this)
        },
    ),
}

const cancelToldEarly: Mutant = {
  name: 'a cancel is acknowledged before it is written',
  plant: () =>
    plantMethod<(this: Worker, ...args: unknown[]) => Promise<void>>(
      Worker.prototype,
      'cancel',
      (cancel) =>
        function (...args) {
          void cancel.call(this, ...args).catch(() => {})
          return Promise.resolve()
        },
    ),
}

const swapped: Mutant = {
  name: 'results of parallel steps change places',
  plant: () =>
    plantMethod<Waiters['deliver']>(
      Waiters.prototype,
      'deliver',
      (deliver) =>
        function (this: Waiters, delivered, after) {
          const done = delivered.flatMap((fact) => (fact.type === 'step.completed' ? [fact.step] : []))
          const [one, other] = done
          if (after === null || one === undefined || other === undefined) return deliver.call(this, delivered, after)
          const [first, second] = [after.settled.get(one), after.settled.get(other)]
          if (first === undefined || second === undefined) return deliver.call(this, delivered, after)
          return deliver.call(this, delivered, {
            ...after,
            settled: after.settled.with(one, second).with(other, first),
          })
        },
    ),
}

/** The nth step of a handler gets the nth result, whatever its name. */
const memoByPosition: Mutant = {
  name: 'results are remembered by position',
  plant: () => {
    const calls = new WeakMap<object, number>()
    return plantMethod<(this: StepDriver, request: StepRequest) => Promise<Json>>(
      StepDriver.prototype,
      'run',
      (perform) =>
        function (request) {
          const position = calls.get(this) ?? 0
          calls.set(this, position + 1)
          const live = (Reflect.get(this, 'activeRun') as ActiveRun).live
          const step = live?.settled.entries()[position]?.[0]
          return perform.call(this, step === undefined ? request : { ...request, step })
        },
    )
  },
}

const noLookback: Mutant = {
  name: 'a wait does not look back',
  plant: () =>
    plantMethod<(this: StepDriver, step: string, request: WaitRequest) => Promise<void>>(
      StepDriver.prototype,
      'openWait',
      (openWait) =>
        function (step, request) {
          return openWait.call(this, step, { ...request, lookback: { kind: 'none' } })
        },
    ),
}

const eventCountsTwice: Mutant = {
  name: 'one event answers every wait of a run (14.3)',
  plant: () => plantMethod<typeof consumedRules.isFree>(consumedRules, 'isFree', () => () => true),
}

const newIdOnResend: Mutant = {
  name: 'an append is sent again under a new id',
  seenAt: 309,
  atEngine: (line) => {
    let sent = 0
    return changed(line, {
      append: (batch) => line.append(batch.map((append) => ({ ...append, appendId: `${append.appendId}-${++sent}` }))),
    })
  },
}

/** Also if the store's outcome is unknown: the caller receives a success that is not certain. */
const doubtAsSuccess: Mutant = {
  name: 'a store that does not answer is taken for success',
  atEngine: (line, store) =>
    changed(line, {
      append: (batch) =>
        line.append(batch).catch((error: unknown) => {
          if (!(error instanceof TrihandError) || batch.some(({ events }) => events.length > 0)) throw error
          return batch.map(() => ({
            kind: 'written' as const,
            sequences: [],
            position: store.events.position,
            signalled: [],
          }))
        }),
    }),
}

const troubleFails: Mutant = {
  name: 'a store that is away fails the step',
  plant: () =>
    plantMethod<(this: ActiveRun, work: () => Promise<unknown>) => Promise<unknown>>(
      ActiveRun.prototype,
      'whileActive',
      () =>
        function (work) {
          this.begin()
          return work().finally(() => this.end())
        },
    ),
}

const nothing = (): void => {}

const forgottenDoubt: Mutant = {
  name: 'a claim without an answer is forgotten',
  plant: () => plantMethod(Leases.prototype, 'distrust', () => nothing),
}

const keptLease: Mutant = {
  name: 'a dropped run keeps its lease',
  seenAt: 131,
  plant: () => plantMethod(Leases.prototype, 'letGo', () => nothing),
}

const lostPlace: Mutant = {
  name: 'a place that was promised is not given back',
  plant: () => plantMethod(Worker.prototype, 'unreserve', () => nothing),
}

const runAgainUnwarned: Mutant = {
  name: 'a step is run again without a warning while its old attempt can still act (13.1.6)',
  plant: () => plantMethod<typeof uncertainRules.mayStillAct>(uncertainRules, 'mayStillAct', () => () => false),
}

const askedAtOnce: Mutant = {
  name: 'people are asked about a step as soon as its lease is lost (13.1.6)',
  plant: () => plantMethod<typeof uncertainRules.mayAsk>(uncertainRules, 'mayAsk', () => () => true),
}

const refusedCaller: Mutant = {
  name: 'a caller is refused because another was faster (14.2)',
  plant: () =>
    plantMethod<typeof conflictRules.pauseMs>(conflictRules, 'pauseMs', () => (conflicts) => {
      throw new TrihandError('LEDGER_CONFLICT', `${conflicts} others were faster`)
    }),
}

const ownWriteUnseen: Mutant = {
  name: 'a run does not see what it has written to its session with others (14.2)',
  plant: () => plantMethod(SessionHead.prototype, 'follow', () => nothing),
}

export const ENGINE_MUTANTS: readonly Mutant[] = [
  refusedCaller,
  ownWriteUnseen,
  onceAgain,
  runAgainUnwarned,
  askedAtOnce,
  earlyTimer,
  retryAtOnce,
  endlessAttempts,
  lateResultCounts,
  childrenLive,
  cancelToldEarly,
  swapped,
  memoByPosition,
  noLookback,
  eventCountsTwice,
  newIdOnResend,
  doubtAsSuccess,
  troubleFails,
  forgottenDoubt,
  keptLease,
  lostPlace,
]
