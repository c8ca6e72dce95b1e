/** Seeded bugs of runs that are retried, of the keys that they hold, of their children, versions and instants, and of slots of the past. */
import { KeptClaims } from '#engine/coordinators/kept-claims.ts'
import { CoordinatorRegistry } from '#engine/coordinators/registry.ts'
import { externalCommand } from '#engine/run/external-command.ts'
import { ClaimFilter } from '#engine/worker/claim-filter.ts'
import { gate } from '#model/flow/gate.ts'
import type { EndedKeys, GateCommand, GateFact, GateState } from '#model/flow/gate-fact.ts'
import { KEPT_TABLE } from '#model/flow/kept-claims.ts'
import { type Decision, facts } from '#model/kernel/machine.ts'
import { childRules } from '#model/run/child-retry.ts'
import type { Limits, RunCommand, RunFact, RunState } from '#model/run/fact.ts'
import { run } from '#model/run/run.ts'
import { isEnded } from '#model/run/status.ts'
import type { ScheduleCommand, ScheduleFact, ScheduleState } from '#model/schedule/fact.ts'
import { schedule } from '#model/schedule/schedule.ts'
import { changed, type Mutant, plantMethod, withAppends } from './mutant.ts'

type Decide<State, Command, Fact> = (state: State, command: Command) => Decision<Fact>
type DecideRun = Decide<RunState, RunCommand, RunFact>
type DecideGate = Decide<GateState, GateCommand, GateFact>
type DecideSchedule = Decide<ScheduleState, ScheduleCommand, ScheduleFact>

const plantRun = (change: (decide: DecideRun) => DecideRun): (() => void) =>
  plantMethod<DecideRun>(run, 'decide', change)
const plantSchedule = (change: (decide: DecideSchedule) => DecideSchedule): (() => void) =>
  plantMethod<DecideSchedule>(schedule, 'decide', change)

const mapped = <Fact>(decision: Decision<Fact>, change: (fact: Fact) => readonly Fact[]): Decision<Fact> =>
  decision.kind === 'facts' ? facts(...decision.facts.flatMap(change)) : decision

// -- retries and children ----------------------------------------------------------------------------------------------

const ungated: Mutant = {
  name: 'a retry does not ask its gate (14.1.2)',
  plant: () =>
    plantMethod<CoordinatorRegistry['retryAtGate']>(
      CoordinatorRegistry.prototype,
      'retryAtGate',
      () => async (context, _, asked) => {
        const { by, kind, call } = asked.intent
        const id = asked.record.stream as Parameters<typeof externalCommand>[1]
        await externalCommand(context, id, (now) => ({
          ...{ type: 'retry_run', now, by, kind },
          ...(call !== undefined && { call }),
        }))
        return 'begun'
      },
    ),
}

const halfGated: Mutant = {
  name: 'a gate does not hear that a run goes on (14.1.2)',
  seenAt: 19,
  atEngine: (line) =>
    withAppends(line, (append) => {
      const isRevival = append.writes.some(({ facts: [first] }) => first?.type === 'run.retried')
      return isRevival
        ? { ...append, writes: append.writes.filter(({ stream }) => !stream.startsWith('gat_')) }
        : append
    }),
}

const childAnew: Mutant = {
  name: 'a retried parent begins its failed child anew (14.1.1)',
  plant: () => plantMethod<typeof childRules.childToRetry>(childRules, 'childToRetry', () => () => null),
}

const leftBehind: Mutant = {
  name: 'children outlive their parent (14.1.5)',
  seenAt: 9,
  atEngine: (line, store) =>
    withAppends(line, (append) => {
      const ended = new Set<string>(append.writes.flatMap(({ stream, status }) => (isEnded(status) ? [stream] : [])))
      const isLeft = (id: string): boolean => ended.has(store.streams.get(id as never)?.parent ?? '')
      return { ...append, signals: append.signals.filter((id) => !isLeft(id)) }
    }),
}

// -- instants and versions ---------------------------------------------------------------------------------------------

const entryForgotten: Mutant = {
  name: 'a run that is at work expires, since its entry was not recorded (14.1.4)',
  seenAt: 100,
  plant: () =>
    plantRun((decide) => (state, command) => (command.type === 'enter_run' ? facts() : decide(state, command))),
}

const oldLimits = ({ at, startBy, deadlineAt }: Limits & { readonly at: number }): Limits => ({
  startBy: startBy === null ? null : Math.min(startBy, at),
  deadlineAt: deadlineAt === null ? null : Math.min(deadlineAt, at),
})

const limitsKept: Mutant = {
  name: 'a retried run has the instants of its first life (14.1.4)',
  seenAt: 24,
  plant: () =>
    plantRun(
      (decide) => (state, command) =>
        mapped(decide(state, command), (fact) =>
          fact.type === 'run.retried' && fact.limits !== undefined && state.kind === 'ended'
            ? [{ ...fact, limits: oldLimits({ ...state.last.start, at: fact.at }) }]
            : [fact],
        ),
    ),
}

const silentTakeover: Mutant = {
  name: 'a run goes on with another version without a hand-over fact (13.2.2)',
  atStore: (inner, store) =>
    changed(inner, {
      claim: async (request) => {
        const claims = await inner.claim(request)
        for (const { stream } of claims.claims) {
          const taken = store.streams.get(stream)
          if (taken !== undefined) taken.bornHash = null
        }
        return claims
      },
    }),
}

const unpinned: Mutant = {
  name: 'a worker takes runs of another version while that is served (13.2.2)',
  seenAt: 9,
  plant: () =>
    plantMethod<ClaimFilter['taker']>(
      ClaimFilter.prototype,
      'taker',
      (taker) =>
        function (this: ClaimFilter, withOthers) {
          const { version, takesOver = [] } = taker.call(this, withOthers)
          return { version, takesOver: takesOver.map((one) => ({ ...one, afterMs: 0 })) }
        },
    ),
}

// -- keys --------------------------------------------------------------------------------------------------------------

const mapKeys = (change: (keys: EndedKeys) => EndedKeys): (() => void) =>
  plantMethod<DecideGate>(
    gate,
    'decide',
    (decide) => (state, command) =>
      mapped(decide(state, command), (fact) =>
        fact.type === 'gate.run_ended' && fact.items !== undefined ? [{ ...fact, items: change(fact.items) }] : [fact],
      ),
  )

const freedInWaiting: Mutant = {
  name: 'an item of a batch that waits for its next try frees its key (14.4.2)',
  plant: () => mapKeys(({ freed, again }) => ({ freed: [...freed, ...again], again: [], next: null })),
}

const heldForGood: Mutant = {
  name: 'an item of a batch that failed for good keeps its key (14.4.2)',
  plant: () => mapKeys((keys) => ({ ...keys, freed: [] })),
}

const notRecalled: Mutant = {
  name: 'a kept key is not looked up (14.4.4)',
  seenAt: 12,
  plant: () => plantMethod<KeptClaims['recall']>(KeptClaims.prototype, 'recall', () => async (state) => state),
}

const notKept: Mutant = {
  name: 'a key leaves the state of its gate without a document (14.4.4)',
  atEngine: (line) =>
    withAppends(line, (append) => ({
      ...append,
      documents: append.documents.filter(({ table, value }) => table !== KEPT_TABLE || value === null),
    })),
}

// -- slots of the past -------------------------------------------------------------------------------------------------

const isPaused = (state: ScheduleState): boolean => state.kind === 'live' && state.paused !== null

const heldInPause: Mutant = {
  name: 'a backfill that was asked for in a pause waits for its end (14.4.5)',
  seenAt: 222,
  plant: () =>
    plantSchedule((decide) => (state, command) => {
      const decision = decide(state, command)
      if (!isPaused(state) || command.type === 'resume_schedule') return decision
      return mapped(decision, (fact) => (fact.type === 'schedule.fired' && fact.origin === 'backfill' ? [] : [fact]))
    }),
}

const startsInPause: Mutant = {
  name: 'what waited before a pause starts in it (14.4.5)',
  seenAt: 241,
  plant: () =>
    plantSchedule((decide) => (state, command) => {
      const isLate = state.kind === 'live' && state.paused !== null && command.type === 'end_run'
      if (!isLate) return decide(state, command)
      return decide({ ...state, line: state.line.map((waiting) => ({ ...waiting, askedInPause: true })) }, command)
    }),
}

const askedTwice: Mutant = {
  name: 'a backfill that is asked for again under its id is done again (14.4.5)',
  seenAt: 70,
  plant: () =>
    plantSchedule(
      (decide) => (state, command) =>
        decide(state.kind === 'live' && command.type === 'backfill' ? { ...state, requests: [] } : state, command),
    ),
}

const halfFilled: Mutant = {
  name: 'what a backfill has not started when a pause ends is lost (14.4.5)',
  plant: () =>
    plantMethod<(state: ScheduleState, fact: ScheduleFact) => ScheduleState>(
      schedule,
      'evolve',
      (evolve) => (before, fact) => {
        const state = evolve(before, fact)
        if (fact.type !== 'schedule.resumed' || state.kind !== 'live') return state
        return { ...state, line: state.line.filter(({ origin }) => origin !== 'backfill') }
      },
    ),
}

export const LIFE_MUTANTS: readonly Mutant[] = [
  ungated,
  halfGated,
  childAnew,
  leftBehind,
  entryForgotten,
  limitsKept,
  silentTakeover,
  unpinned,
  freedInWaiting,
  heldForGood,
  notRecalled,
  notKept,
  heldInPause,
  startsInPause,
  askedTwice,
  halfFilled,
]
