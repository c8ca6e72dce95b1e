/**
 * The steps of a plan at a terminal: everything that the people who approve it must see, a line for each part.
 *
 * Owns the printing. What is shown of a step was computed once (model/plan-shown.ts); nothing is left out here.
 */
import type { PlanStep } from '../http/api.ts'
import type { Json } from '../model/json.ts'
import { type Output, visible } from './output.ts'

const row = (label: string, text: string): string => `    ${visible(label).padEnd(11)} ${visible(text)}`

const costText = ({ cost_limit_usd: limit }: PlanStep): string =>
  limit === null ? 'no limit is set' : `at most $${limit}`

const linesOf = (step: PlanStep): readonly string[] => [
  visible(`${step.id}  ${step.name}${step.named_by === 'model' ? '  (name chosen by a model)' : ''}`),
  row('does', step.operation),
  ...step.inputs.map(({ path, value, from }) =>
    row(path, `${JSON.stringify(value)}${from.length === 0 ? '' : `  from ${from.join(', ')}`}`),
  ),
  ...(step.input_from === null ? [] : [row('input', step.input_from)]),
  ...(step.effect === null ? [] : [row('effect', step.effect), row('cost', costText(step))]),
  ...(step.may === null ? [] : [row('may use', step.may.length === 0 ? 'nothing' : step.may.join(', '))]),
  ...step.rules.map((rule) => row('rule', rule)),
  ...(step.requires.length === 0 ? [] : [row('after', step.requires.join(', '))]),
]

export const printSteps = (output: Output, steps: readonly PlanStep[]): void => {
  for (const line of steps.flatMap(linesOf)) output.line(line)
}

/** The steps in a section of a task; null: it shows no plan. */
export const stepsIn = (content: Json): readonly PlanStep[] | null => {
  const steps = typeof content === 'object' && content !== null && 'steps' in content ? content['steps'] : null
  const isPlan =
    Array.isArray(steps) &&
    steps.every((step: Json) => typeof step === 'object' && step !== null && 'operation' in step)
  return isPlan ? (steps as unknown as readonly PlanStep[]) : null
}
