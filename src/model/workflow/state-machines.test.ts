/** The diagrams of docs/state-machines.md, compared with the machines: the same edges, no more and no fewer. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Candidate } from '#model/event/arrival.ts'
import { gate } from '#model/flow/gate.ts'
import type { GateState } from '#model/flow/gate-fact.ts'
import { entriesOf } from '#model/kernel/due-map.ts'
import type { RunFact, RunState } from '#model/run/fact.ts'
import { run, statusOf } from '#model/run/run.ts'
import type { ScheduleState } from '#model/schedule/fact.ts'
import { schedule } from '#model/schedule/schedule.ts'
import { session } from '#model/session/session.ts'
import type { TaskState } from '#model/task/fact.ts'
import { task } from '#model/task/task.ts'
import { anyGateLife, live } from '#test/support/stories/gate-arbitrary.ts'
import { PATIENCE_MS } from '#test/support/stories/policy-cases.ts'
import { anyWalk, STEPS } from '#test/support/stories/run-arbitrary.ts'
import { anyTurns } from '#test/support/stories/schedule-arbitrary.ts'
import { anySessionHistory } from '#test/support/stories/session-arbitrary.ts'
import { anyTurns as anyTaskTurns } from '#test/support/stories/task-arbitrary.ts'

const DOCUMENT = readFileSync(new URL('../../../docs/state-machines.md', import.meta.url), 'utf8')
const NOWHERE = '[*]'
/** Enough walks to see the rarest edge many times. */
const WALKS = fc.sample(anyWalk, { numRuns: 2_000, seed: 23 })

/** The edges of the diagram under a heading, each as `from --> to: fact`. */
const drawn = (heading: string): readonly string[] => {
  const picture = DOCUMENT.split(`## ${heading}\n`)[1]?.split('```')[1] ?? ''
  const arrows = picture.matchAll(/^ {2}(\S+) --> (\S+): (.+)$/gm)
  return [...arrows]
    .flatMap(([, from, to, facts]) => (facts ?? '').split(', ').map((fact) => `${from} --> ${to}: ${fact}`))
    .toSorted()
}

type Sight = (from: string, fact: RunFact, to: string) => void

/** Passes every fact that the walks recorded to `look`, which names the states before and after it. */
const edgesOf = (look: (before: RunState, fact: RunFact, after: RunState, see: Sight) => void): readonly string[] => {
  const edges = new Set<string>()
  const see: Sight = (from, fact, to) => edges.add(`${from} --> ${to}: ${fact.type}`)
  for (const turn of WALKS.flat()) {
    let state = turn.before
    for (const fact of turn.facts) {
      const next = run.evolve(state, fact)
      // Evidence changes what is known about a step, never its state.
      if (fact.type === 'step.late_result')
        for (const step of STEPS) expect(stepName(next, step)).toBe(stepName(state, step))
      else look(state, fact, next, see)
      state = next
    }
  }
  return [...edges].toSorted()
}

const runName = (state: RunState): string => {
  if (state.kind === 'none') return NOWHERE
  const isPlain = state.kind === 'live' && state.cancel === null && state.pause === null
  return isPlain ? 'live' : statusOf(state, true)
}

const stepName = (state: RunState, step: string): string => {
  if (state.kind === 'none') return NOWHERE
  const live = state.kind === 'live' ? state : state.last
  return live.settled.get(step)?.kind ?? live.open.get(step)?.kind ?? NOWHERE
}

test('the diagram of a run has the edges of a run', () => {
  expect(edgesOf((before, fact, after, see) => see(runName(before), fact, runName(after)))).toEqual(drawn('A run'))
})

test('the diagram of a step has the edges of a step', () => {
  const edges = edgesOf((before, fact, after, see) => {
    const touched =
      'step' in fact ? [fact.step] : STEPS.filter((step) => stepName(before, step) !== stepName(after, step))
    for (const step of touched) see(stepName(before, step), fact, stepName(after, step))
  })
  expect(edges).toEqual(drawn('A step'))
})

test('the diagram of a session has the edges of a session', () => {
  const edges = new Set<string>()
  for (const history of fc.sample(anySessionHistory, { numRuns: 1_000, seed: 29 })) {
    let state = session.initial
    for (const fact of history) {
      const next = session.evolve(state, fact)
      const [from, to] = [state, next].map(({ kind }) => (kind === 'none' ? NOWHERE : kind))
      edges.add(`${from} --> ${to}: ${fact.type}`)
      state = next
    }
  }
  expect([...edges].toSorted()).toEqual(drawn('The head of a session'))
})

/** The place of each event that waits at a gate. */
const placesAt = (state: GateState): ReadonlyMap<number, string> => {
  if (state.kind === 'none') return new Map()
  const inside = (place: string, { events }: Candidate) => events.map(({ sequence }) => [sequence, place] as const)
  return new Map([
    ...state.held.map(({ arrival }) => [arrival.sequence, 'held'] as const),
    ...entriesOf(state.windows).flatMap(([, { candidate }]) => inside('window', candidate)),
    ...entriesOf(state.lines).flatMap(([, { waiting }]) => waiting.flatMap((candidate) => inside('line', candidate))),
  ])
}

test(
  'the diagram of an event at a gate has the edges of a gate',
  () => {
    const edges = new Set<string>()
    for (const life of fc.sample(anyGateLife, { numRuns: 600, seed: 31 })) {
      const done = new Map<number, string>()
      let state = gate.initial
      for (const fact of live(life).drive.history) {
        const before = placesAt(state)
        state = gate.evolve(state, fact)
        const after = placesAt(state)
        const isOver = new Set(done.keys())
        if (fact.type === 'gate.started') for (const sequence of fact.events) done.set(sequence, 'started')
        if (fact.type === 'trigger.suppressed') done.set(fact.sequence, 'suppressed')
        for (const sequence of new Set([...before.keys(), ...after.keys(), ...done.keys()])) {
          const [from, to] = [before.get(sequence) ?? NOWHERE, done.get(sequence) ?? after.get(sequence) ?? NOWHERE]
          if (from !== to && !isOver.has(sequence)) edges.add(`${from} --> ${to}: ${fact.type}`)
        }
      }
    }
    expect([...edges].toSorted()).toEqual(drawn('An event at a gate'))
  },
  PATIENCE_MS,
)

const scheduleName = (state: ScheduleState): string => {
  if (state.kind === 'live') return state.paused === null ? 'live' : 'paused'
  return state.kind === 'none' ? NOWHERE : state.kind
}

test('the diagram of a schedule has the edges of a schedule', { timeout: PATIENCE_MS }, () => {
  const edges = new Set<string>()
  for (const turns of fc.sample(anyTurns, { numRuns: 1_500, seed: 31 })) {
    let state = schedule.initial
    for (const fact of turns.flatMap(({ facts }) => facts)) {
      const next = schedule.evolve(state, fact)
      const edge = `${scheduleName(state)} --> ${scheduleName(next)}: ${fact.type}`
      if (fact.type !== 'schedule.checkpointed') edges.add(edge)
      state = next
    }
  }
  expect([...edges].toSorted()).toEqual(drawn('A schedule'))
})

const taskName = (state: TaskState): string => (state.kind === 'none' ? NOWHERE : state.status)

test('the diagram of a task has the edges of a task', { timeout: PATIENCE_MS }, () => {
  const edges = new Set<string>()
  for (const turns of fc.sample(anyTaskTurns, { numRuns: 3_000, seed: 40 })) {
    let state = task.initial
    for (const fact of turns.flatMap(({ facts }) => facts)) {
      const next = task.evolve(state, fact)
      if (fact.type !== 'task.checkpointed') edges.add(`${taskName(state)} --> ${taskName(next)}: ${fact.type}`)
      state = next
    }
  }
  expect([...edges].toSorted()).toEqual(drawn('A task'))
})
