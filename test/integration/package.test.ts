/** The package as users get it: packed, unpacked in an empty folder, without the tools of this repository. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installPacked, type Packed } from '../support/packed.ts'
import { PROJECT } from '../support/places.ts'

let packed: Packed

beforeAll(() => {
  packed = installPacked()
})

afterAll(() => packed.remove())

/** These are written for a test runner; whoever imports them brings it. */
const SUITES = 'trihand/testing/suites'

const exported = (): readonly string[] => {
  const { exports } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { exports: object }
  return Object.keys(exports).flatMap((name) => (name.endsWith('.json') ? [] : [name.replace('.', 'trihand')]))
}

test('every export of the packed package is imported where no tool for development is installed (15.5.1)', () => {
  const names = exported().filter((name) => name !== SUITES)
  expect(names).toContain('trihand/testing')
  packed.write(
    'import-all.js',
    `for (const name of ${JSON.stringify(names)}) console.log(name, Object.keys(await import(name)).length > 0)`,
  )
  expect(existsSync(join(packed.path, 'node_modules/vitest'))).toBe(false)
  expect(existsSync(join(packed.path, 'node_modules/fast-check'))).toBe(false)
  expect(packed.run(['import-all.js'])).toEqual({ status: 0, text: names.map((name) => `${name} true\n`).join('') })
})

test('the suites of the ports say which package they lack (15.5.1)', () => {
  packed.write('suites.js', `await import('${SUITES}')`)
  const { status, text } = packed.run(['suites.js'])
  expect(status).toBe(1)
  expect(text).toMatch(/Cannot find package '(vitest|fast-check)'/)
})

const sampleIn = (page: string): string =>
  /```js\n([\s\S]*?)```/.exec(readFileSync(join(packed.path, 'node_modules/trihand/docs', page), 'utf8'))?.[1] ?? ''

test('test-system-1: the example of docs/testing.md passes under node:test, from the packed package (15.5.1)', () => {
  packed.write('support.test.js', sampleIn('testing.md'))
  const { status, text } = packed.run(['--test', 'support.test.js'])
  expect(text).toMatch(/# pass 1|ℹ pass 1/)
  expect(status).toBe(0)
})

const HARD = `
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineSystem, fn, human } from 'trihand'
import { testSystem } from 'trihand/testing'

const calls = []
const never = new Promise(() => {})
const system = (charge) => defineSystem({
  name: 'shop',
  events: { 'order.placed': null, 'order.paid': null },
  humans: [human('check', { trigger: 'order.paid', title: 'Check {{ payload.order }}', assign: 'user:bob', deadline: '2d',
    autoActionOnTimeout: 'expire', actions: ['approve', 'reject'] })],
  functions: [
    fn('pay', { trigger: 'order.placed' }, async ({ input, step, emit }) => {
      await step.run('charge', () => charge(input.order), { effect: 'once' })
      emit('order.paid', input)
    }),
    fn('nightly', {}, () => { calls.push('nightly'); return null }),
  ],
  schedules: [{ name: 'nightly', cron: '0 3 * * *', tz: 'UTC', function: 'nightly' }],
})

test('a crash inside of a step that must happen once asks a person', async () => {
  const app = await testSystem(system(() => never))
  await app.send({ type: 'order.placed', id: 'o-1', data: { order: 1 } })
  assert.deepEqual((await app.runs('pay')).map(({ status }) => status), ['running'])
  await app.crash({ system: system((order) => calls.push(order)), down: '1h' })
  await assert.rejects(app.decide((await app.tasks())[0], { action: 'it_happened', as: 'eve' }), /TASK_FORBIDDEN/)
  await app.decide((await app.tasks())[0], { action: 'it_happened', as: 'op', groups: ['operators'] })
  assert.deepEqual(calls, [])
  const [task] = await app.tasks()
  assert.deepEqual([task.title, task.assignees], ['Check 1', ['user:bob']])
  await app.advance('2d')
  assert.deepEqual(await app.tasks(), [])
  assert.deepEqual(calls, ['nightly', 'nightly'])
  const again = await app.send({ type: 'order.placed', id: 'o-1', data: { order: 1 } })
  assert.equal(again.duplicate, true)
  await app.close()
})

test('a step that waits for the world is waited for', async () => {
  const app = await testSystem(defineSystem({ name: 'slow', functions: [
    fn('slow', {}, ({ step }) => step.run('ask', () => new Promise((resolve) => setTimeout(() => resolve('here'), 20)))),
  ] }))
  const run = await app.start('slow')
  await app.until(async () => (await app.result(run)).status === 'success')
  assert.equal((await app.result(run)).output, 'here')
  await assert.rejects(app.until(() => false, 20), /did not become so/)
  await app.close()
})

test('a system in a folder is loaded as trihand dev loads it', async () => {
  const app = await testSystem('node_modules/trihand/examples/hello')
  assert.equal((await app.runs()).length, 0)
  await app.close()
})
`

test('test-system-2: decisions, deadlines, schedules, crashes inside of a step and new definitions work in memory (15.5.1)', () => {
  packed.write('hard.test.js', HARD)
  const { status, text } = packed.run(['--test', 'hard.test.js'])
  expect(text).toMatch(/(# |ℹ )pass 3/)
  expect(status).toBe(0)
})
