/** What a step of a manifest's plan asks of its handler: time, tries, effect class, a model, an answer of a given shape. */
import { expect, test } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import { partial } from '#model/run/partial.ts'
import { agentPlace, beginAgents, ended } from '#test/support/agents/agent-system.ts'
import { paidModel, said } from '#test/support/agents/agents.ts'
import { errorsOf, systemOf } from '#test/support/manifest/manifest-system.ts'
import { Inbox, person } from '#test/support/serving/inbox.ts'
import { memoryStore, onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const operator = person('otto', 'operators')

/** One step given by the test, in a plan with another step after it. */
const text = (step: string, more = ''): string => `
product: {name: shop}
events: [{name: paper.came, source: external}]
functions:
  - {name: work, retry: {max_attempts: 1}}
  - {name: after, retry: {max_attempts: 1}}
  - {name: pay, effect: once}
agents: [{name: writer, instructions: Write., config: {model: haiku, allowed_models: [haiku, opus]}}]
humans: [{name: sign, assign: 'user:ana'}]
${more}
plans:
  - name: plan
    approve: auto
    steps:
      - {id: one, ${step}}
      - {id: two, workflow_config: {function_name: after}, requires: [one]}
`

type Code = (context: { readonly input: Json; readonly run: { readonly attempt: number } }) => unknown

const play = async (step: string, work: Code, store: Parameters<typeof startTestSystem>[1]) => {
  const code = new Map<string, unknown>([
    ['work', work],
    ['after', () => null],
  ])
  const system = await startTestSystem(systemOf(text(step), code), store)
  return { system, run: await system.start('plan', { given: 1 }) }
}

const endOf = async (system: TestSystem, run: Parameters<TestSystem['look']>[0]) => {
  const { status, error, output } = await system.look(run)
  await system.close()
  return { status, code: error?.code ?? null, output }
}

const CALL = 'workflow_config: {function_name: work}'

onEveryStore('terms of a step', (store) => {
  test('retry counts the tries of a step across crashes between them, with growing pauses (15.1.3)', async () => {
    const tried: number[] = []
    const work: Code = () => {
      tried.push(tried.length)
      throw new Error('no luck')
    }
    const { system, run } = await play(`${CALL}, retry: {max_attempts: 3, base_ms: 60000, factor: 2}`, work, store())
    await system.settle()
    expect(tried).toHaveLength(1)
    await system.crash()
    await system.advance('59s')
    expect(tried).toHaveLength(1)
    await system.advance('1s')
    expect(tried).toHaveLength(2)
    await system.crash()
    await system.advance('119s')
    expect(tried).toHaveLength(2)
    await system.advance('1s')
    await system.advance('1d')
    expect(tried).toHaveLength(3)
    expect(await endOf(system, run)).toMatchObject({ status: 'failed', code: 'FUNCTION_FAILED' })
  })

  test('a timeout ends what a step calls, also across a crash, and counts as a failure of the step (15.1.3)', async () => {
    const more = `on_failure: skip, timeout: 10m`
    const slow = systemOf(
      text(`assigned_to: slow, ${more}`, '').replace('  - {name: pay', '  - {name: slow}\n  - {name: pay'),
      new Map<string, unknown>([
        [
          'slow',
          ({ step }: { step: { sleep(name: string, time: string): Promise<void> } }) => step.sleep('long', '1d'),
        ],
        ['after', () => null],
      ]),
    )
    const system = await startTestSystem(slow, store())
    const run = await system.start('plan', {})
    await system.settle()
    await system.crash()
    await system.advance('599s')
    expect((await system.look(run)).status).toBe('waiting')
    await system.advance('1s')
    expect(await endOf(system, run)).toMatchObject({
      status: 'success',
      output: { steps: { one: { status: 'skipped', reason: expect.stringContaining('timeout of 600 s') }, two: {} } },
    })
  })

  test('effect makes a call of the step happen at most once: after a crash in the middle people are asked (15.1.3)', async () => {
    let calls = 0
    const work: Code = () => {
      calls += 1
      return new Promise(() => {})
    }
    const { system, run } = await play(`${CALL}, effect: once`, work, store())
    // The code never returns: nothing settles, and the process ends in the middle of it.
    await system.run(() => Promise.resolve())
    await system.settle()
    await system.crash()
    await system.settle()
    expect(calls).toBe(1)
    const [child] = (await system.look(run)).status === 'waiting' ? await new Inbox(system).of(operator) : []
    expect(child).toMatchObject({ title: 'Did it happen? main of work' })
    await system.close()
  })
})

test.each([
  ['accept', { status: 'success', code: null, output: { steps: { one: { output: { n: 1 } } } } }, 1],
  ['fail', { status: 'failed', code: 'STEP_PARTIAL' }, 1],
  ['continue', { status: 'success', code: null, output: { steps: { one: { output: { n: 3 } } } } }, 3],
] as const)('on_partial: %s decides how an incomplete answer counts (15.1.3)', async (word, end, calls) => {
  const inputs: Json[] = []
  const work: Code = ({ input }) => {
    inputs.push(input)
    return inputs.length < 3 ? partial({ n: inputs.length }) : { n: inputs.length }
  }
  const { system, run } = await play(`${CALL}, on_partial: ${word}`, work, memoryStore())
  await system.settle()
  expect(await endOf(system, run)).toMatchObject(end)
  expect(inputs).toHaveLength(calls)
  if (calls === 3) expect(inputs[2]).toEqual({ given: 1, partial: { n: 2 } })
})

test('an answer that does not fit the output_schema of a step fails it, and is tried again (15.1.3)', async () => {
  const schema = 'output_schema: {type: object, required: [sum], properties: {sum: {type: number}}}'
  let calls = 0
  const work: Code = () => ({ sum: ++calls < 2 ? 'much' : calls })
  const once = await play(`${CALL}, ${schema}`, work, memoryStore())
  await once.system.settle()
  expect(await endOf(once.system, once.run)).toMatchObject({ status: 'failed', code: 'OUTPUT_INVALID' })
  calls = 0
  const twice = await play(`${CALL}, ${schema}, retry: {max_attempts: 2}`, work, memoryStore())
  await twice.system.advance('1m')
  expect(await endOf(twice.system, twice.run)).toMatchObject({
    status: 'success',
    output: { steps: { one: { output: { sum: 2 } } } },
  })
})

const place = agentPlace()

test('agent_config gives the agent of a step a model, instructions, an answer of a given shape and a context (15.1.3)', async () => {
  const config = `{agent_id: writer, model: opus, prompt: 'Sum up.', context: {note: '{{ given }}'}, output_schema: {type: object, required: [n], properties: {n: {type: number}}}}`
  const model = paidModel(() => said('{"n": 7}', { modelUsed: 'opus' }))
  const source = systemOf(text(`agent_config: ${config}`), new Map([['after', () => null]]))
  const system = await beginAgents(source, memoryStore(), place, model)
  const run = await system.start('plan', { given: 1 })
  const end = await ended(system, run)
  expect(end.error).toBeNull()
  expect(end).toMatchObject({ status: 'success', output: { steps: { one: { output: { n: 7 } } } } })
  const [call] = model.calls
  expect(JSON.stringify(call)).toContain('Sum up.')
  expect(JSON.stringify(call)).not.toContain('Write.')
  expect(JSON.stringify(call)).toContain('opus')
  expect(JSON.stringify(call)).toMatch(/context[^}]*note[^}]*1/)
  await system.close()
})

test('a question of a step ends at its timeout, and shows its approval and checklist (15.1.3)', async () => {
  const step = `type: review, timeout: 2h, inputs: {sum: '{{ given }}'}, review_config: {checklist: [Read it]}, approval_config: {least: 2}`
  const { system, run } = await play(step, () => null, memoryStore())
  await system.settle()
  const inbox = new Inbox(system)
  const shown = JSON.stringify(await inbox.row(await inbox.only()))
  await system.advance('2h')
  expect(await endOf(system, run)).toMatchObject({
    status: 'partial',
    output: { steps: { one: { status: 'rejected' }, two: { status: 'skipped' } } },
  })
  for (const part of ['review']) expect(shown).toContain(part)
})

test.each([
  [`assigned_to: pay, effect: idempotent`, 'pay is once; a step cannot make it idempotent'],
  [`agent_config: {agent_id: writer}, effect: once`, 'only a step that calls a function can have an effect'],
  [`${CALL}, agent_config: {model: opus}`, 'the step calls no agent'],
  [`type: wait, wait_config: {duration: 1h}, timeout: 2h`, 'a wait for a duration has no timeout'],
  [`type: wait, wait_config: {until_event: paper.came, timeout: 1h}, timeout: 2h`, 'keep one of the two'],
  [`type: wait, wait_config: {duration: 1h}, retry: 2`, 'a wait is not retried'],
  [`type: approval, human_config: {deadline: 1h}, timeout: 2h`, 'human_config already has a deadline'],
  [`type: approval, on_partial: fail`, 'only a called handler can end partial'],
  [`assigned_to: sign, human_config: {title: Sign}`, 'sign already defines what people are asked'],
  [`${CALL}, review_config: {checklist: [x]}`, 'the step does not ask people directly'],
  [`type: approval, escalation_rules: [{condition: 'output.n > 1'}]`, 'the answer of a person is final'],
  [`agent_config: {agent_id: writer, model: sonnet}`, 'writer may use haiku, opus, but not sonnet'],
  [`${CALL}, assigned_to: after`, 'the step calls after, not work'],
  [`${CALL}, timeout: 0s`, 'the timeout must be above 0'],
  [`${CALL}, output_schema: {type: objekt}`, 'it is not a JSON Schema'],
])('%s is refused with its place (15.1.3)', (step, said) => {
  expect(errorsOf(text(step))).toContainEqual(expect.stringMatching(new RegExp(`^\\S+ 1[3-9]:\\d+ .*${said}`)))
})
