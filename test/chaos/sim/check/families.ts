/** Children across the lives of their parents: one run per call, however often the parent was retried, and none continues without its parent. */
import type { RunFact } from '#model/run/fact.ts'
import type { LookedRun } from '#test/chaos/sim/look.ts'
import type { Evidence } from './evidence.ts'
import { endOf, groups } from './lives.ts'

export const checkFamilies = ({ look }: Evidence): readonly string[] => {
  const runs = look.runs()
  const children = new Map<string, LookedRun[]>()
  for (const run of runs) {
    const { parent } = run.stream
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), run])
  }
  return runs.flatMap((run) => [
    ...calledTwice(run),
    ...(children.get(run.id) ?? []).flatMap((child) => (goesOnAlone(child) ? [] : outlived(run, child))),
  ])
}

/** child-retry-1. */
const calledTwice = ({ id, facts }: LookedRun): readonly string[] => {
  const calls = facts.flatMap((fact) => (fact.type === 'child.started' && fact.child.startsWith('run_') ? [fact] : []))
  return groups(calls, ({ step, handler }) => `${step} of ${handler}`).flatMap((same) => {
    const called = new Set(same.map(({ child }) => child))
    return called.size < 2 ? [] : [`child-retry-1: ${id} called ${same[0]?.step} with ${called.size} runs`]
  })
}

/** child-retry-4: a person has retried it separately. */
export const goesOnAlone = ({ facts }: LookedRun): boolean =>
  facts.some((fact) => fact.type === 'run.retried' && fact.call === undefined)

/** Longer than it takes to find a run whose worker died, and to notify it. */
const TOLD_WITHIN_MS = 20_000

const WORK: ReadonlySet<RunFact['type']> = new Set([
  'step.intended',
  'step.completed',
  'timer.set',
  'timer.fired',
  'child.started',
  'run.completed',
])

/** parent-end-1: between two lives of a parent its children do nothing. */
const outlived = (parent: LookedRun, child: LookedRun): readonly string[] => {
  const gaps = parent.facts.flatMap((fact, seq) => {
    if (endOf(fact) === null) return []
    const next = parent.facts.slice(seq).find(({ type }) => type === 'run.retried')
    return [{ from: fact.at + TOLD_WITHIN_MS, to: next?.at ?? Number.POSITIVE_INFINITY }]
  })
  const late = child.facts.find(({ type, at }) => WORK.has(type) && gaps.some(({ from, to }) => at > from && at < to))
  return late === undefined
    ? []
    : [`parent-end-1: ${child.id} does ${late.type} long after the end of its parent ${parent.id}`]
}
