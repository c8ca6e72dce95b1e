/** The pictures of docs/state-machines.md against the machines: the same edges, no more and no fewer. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyWalk, STEPS } from '../../test/support/run-arbitrary.ts'
import { anySessionHistory } from '../../test/support/session-arbitrary.ts'
import { run, statusOf } from './run.ts'
import type { RunFact, RunState } from './run-fact.ts'
import { session } from './session.ts'

const DOCUMENT = readFileSync(new URL('../../docs/state-machines.md', import.meta.url), 'utf8')
const NOWHERE = '[*]'
/** Enough for the rarest edge with room to spare. */
const WALKS = fc.sample(anyWalk, { numRuns: 2_000, seed: 23 })

/** The edges of the picture under a heading, each as `from --> to: fact`. */
const drawn = (heading: string): readonly string[] => {
  const picture = DOCUMENT.split(`## ${heading}\n`)[1]?.split('```')[1] ?? ''
  const arrows = picture.matchAll(/^ {2}(\S+) --> (\S+): (.+)$/gm)
  return [...arrows]
    .flatMap(([, from, to, facts]) => (facts ?? '').split(', ').map((fact) => `${from} --> ${to}: ${fact}`))
    .toSorted()
}

type Sight = (from: string, fact: RunFact, to: string) => void

/** Shows every fact that the walks recorded, with the states before and after it as `look` names them. */
const edgesOf = (look: (before: RunState, fact: RunFact, after: RunState, see: Sight) => void): readonly string[] => {
  const edges = new Set<string>()
  const see: Sight = (from, fact, to) => edges.add(`${from} --> ${to}: ${fact.type}`)
  for (const turn of WALKS.flat()) {
    let state = turn.before
    for (const fact of turn.facts) {
      const next = run.evolve(state, fact)
      if (fact.type === 'step.late_result') expect(next).toBe(state)
      else look(state, fact, next, see)
      state = next
    }
  }
  return [...edges].toSorted()
}

const runName = (state: RunState): string => {
  if (state.kind === 'none') return NOWHERE
  return state.kind === 'live' && state.cancel === null ? 'live' : statusOf(state, true)
}

const stepName = (state: RunState, step: string): string => {
  if (state.kind === 'none') return NOWHERE
  const live = state.kind === 'live' ? state : state.last
  return live.settled.get(step)?.kind ?? live.open.get(step)?.kind ?? NOWHERE
}

test('the picture of a run has the edges of a run', () => {
  expect(edgesOf((before, fact, after, see) => see(runName(before), fact, runName(after)))).toEqual(drawn('A run'))
})

test('the picture of a step has the edges of a step', () => {
  const edges = edgesOf((before, fact, after, see) => {
    const touched =
      'step' in fact ? [fact.step] : STEPS.filter((step) => stepName(before, step) !== stepName(after, step))
    for (const step of touched) see(stepName(before, step), fact, stepName(after, step))
  })
  expect(edges).toEqual(drawn('A step'))
})

test('the picture of a session has the edges of a session', () => {
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
