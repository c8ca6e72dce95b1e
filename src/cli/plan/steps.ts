/**
 * Prints the steps of a plan at a terminal: everything that the people who approve it must see, a line for each part.
 *
 * Owns the printing. The lines of a step are computed in model/plan/shown.ts; nothing is left out here. The author's texts are in quotes or
 * behind a label, so that no name and no input can look like another line.
 */
import { type Output, visible } from '#cli/terminal/output.ts'
import type { Plan, PlanStep } from '#http/openapi/api.ts'
import type { Json } from '#model/kernel/json.ts'
import { inputText, stepsInContent } from '#model/plan/words.ts'

const row = (label: string, text: string): string => `    ${label.padEnd(8)} ${visible(text)}`

const quoted = (words: string, by: string): string =>
  `${JSON.stringify(words)}${by === 'model' ? '  (words chosen by a model)' : ''}`

const costText = ({ cost_limit_usd: limit }: PlanStep): string =>
  limit === null ? 'no limit is set' : `at most $${limit}`

const linesOf = (step: PlanStep): readonly string[] => [
  visible(`${step.id}  ${quoted(step.name, step.named_by)}`),
  row('does', step.operation),
  ...step.inputs.map(({ path, value, from }) =>
    row(
      'input',
      `${path} = ${typeof value === 'string' ? JSON.stringify(value) : inputText(value)}${from.length === 0 ? '' : `  from ${from.join(', ')}`}`,
    ),
  ),
  ...(step.input_from === null ? [] : [row('input', `from ${step.input_from}`)]),
  ...(step.effect === null ? [] : [row('effect', step.effect), row('cost', costText(step))]),
  ...(step.may === null ? [] : [row('may use', step.may.length === 0 ? 'nothing' : step.may.join(', '))]),
  ...step.rules.map((rule) => row('rule', rule)),
  ...(step.requires.length === 0 ? [] : [row('after', step.requires.join(', '))]),
]

/** Prints goal and input above the steps, because they are approved together. */
export const printPlan = (
  output: Output,
  { goal, goal_by, input, steps }: Pick<Plan, 'goal' | 'goal_by' | 'input' | 'steps'>,
): void => {
  if (goal !== '') output.line(visible(`goal      ${quoted(goal, goal_by)}`))
  if (input !== null) output.line(visible(`input     ${JSON.stringify(input)}`))
  for (const line of steps.flatMap(linesOf)) output.line(line)
}

/** The plan in a section of a task; null: the section shows none. */
export const planIn = (content: Json): (Parameters<typeof printPlan>[1] & { readonly hash: string }) | null => {
  const steps = stepsInContent(content)
  if (steps === null) return null
  const { goal = '', goal_by = 'person', input = null, hash = '' } = content as { readonly [name: string]: Json }
  return {
    goal: String(goal),
    goal_by: goal_by === 'person' ? 'person' : 'model',
    input,
    hash: String(hash),
    steps: steps as readonly PlanStep[],
  }
}
