/** A plan is entered again after each step: the cost of that grows only with the number of its steps. */
import { expect, test } from 'vitest'
import type { InputWhenBegun, Step } from '#executors/workflow/step-api.ts'
import { definePlan } from '#manifest/plan/plans.ts'
import type { Json } from '#model/kernel/json.ts'
import type { PlanSource } from '#model/plan/source.ts'
import { planned } from './plan.ts'

const LENGTH = 50

/** Each step reads the output of the step before it. */
const CHAIN: PlanSource = {
  approve: 'auto',
  steps: Array.from({ length: LENGTH }, (_, i) => ({
    id: `s${i}`,
    assignedTo: 'add',
    inputs: i === 0 ? { n: 0 } : { n: { expr: `steps.s${i - 1}.output` }, same: `{{ s${i - 1} }}` },
  })),
}

/** A gate on which the first `settled` steps have ended; it answers the others with the input's n plus one. */
const entered = (settled: number) => {
  const made: Json[] = []
  const invoke = async (name: string, _handler: string, _input: unknown, { makeInput }: InputWhenBegun = {}) => {
    const place = Number(name.slice(1))
    if (place < settled) return place + 1
    const input = makeInput?.() as { readonly n: number }
    made.push(input)
    return input.n + 1
  }
  const plan = definePlan('plan', CHAIN, new Map([['add', 'workflow']]))
  const step = { invoke } as unknown as Pick<Step, 'run' | 'invoke' | 'human' | 'sleep' | 'waitForEvent'>
  return { made, output: planned(plan, {})({ input: {}, step }) }
}

test('plan-1: a step of a chain reads the output of the step before it', async () => {
  const { made, output } = entered(0)
  expect(await output).toMatchObject({ steps: { s0: { status: 'success', output: 1 }, s49: { output: LENGTH } } })
  expect(made.at(-1)).toEqual({ n: LENGTH - 1, same: LENGTH - 1 })
})

test('[N2] entering a plan again builds the input of only the steps that begin (13.2.4)', async () => {
  const { made, output } = entered(LENGTH - 1)
  expect(await output).toMatchObject({ steps: { s49: { output: LENGTH } } })
  expect(made).toEqual([{ n: LENGTH - 1, same: LENGTH - 1 }])
})

/** Like the engine's gate: steps that have ended are answered at once, and never called. */
const replayed = async (source: PlanSource, outputs: Readonly<Record<string, Json>>) => {
  const called: Json[] = []
  const step = {
    ended: (name: string) => (name in outputs ? { value: outputs[name] ?? null } : null),
    invoke: async (name: string, _handler: string, _input: unknown, { makeInput }: InputWhenBegun = {}) => {
      called.push({ [name]: makeInput?.() ?? null })
      return 0
    },
  } as unknown as Pick<Step, 'run' | 'invoke' | 'human' | 'sleep' | 'waitForEvent'>
  const plan = definePlan('plan', source, new Map([['add', 'workflow']]))
  const output = await planned(plan, {})({ input: { budget: 7 }, step })
  return { called, output }
}

test('[N2] ended steps of a plan are skipped without a call, even 499 in a row (13.2.4)', async () => {
  const length = 500
  const steps = Array.from({ length }, (_, i) => ({
    ...{ id: `s${i}`, assignedTo: 'add' },
    inputs: { n: i === 0 ? 0 : { expr: `steps.s${i - 1}.output` } },
  }))
  const outputs = Object.fromEntries(steps.slice(0, -1).map(({ id }, i) => [id, i + 1]))
  const { called, output } = await replayed({ approve: 'auto', steps }, outputs)
  expect(called).toEqual([{ [`s${length - 1}`]: { n: length - 1 } }])
  expect(output).toMatchObject({ steps: { s0: { status: 'success', output: 1 }, s498: { output: 499 } } })
})

test('[N2] a step is given the steps that it reads, or all of them if it refers to all (13.2.4)', async () => {
  const steps = [
    { id: 'a', assignedTo: 'add' },
    { id: 'budget', assignedTo: 'add' },
    { id: 'one', assignedTo: 'add', requires: ['a'], inputs: { a: '{{ a }}', b: { expr: 'steps.budget.output' } } },
    { id: 'all', assignedTo: 'add', requires: ['a', 'budget'], inputs: { n: { expr: 'size(steps)' } } },
    { id: 'late', assignedTo: 'add', requires: ['one', 'all'], inputs: { steps: { expr: 'steps["a"].output' } } },
  ]
  const { called } = await replayed({ approve: 'auto', steps }, { a: 3, budget: 4 })
  expect(called).toEqual([{ one: { a: 3, b: 4 } }, { all: { n: 2 } }, { late: { steps: 3 } }])
})
