/** Recognising plans in the content of tasks. */
import { expect, test } from 'vitest'
import type { ShownStep } from './shown.ts'
import { stepMembers } from './shown.ts'
import { inputText, stepsInContent } from './words.ts'

const SHOWN: ShownStep = {
  ...{ id: 'a', name: 'Say hello', namedBy: 'model', requires: [], by: 'transfer', hand: 'workflow' },
  ...{ operation: 'calls the function transfer', inputs: [{ path: 'to', value: null, from: ['x'] }], inputFrom: null },
  ...{ effect: 'once', may: null, maxCost: 5, rules: [] },
}
const step = stepMembers(SHOWN)

test('[N3] content in the exact form of a plan is recognised, and nothing else is drawn as one (13.1.3)', () => {
  expect(stepsInContent({ steps: [step, step], hash: 'h' })).toHaveLength(2)
  for (const name of Object.keys(step)) {
    const { [name as 'id']: _, ...rest } = step
    for (const wrong of [rest, { ...step, [name]: { of: 'another kind' } }, { ...step, [name]: undefined }])
      expect(stepsInContent({ steps: [step, wrong] })).toBeNull()
  }
  for (const content of [null, 'steps', [step], { steps: [] }, { steps: step }, { steps: [null] }, {}])
    expect(stepsInContent(content)).toBeNull()
})

test.each([
  ['mallory', '"mallory"'],
  ['1', '"1"'],
  [1, '1'],
  [null, 'null'],
  [{}, '{}'],
  [{ expr: 'steps.a.output' }, 'steps.a.output'],
  [{ expr: 'a', more: 1 }, '{"expr":"a","more":1}'],
])('[N3] the input %j is shown as %s (13.1.3)', (value, text) => {
  expect(inputText(value)).toBe(text)
})
