/** Children across the lives of their parents: one run per call, however often the parent was retried. */
import type { Evidence } from './evidence.ts'
import { groups } from './lives.ts'

/** child-retry-1. */
export const checkFamilies = ({ look }: Evidence): readonly string[] =>
  look.runs().flatMap(({ id, facts }) => {
    const calls = facts.flatMap((fact) =>
      fact.type === 'child.started' && fact.child.startsWith('run_') ? [fact] : [],
    )
    return groups(calls, ({ step, handler }) => `${step} of ${handler}`).flatMap((same) => {
      const children = new Set(same.map(({ child }) => child))
      return children.size < 2 ? [] : [`child-retry-1: ${id} called ${same[0]?.step} with ${children.size} runs`]
    })
  })
