/** Seeded bugs of coordinators: what a gate or a schedule forgets, misses, does twice or does in two halves. */
import { CoordinatorCommands } from '#engine/coordinators/commands.ts'
import { Coordinator } from '#engine/coordinators/coordinator.ts'
import { GateCoordinator } from '#engine/coordinators/gate-coordinator.ts'
import { ScheduleCoordinator } from '#engine/coordinators/schedule-coordinator.ts'
import { Starts } from '#engine/coordinators/starts.ts'
import { StepDriver } from '#engine/step/step-driver.ts'
import { OUTCOME_TABLE } from '#model/flow/flow-outcome.ts'
import type { GateFact, GateState, OpenGate } from '#model/flow/gate-fact.ts'
import { type KeyStarts, startRules } from '#model/flow/policies/starts.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isRunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { ScheduleState } from '#model/schedule/fact.ts'
import type { StreamWrite } from '#ports/ledger.ts'
import type { InvokeOptions } from '#ports/step-port.ts'
import { changed, type Mutant, oneByOne, plantMethod, withAppends, withWrites } from './mutant.ts'

const isCoordinator = ({ stream, create }: StreamWrite): boolean => create === null && !isRunId(stream)

type Restore<State> = (this: object, ...args: never[]) => State | null

const plantRestore = <State>(target: object, change: (state: State) => State): (() => void) =>
  plantMethod<Restore<State>>(
    target,
    'restore',
    (restore) =>
      function (...args) {
        const state = restore.apply(this, args)
        return state === null ? null : change(state)
      },
  )

const forgottenCursor: Mutant = {
  name: 'a gate that is taken up again reads its events from the beginning',
  seenAt: 1,
  plant: () =>
    plantRestore<GateState>(GateCoordinator.prototype, (state) =>
      state.kind === 'open' ? { ...state, cursor: 0, beyond: [] } : state,
    ),
}

const forgottenSlots: Mutant = {
  name: 'a schedule that is taken up again has lost its line',
  plant: () =>
    plantRestore<ScheduleState>(ScheduleCoordinator.prototype, (state) =>
      state.kind === 'live' ? { ...state, line: [] } : state,
    ),
}

/** Signals that came while it worked are taken as seen. */
const deafPark: Mutant = {
  name: 'a clerk parks over a signal that it has not looked at',
  seenAt: 12,
  atStore: (inner) =>
    withWrites(inner, (write) =>
      isCoordinator(write) && write.release ? { ...write, seenSignal: Number.MAX_SAFE_INTEGER } : write,
    ),
}

const noWake: Mutant = {
  name: 'a clerk is released without its wake',
  plant: () => plantMethod(GateCoordinator.prototype, 'wakeAt', () => () => null),
}

const twoHalves: Mutant = {
  name: 'the facts of a clerk and the runs they start are two appends',
  atEngine: (line) =>
    oneByOne(line, async (append, write) => {
      const own = append.writes.filter(isCoordinator)
      const spawned = append.writes.filter(({ create }) => create !== null)
      if (own.length === 0 || spawned.length === 0) return write(append)
      const outcome = await write({ ...append, writes: own })
      if (outcome.kind === 'conflict') return outcome
      const born = await write({ ...append, appendId: `${append.appendId}-runs`, writes: spawned })
      return born.kind === 'conflict' ? outcome : born
    }),
}

const unfenced: Mutant = {
  name: 'a clerk writes without its fence',
  seenAt: 8,
  atStore: (inner, store) =>
    withWrites(inner, (write) => {
      const found = isCoordinator(write) ? store.streams.get(write.stream) : undefined
      return found === undefined || write.epoch === null ? write : { ...write, epoch: found.epoch }
    }),
}

const thinCheckpoint: Mutant = {
  name: 'a checkpoint drops the windows of its gate',
  seenAt: 4,
  plant: () =>
    plantMethod<(state: GateState) => GateFact>(
      GateCoordinator.prototype,
      'checkpoint',
      (checkpoint) =>
        function (this: GateCoordinator, state) {
          return checkpoint.call(this, { ...(state as OpenGate), windows: [] })
        },
    ),
}

const forgottenCancels: Mutant = {
  name: 'a cancel that a clerk wanted is not asked for again after a crash',
  seenAt: 530,
  plant: () => plantMethod(GateCoordinator.prototype, 'resumed', () => () => {}),
}

/** Others write to a coordinator as well: a pause must be seen before the next start. */
const deafToOthers: Mutant = {
  name: 'a clerk does not follow what others wrote',
  plant: () => {
    const follow = (): ((state: unknown) => unknown) => (state) => state
    const undo = [GateCoordinator, ScheduleCoordinator].map((logic) => plantMethod(logic.prototype, 'follow', follow))
    return () => undo.forEach((remove) => void remove())
  },
}

const conflictForgotten: Mutant = {
  name: 'a clerk takes a conflict for success',
  seenAt: 8,
  plant: () =>
    plantMethod<(this: object, outcome: unknown, state: unknown, spawned: unknown) => Promise<unknown>>(
      Coordinator.prototype,
      'meet',
      (meet) =>
        async function (outcome, state, spawned) {
          await meet.call(this, outcome, state, spawned)
          const logic = Reflect.get(this, 'logic') as GateCoordinator
          const now = Reflect.get(this, 'now') as () => number
          return (await logic.find(state as GateState, () => now.call(this), 'all')).state
        },
    ),
}

/** coordinator-commands-1. */
const impatient: Mutant = {
  name: 'a command to a clerk is refused because another writer was faster',
  seenAt: 27,
  plant: () =>
    plantMethod<(this: object, ...args: never[]) => Promise<boolean>>(
      CoordinatorCommands.prototype,
      'write',
      (write) =>
        async function (...args) {
          if (await write.apply(this, args)) return true
          throw new TrihandError('LEDGER_CONFLICT', 'another writer was faster')
        },
    ),
}

const endsUnheard: Mutant = {
  name: 'the end of a run does not reach its clerk',
  atStore: (inner) =>
    changed(inner, {
      append: (batch) =>
        inner.append(
          batch.map((append) => ({ ...append, signals: append.signals.filter((stream) => isRunId(stream)) })),
        ),
    }),
}

const speechless: Mutant = {
  name: 'a gate does not say what became of an event that starts no run',
  seenAt: 4,
  atEngine: (line) =>
    withAppends(line, (append) => ({
      ...append,
      documents: append.documents.filter(({ table }) => table !== OUTCOME_TABLE),
    })),
}

/** The behaviour before runs asked the throttle when they begin: after a stall all begin whose turn has passed. */
const turnsFixedAtBirth: Mutant = {
  name: 'a throttled run begins when it is claimed, whatever its throttle says by then',
  seenAt: 33,
  plant: () => plantMethod(Starts.prototype, 'holds', () => () => false),
}

const givenForgotten: Mutant = {
  name: 'a start that was given counts only once the handler was entered',
  seenAt: 12,
  plant: () =>
    plantMethod(
      startRules,
      'idleWithGiven',
      () =>
        ({ idle }: KeyStarts) =>
          idle,
    ),
}

/** The behaviour before calls of steps passed gates. */
const pastTheGate: Mutant = {
  name: 'a child does not pass the gate of what it calls',
  plant: () =>
    plantMethod<
      (this: StepDriver, step: string, handler: string, input: Json, options?: InvokeOptions) => Promise<Json>
    >(
      StepDriver.prototype,
      'invoke',
      (invoke) =>
        function (step, handler, input, options) {
          return invoke.call(this, step, handler, input, { ...options, gate: 'none' })
        },
    ),
}

/** The child's own parent is notified, and the gate waits forever. */
const childEndUnheard: Mutant = {
  name: 'a gate does not hear of the end of a child that it let through',
  atEngine: (line) =>
    withAppends(line, (append) => {
      const tellsParent = append.signals.some((stream) => isRunId(stream))
      return tellsParent ? { ...append, signals: append.signals.filter((stream) => isRunId(stream)) } : append
    }),
}

export const COORDINATOR_MUTANTS: readonly Mutant[] = [
  forgottenCursor,
  forgottenSlots,
  deafPark,
  noWake,
  twoHalves,
  unfenced,
  thinCheckpoint,
  forgottenCancels,
  deafToOthers,
  conflictForgotten,
  impatient,
  endsUnheard,
  speechless,
  turnsFixedAtBirth,
  givenForgotten,
  pastTheGate,
  childEndUnheard,
]
