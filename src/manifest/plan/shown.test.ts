/** What people are shown of a plan before they approve it, and what its hash covers. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import type { HandlerFacts } from '#model/plan/shown.ts'
import type { PlanStepSource } from '#model/plan/source.ts'
import { readSteps } from './reading.ts'

const facts = (more: Partial<HandlerFacts> = {}): HandlerFacts => ({
  ...{ modality: 'workflow', effect: 'idempotent', maxCost: null, may: null },
  ...more,
})
const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')
const HANDLERS = new Map<string, HandlerFacts>([
  ['transfer', facts({ effect: 'once' })],
  ['helper', facts({ modality: 'agent', maxCost: 500_000, may: ['Read'] })],
])

const read = (steps: readonly PlanStepSource[], more: object = {}, goal = '') =>
  readSteps(goal, { steps, problems: [] }, { handlers: HANDLERS, digest, namedBy: () => 'model', ...more })
const only = (step: Omit<PlanStepSource, 'id'>, others: readonly PlanStepSource[] = []) => {
  const { lines, problems } = read([...others, { id: 'z', ...step }])
  expect(problems).toEqual([])
  const line = lines.at(-1)
  if (line === undefined) throw new Error('there is a step')
  return line
}

const A: PlanStepSource = { id: 'a', assignedTo: 'transfer', inputs: { amount: 1 } }

describe('a step that calls a handler', () => {
  test('[N3] shows operation, every literal with its path, effect, limit and who chose its name (13.1.3)', () => {
    const inputs = { amount: 1_000_000, to: { name: 'mallory', 'a.b': [true, null, {}] } }
    expect(only({ name: 'Say hello', assignedTo: 'transfer', inputs })).toMatchObject({
      ...{ name: 'Say hello', namedBy: 'model', by: 'transfer', hand: 'workflow', effect: 'once' },
      operation: 'calls the function transfer',
      inputs: [
        { path: 'amount', value: 1_000_000, from: [] },
        { path: 'to.name', value: 'mallory', from: [] },
        { path: 'to."a.b"[0]', value: true, from: [] },
        { path: 'to."a.b"[1]', value: null, from: [] },
        { path: 'to."a.b"[2]', value: {}, from: [] },
      ],
    })
    expect(only({ assignedTo: 'helper', inputs: {} })).toMatchObject({ maxCost: 500_000, may: ['Read'], inputs: [] })
  })

  test.each<[unknown, readonly string[]]>([
    ['{{ steps.a.output.sum }}', ['the output of step a']],
    ['{{ a.sum }} of {{ payload.note }}', ['the output of step a', 'the input of the plan']],
    [{ expr: 'steps["a"].output.sum + note' }, ['the output of step a', 'the input of the plan']],
    ['steps.a.output.sum', []],
    ['{{ "steps" }}', ['an expression']],
    [{ expr: 'a.sum', more: 1 }, []],
  ])('[N3] %j is shown as coming from %j (13.1.3)', (value, from) => {
    const { inputs } = only({ assignedTo: 'transfer', inputs: { value } }, [A])
    expect(inputs[0]?.from).toEqual(from)
  })

  test('[N3] an item of a list hides a step of the same name, but only where there is a list (13.1.3)', () => {
    const inputs = { value: '{{ a.sum }}' }
    expect(only({ assignedTo: 'transfer', each: 'payload.list', as: 'a', inputs }, [A]).inputs[0]?.from).toEqual([
      'each item of the list',
    ])
    expect(only({ assignedTo: 'transfer', as: 'a', inputs }, [A]).inputs[0]?.from).toEqual(['the output of step a'])
    expect(only({ assignedTo: 'transfer', inputs: { value: '{{ item }}' } }).inputs[0]?.from).toEqual([
      'the input of the plan',
    ])
  })

  test('[N3] shows where its input comes from if none was written (13.1.3)', () => {
    expect(only({ assignedTo: 'transfer', requires: ['a'], each: 'payload.list' }, [A])).toMatchObject({
      inputs: [],
      inputFrom: 'everything that the plan is given, the output of step a, each item of the list',
    })
  })
})

/** A value for every key that has an effect, as an author would write it, and the texts that must be shown for it. */
const KEYS: readonly (readonly [Omit<PlanStepSource, 'id'>, readonly string[]])[] = [
  [{ assignedTo: 'transfer', when: 'payload.n > 77' }, ['only if payload.n > 77']],
  [{ assignedTo: 'transfer', each: 'payload.list', as: 'guest' }, ['once for each guest of payload.list']],
  [{ assignedTo: 'transfer', trigger: 'delay:77s' }, ['first waits 77s']],
  [{ assignedTo: 'transfer', trigger: 'event:paper.came' }, ['first waits for the event paper.came']],
  [{ assignedTo: 'transfer', trigger: 'manual' }, ['a person begins it']],
  [{ assignedTo: 'transfer', trigger: 'after:a' }, ['"requires":["a"]']],
  [{ assignedTo: 'transfer', onFailure: 'skip' }, ['if it fails: skips the step']],
  [{ assignedTo: 'transfer', onFailure: 'replan' }, ['if it fails: asks a person']],
  [{ assignedTo: 'transfer', onReject: 'continue' }, ['runs also after a "no"'.replaceAll('"', '\\"')]],
  [{ workflowConfig: { functionName: 'transfer', inputs: { to: 'mallory' } } }, ['mallory', 'function transfer']],
  [{ agentConfig: { agentId: 'helper' } }, ['calls the agent helper']],
  [
    {
      assignedTo: 'helper',
      escalationRules: [{ condition: 'output.sum > 77', escalateTo: 'transfer', reason: 'much' }],
    },
    ['if output.sum > 77: calls transfer, which takes over (much)'],
  ],
  [{ type: 'wait', waitConfig: { duration: '77d' } }, ['waits 77d']],
  [
    { type: 'wait', waitConfig: { untilEvent: 'paper.came', timeout: '77d', timeoutAction: 'fail' } },
    ['paper.came', 'at most 77d', 'then fails'],
  ],
  [
    {
      type: 'decision',
      humanConfig: { title: 'Pay mallory?', assign: 'user:eve', allowedActions: ['approve'], instructions: 'Say yes' },
    },
    ['asks people (decision)', 'Pay mallory?', 'user:eve', 'approve', 'Say yes'],
  ],
]

test.each(KEYS)('[N3] plan-shown-1: %j is rendered (13.1.3)', (step, words) => {
  const shown = JSON.stringify(only(step, [A]))
  for (const word of words) expect(shown).toContain(word)
})

test('[N3] plan-shown-1: every leaf of any input is rendered as it was written (13.1.3)', () => {
  const leaves = (value: Json): readonly Json[] =>
    value === null || typeof value !== 'object' || Object.keys(value).length === 0
      ? [value]
      : Object.values(value).flatMap(leaves)
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 }), (given) => {
      const inputs = JSON.parse(JSON.stringify(given).replaceAll('{{', '((')) as Record<string, Json>
      const { inputs: shown } = only({ assignedTo: 'transfer', inputs })
      expect(shown.map(({ value }) => value)).toEqual(leaves(inputs))
      expect(new Set(shown.map(({ path }) => path)).size).toBe(shown.length)
    }),
  )
})

describe('the hash', () => {
  const { hash } = read([A])
  test.each<[string, string]>([
    ['an input', read([{ ...A, inputs: { amount: 2 } }]).hash],
    ['a name', read([{ ...A, name: 'Say hello' }]).hash],
    ['the goal', read([A], {}, 'Greet').hash],
    ['who chose the name', read([A], { namedBy: () => 'person' }).hash],
    ['the effect of a handler', read([A], { handlers: new Map([['transfer', facts()]]) }).hash],
    ['the cost limit', read([A], { handlers: new Map([['transfer', facts({ effect: 'once', maxCost: 1 })]]) }).hash],
    [
      'what a handler may use',
      read([A], { handlers: new Map([['transfer', facts({ effect: 'once', may: [] })]]) }).hash,
    ],
    ['what the plan works on', read([A], { worksOn: {} }).hash],
  ])('[N3] covers %s (13.1.3)', (_, other) => {
    expect(other).not.toBe(hash)
  })

  test('[N3] is the same for the same plan, whatever else the system has (13.1.3)', () => {
    expect(read([A], { handlers: new Map([...HANDLERS, ['more', facts()]]) }).hash).toBe(hash)
  })
})

test('[N3] a step that hands over to a handler that does no step is reported, and cannot be approved (13.1.3)', () => {
  const escalationRules = [{ condition: 'true', escalateTo: 'trihand.plan.run' }]
  const { problems } = read([{ id: 'a', assignedTo: 'helper', escalationRules }])
  expect(problems).toMatchObject([{ code: 'PLAN_UNASSIGNED', step: 'a' }])
  const people = [{ condition: 'true', escalateTo: 'group:editors' }, { condition: 'true' }]
  expect(read([{ id: 'a', assignedTo: 'helper', escalationRules: people }]).problems).toEqual([])
})
