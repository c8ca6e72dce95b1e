/**
 * What a manifest requires of a run before it begins, whatever its modality: a state, a document; and checks that are refused because they would
 * have no effect.
 */
import { expect, test } from 'vitest'
import { agentPlace, beginAgents, ended } from '#test/support/agents/agent-system.ts'
import { paidModel, said } from '#test/support/agents/agents.ts'
import { errorsOf, systemOf } from '#test/support/manifest/manifest-system.ts'
import { memoryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const HEAD = `product: {name: shop}
events: [{name: order.placed, source: external, payload: {order_id: string!}}]
`
const MACHINE = `state_machine:
  entity: order
  key: order_id
  initial: new
  enforce: strict
  states: [{name: new, transitions_to: [judged]}, {name: judged, terminal: true}]
`
const place = agentPlace()

test('state_in and state_out of an agent guard its start and move the entity, as those of a function do (15.1.3)', async () => {
  const text = `${HEAD}${MACHINE}agents:
  - {name: judge, instructions: Judge., trigger: order.placed, contract: {state_in: new, state_out: judged}}
`
  const model = paidModel(() => said('fine'))
  const system = await beginAgents(systemOf(text), memoryStore(), place, model)
  const send = async () => {
    const { runs } = await system.send({ type: 'order.placed', data: { order_id: 'o1' } })
    const [run] = runs
    if (run === undefined) throw new Error('the event starts the agent')
    return ended(system, run)
  }
  expect(await send()).toMatchObject({ status: 'success', output: 'fine' })
  expect(await send()).toMatchObject({ status: 'failed', error: { code: 'STATE_TRANSITION_INVALID' } })
  expect(model.calls).toHaveLength(1)
  await system.close()
})

test('validate_input.exists refuses a run whose document does not exist, and lets it begin once it does (15.1.3)', async () => {
  const text = `${HEAD}functions:
  - {name: put, persist: [{insert: orders, values: {id: '{{ payload.order_id }}'}}]}
  - {name: ship, trigger: order.placed, validate_input: {exists: 'orders.id = {{ payload.order_id }}'}}
`
  let shipped = 0
  const code = new Map<string, unknown>([
    ['put', () => null],
    [
      'ship',
      () => {
        shipped += 1
      },
    ],
  ])
  const system = await startTestSystem(systemOf(text, code), memoryStore())
  const early = await system.start('ship', { order_id: 'o1' })
  await system.settle()
  expect(await system.look(early)).toMatchObject({ status: 'failed', error: { code: 'INPUT_INVALID' } })
  await system.start('put', { order_id: 'o1' })
  await system.settle()
  const late = await system.start('ship', { order_id: 'o1' })
  await system.settle()
  expect([(await system.look(late)).status, shipped]).toEqual(['success', 1])
  await system.close()
})

test.each([
  ['functions: [{name: f, validate_input: {files: [a.md]}}]', 'validate_input.files of f would have no effect'],
  [
    'functions: [{name: f, validate_input: {state: new}}]',
    'validate_input.state of f would have no effect: the state of an entity is checked by state_in',
  ],
  ['functions: [{name: f, validate_input: {payload: [id], on_invalid: skip}}]', 'on_invalid of f'],
  [
    "functions: [{name: f, validate_input: {exists: 'the order is there'}}]",
    'write <table>.id = {{ payload.<field> }}',
  ],
  [
    'plans: [{name: p, approve: auto, budget: {max_cost_usd: 1}, steps: [{id: a, type: wait, wait_config: {duration: 1h}}]}]',
    'budget of p would have no effect',
  ],
  [
    'functions: [{name: f, trigger: order.placed, idempotency: {key: payload.order_id, scope: session}}]',
    'session has no effect',
  ],
  [
    'functions: [{name: f, trigger: order.placed, idempotency: {key: payload.order_id, scope: global}}]',
    'global has no effect',
  ],
])('%s is refused with its place (15.1.3)', (lines, said) => {
  expect(errorsOf(`${HEAD}${lines}\n`)).toEqual([expect.stringMatching(/^\S+ 3:\d+ /)])
  expect(errorsOf(`${HEAD}${lines}\n`)[0]).toContain(said)
})
