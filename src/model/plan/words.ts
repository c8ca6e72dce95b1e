/**
 * Recognises a plan in the content of a task: the page and the command line draw it as a plan, and all other content as it is.
 *
 * Content of tasks may come from a model, so only content with every part of a plan is drawn as one. Pure, and imports nothing: the page loads
 * it.
 */

const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const orNull = (is: (value: unknown) => boolean) => (value: unknown) => value === null || is(value)

const isInput = (value: unknown): boolean =>
  isRecord(value) && isText(value['path']) && value['value'] !== undefined && isTexts(value['from'])

const PARTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...{ id: isText, name: isText, named_by: isText, requires: isTexts, by: isText, hand: orNull(isText) },
  ...{ operation: isText, inputs: (value) => Array.isArray(value) && value.every(isInput), input_from: orNull(isText) },
  ...{ effect: orNull(isText), may: orNull(isTexts), rules: isTexts },
  cost_limit_usd: orNull((value) => typeof value === 'number'),
}

const isStep = (value: unknown): boolean =>
  isRecord(value) && Object.entries(PARTS).every(([name, is]) => is(value[name]))

/** Returns null if the content is not a plan. */
export const stepsInContent = (content: unknown): readonly object[] | null => {
  const steps = isRecord(content) ? content['steps'] : null
  return Array.isArray(steps) && steps.length > 0 && steps.every(isStep) ? steps : null
}

/** Renders a single input value of a step: text in quotes, so that it cannot look like a number or hide where it ends. */
export const inputText = (value: unknown): string => {
  if (isText(value)) return `"${value}"`
  const [only, ...more] = isRecord(value) ? Object.entries(value) : []
  return more.length === 0 && only?.[0] === 'expr' && isText(only[1]) ? only[1] : JSON.stringify(value)
}
