/** `each` of a plan, and what its rules may name: every item is done, and a step that a rule refers to comes first. */
import { expect, test } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import { findingsOf, systemOf } from '#test/support/manifest/manifest-system.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const TEXT = `
product: {name: shop}
events: [{name: order.placed, source: external, payload: {id: string!, make: string, orders: array}}]
functions: [{name: make}, {name: pack}, {name: late}]
plans:
  - name: ship
    approve: auto
    trigger: order.placed
    steps:
      - {id: pack, workflow_config: {function_name: pack}, each: make.lines, as: line, when: make.ok, inputs: {of: "{{ line.of }}"}}
      - {id: make, workflow_config: {function_name: make}}
  - name: guarded
    approve: auto
    steps:
      - {id: late, workflow_config: {function_name: late}, when: "!make.ok && 'pack' != 'x'"}
      - {id: make, workflow_config: {function_name: make}}
`

/** Two items with one id, one whose id is another's index, one whose key would be the number of a duplicate, and ids that are not keys. */
const LINES = [
  { id: 'a', of: 1 },
  { id: 'a', of: 2 },
  { id: 3, of: 3 },
  { of: 4 },
  { id: 'a (2)', of: 5 },
  { id: 'a', of: 6 },
  { id: '', of: 7 },
  { id: '#1', of: 8 },
]

onEveryStore('lists of a plan', (store) => {
  test('items with equal ids are each done once, also across a crash (15.1.5)', async () => {
    const done: Json[] = []
    const code = new Map<string, unknown>([
      ['make', () => ({ ok: true, lines: LINES })],
      ['pack', ({ input }: { readonly input: { readonly of: number } }) => void done.push(input.of)],
      ['late', () => null],
    ])
    const system = await startTestSystem(systemOf(TEXT, code), store())
    const run = await system.start('ship', { id: 'o1', make: 'no step', orders: [] })
    await system.settle()
    await system.crash()
    await system.settle()
    expect(done.toSorted()).toEqual(LINES.map(({ of }) => of))
    expect(await system.look(run)).toMatchObject({
      status: 'success',
      output: { steps: { pack: { status: 'success' } } },
    })
    await system.close()
  })

  test('a bare name of a step in when or each is waited for, whatever field of that name the payload has (15.1.5)', async () => {
    const order: string[] = []
    const noting = (name: string, answer: Json) => () => {
      order.push(name)
      return answer
    }
    const code = new Map<string, unknown>([
      ['make', noting('make', { ok: true, lines: [{ of: 1 }] })],
      ['pack', noting('pack', null)],
      ['late', noting('late', null)],
    ])
    const system = await startTestSystem(systemOf(TEXT, code), store())
    const shipped = await system.start('ship', { id: 'o1', make: 'no step', orders: [] })
    await system.settle()
    expect(order).toEqual(['make', 'pack'])
    expect(await system.look(shipped)).toMatchObject({ status: 'success' })
    const other = await system.start('guarded', {})
    await system.settle()
    expect(await system.look(other)).toMatchObject({
      status: 'success',
      output: { steps: { late: { status: 'skipped' }, make: { status: 'success' } } },
    })
    await system.close()
  })
})

test('a cycle of bare names is refused with its place (15.1.5)', () => {
  const circle = TEXT.replace('{id: make, ', '{id: make, when: pack != null, ')
  expect(findingsOf(circle)).toContainEqual(
    expect.stringMatching(/^error PLAN_CYCLE 10:9 pack → make → pack is a cycle/),
  )
})
