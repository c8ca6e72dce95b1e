/** A plan is entered again after each step: what that costs grows with its steps alone. */
import { expect, test } from 'vitest'
import { definePlan } from '../../manifest/plans.ts'
import type { Json } from '../../model/json.ts'
import type { PlanSource } from '../../model/plan-source.ts'
import { planned } from './plan.ts'
import type { InputWhenBegun, Step } from './step-api.ts'

const LENGTH = 50

/** Each step reads what the one before it said. */
const CHAIN: PlanSource = {
  approve: 'auto',
  steps: Array.from({ length: LENGTH }, (_, i) => ({
    id: `s${i}`,
    assignedTo: 'add',
    inputs: i === 0 ? { n: 0 } : { n: { expr: `steps.s${i - 1}.output` }, same: `{{ s${i - 1} }}` },
  })),
}

/** A gate that has performed the first so many steps already, and answers the others with the input's n and one more. */
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

test('plan-1: a step of a chain reads what the step before it answered', async () => {
  const { made, output } = entered(0)
  expect(await output).toMatchObject({ steps: { s0: { status: 'success', output: 1 }, s49: { output: LENGTH } } })
  expect(made.at(-1)).toEqual({ n: LENGTH - 1, same: LENGTH - 1 })
})

test('[N2] entering a plan again makes the input of the steps that begin and of no other (13.2.4)', async () => {
  const { made, output } = entered(LENGTH - 1)
  expect(await output).toMatchObject({ steps: { s49: { output: LENGTH } } })
  expect(made).toEqual([{ n: LENGTH - 1, same: LENGTH - 1 }])
})
