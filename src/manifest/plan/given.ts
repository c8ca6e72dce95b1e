/**
 * Brings the steps of a plan from the wire, in the manifest's spelling, to the author's form.
 *
 * Owns what is reported about keys and values that do not fit. Loaded by the first plan that is given this way: it imports the manifest's reader.
 */
import { check } from '#manifest/yaml/check/check.ts'
import { plan as planShape } from '#manifest/yaml/check/executor-sections.ts'
import { list, type Shape } from '#manifest/yaml/check/shape.ts'
import { authorForm } from '#manifest/yaml/normalise/author-form.ts'
import { normalPlan } from '#manifest/yaml/normalise/normal-executors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { PlanProblem } from '#model/plan/draft.ts'
import type { PlanStepSource } from '#model/plan/source.ts'
import type { WrittenPlan } from './reading.ts'

const STEPS: Shape = planShape.fields['steps'] ?? list({ is: 'any' })

const problem = (code: PlanProblem['code'], message: string, step: string | null): PlanProblem => ({
  ...{ code, line: null, step, message },
})

export const givenSteps = (given: Json): WrittenPlan => {
  const { steps = [] } = normalPlan({ steps: given })
  const { value, remarks } = check(STEPS, steps)
  const nameAt = (at: string | number | undefined): string | null => {
    if (typeof at !== 'number') return at ?? null
    const id = (steps as readonly ({ readonly id?: Json } | null)[])[at]?.id
    return typeof id === 'string' ? id : null
  }
  const problems = remarks.map(({ message, path }) => problem('INPUT_INVALID', message, nameAt(path[0])))
  if (!Array.isArray(value) || value.length === 0)
    return { steps: [], problems: [...problems, problem('PLAN_SYNTAX', 'the plan has no steps', null)] }
  return { problems, steps: problems.length > 0 ? [] : (authorForm(STEPS, value) as unknown as PlanStepSource[]) }
}
