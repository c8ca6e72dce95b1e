/** The definition of plans: who does a step, and what is refused. */
import { describe, expect, test } from 'vitest'
import type { TrihandError } from '#model/kernel/errors.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { PlanStepSource } from '#model/plan/source.ts'
import { definePlan } from './plans.ts'

const HANDS = new Map<string, Modality>([
  ['send-email', 'workflow'],
  ['drafter', 'agent'],
  ['sign', 'human'],
])

const define = (...steps: readonly PlanStepSource[]) => definePlan('plan', { steps }, HANDS).steps

describe('who does a step', () => {
  test.each<[string, Partial<PlanStepSource>, object]>([
    ['the function of its type', { type: 'send-email' }, { kind: 'call', handler: 'send-email', hand: 'workflow' }],
    ['who it is assigned to', { assignedTo: 'drafter' }, { kind: 'call', handler: 'drafter', hand: 'agent' }],
    ['a declared human', { assignedTo: 'sign' }, { kind: 'call', handler: 'sign', hand: 'human' }],
    [
      'its agent',
      { type: 'decision', assignedTo: 'agent', agentConfig: { agentId: 'drafter' } },
      { handler: 'drafter' },
    ],
    [
      'its agent, by the config alone',
      { type: 'decision', agentConfig: { agentId: 'drafter' } },
      { handler: 'drafter' },
    ],
    ['its function', { workflowConfig: { functionName: 'send-email' } }, { handler: 'send-email' }],
    ['people, by its type', { type: 'approval' }, { kind: 'ask' }],
    ['people, by another type', { type: 'input' }, { kind: 'ask' }],
    ['time', { type: 'wait', waitConfig: { duration: '1h' } }, { kind: 'wait', for: { duration: '1h' } }],
    ['nobody, without a word', {}, { kind: 'nobody' }],
    ['nobody, by a name that is not there', { type: 'dance' }, { kind: 'nobody' }],
  ])('%s', (_, step, work) => expect(define({ id: 'a', ...step })[0]?.work).toMatchObject(work))
})

test('a step requires the steps that it lists, reads and comes after', () => {
  const [, , , last] = define(
    { id: 'a', type: 'send-email' },
    { id: 'b', type: 'send-email' },
    { id: 'c', type: 'send-email' },
    { id: 'd', type: 'send-email', requires: ['a'], trigger: 'after:b', inputs: { text: 'As {{ c.body }} says' } },
  )
  expect(last).toMatchObject({ requires: ['a', 'b', 'c'], reads: ['c'] })
})

test.each(['package', '__proto__', 'constructor', 'int', 'if'])(
  'a step may be named %s, a keyword of the language',
  (id) => expect(define({ id, type: 'send-email', inputs: { text: '{{ payload.text }}' } })).toMatchObject([{ id }]),
)

describe('what is refused', () => {
  const codeOf = (work: () => unknown): string => {
    try {
      work()
    } catch (error) {
      return `${(error as TrihandError).code} ${(error as TrihandError).place?.path}`
    }
    return 'nothing'
  }
  test.each<[string, string, readonly PlanStepSource[]]>([
    [
      'a circle',
      'PLAN_CYCLE plan.steps.a',
      [
        { id: 'a', requires: ['b'] },
        { id: 'b', requires: ['a'] },
      ],
    ],
    ['a step that is not there', 'PLAN_BAD_REF plan.steps.a', [{ id: 'a', requires: ['z'] }]],
    ['an id twice', 'MANIFEST_INVALID plan', [{ id: 'a' }, { id: 'a' }]],
    ['a wait for nothing', 'MANIFEST_INVALID plan.steps.a.waitConfig', [{ id: 'a', type: 'wait' }]],
    ['a trigger of no kind', 'MANIFEST_INVALID plan.steps.a.trigger', [{ id: 'a', trigger: 'soon' }]],
    [
      'a word of the language as a value',
      'EXPR_REJECTED plan.steps.a',
      [{ id: 'a', inputs: { b: '{{ __proto__.x }}' } }],
    ],
    ['an expression that is none', 'EXPR_REJECTED plan.steps.a.when', [{ id: 'a', when: '1 +' }]],
  ])('%s', (_, code, steps) => expect(codeOf(() => define(...steps))).toBe(code))

  test('a line that is not a step', () =>
    expect(codeOf(() => definePlan('plan', { text: 'a. Go\nand so on' }, HANDS))).toBe('MANIFEST_INVALID plan.text'))
})
