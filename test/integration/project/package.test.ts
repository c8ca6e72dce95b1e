/** The package as users get it: packed, unpacked in an empty folder, without the tools of this repository. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import { installPacked, type Packed } from '#test/support/project/packed.ts'
import { until } from '#test/support/until.ts'

let packed: Packed

beforeAll(() => {
  packed = installPacked()
})

afterAll(() => packed.remove())

/** These need a test runner, which their importer installs. */
const SUITES = 'trihand/testing/suites'

const exported = (): readonly string[] => {
  const { exports } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { exports: object }
  return Object.keys(exports).flatMap((name) => (name.endsWith('.json') ? [] : [name.replace('.', 'trihand')]))
}

test('every export of the packed package can be imported without development tools (15.5.1)', () => {
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

test('the conformance suites name the package that they lack (15.5.1)', () => {
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

test('test-system-2: decisions, deadlines, schedules, crashes inside a step and new definitions work in memory (15.5.1)', () => {
  packed.write('hard.test.js', HARD)
  const { status, text } = packed.run(['--test', 'hard.test.js'])
  expect(text).toMatch(/(# |ℹ )pass 3/)
  expect(status).toBe(0)
})

const CROWD = `
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTrihand, defineSystem, fn } from 'trihand'

const charged = []
let isBroken = true
const system = defineSystem({
  name: 'crowds',
  events: { signed: null },
  functions: [
    fn('limited', { throttle: { limit: 20, period: '1h', burst: 20 }, idempotency: { key: 'payload.id' } }, ({ input }) => input.id),
    fn('letter', {}, async ({ step }) => {
      const seen = []
      for (const name of ['first', 'second', 'third']) seen.push((await step.waitForEvent(name, { event: 'signed' })).event.data.n)
      return seen
    }),
    fn('order', {}, ({ step }) => step.invoke('pay', 'pay')),
    fn('pay', { retry: { maxAttempts: 1 } }, async ({ step }) => {
      await step.run('charge', () => { charged.push('bo') }, { effect: 'once' })
      if (isBroken) throw new Error('no paper')
      return 'paid'
    }),
  ],
})

test('crowds, throttles, waits and retried families', async () => {
  const app = await createTrihand({ system, database: 'crowds.db', drain: 0 })
  const runs = await Promise.all(Array.from({ length: 300 }, (_, i) => app.start('limited', { id: i % 100 })))
  assert.equal(new Set(runs).size, 100)
  const letter = await app.start('letter')
  for (const n of [1, 2, 3]) await app.send({ type: 'signed', data: { n } })
  assert.deepEqual((await app.result(letter)).output, [1, 2, 3])
  const order = await app.start('order')
  assert.equal((await app.result(order)).status, 'failed')
  isBroken = false
  const { done } = await app.retry(order, { by: 'ana' })
  assert.deepEqual(done, ['pay / charge'])
  assert.equal((await app.result(order)).output, 'paid')
  assert.deepEqual(charged, ['bo'])
  const states = await Promise.all([...new Set(runs)].map((run) => app.result(run, { wait: '0s' })))
  assert.equal(states.filter(({ status }) => status === 'success').length, 20)
  await app.close()
})
`

test('crowds, throttles, waits and retried families work from the packed package (14.1, 14.2, 14.3, 14.4)', () => {
  packed.write('crowds.test.js', CROWD)
  const { status, text } = packed.run(['--test', 'crowds.test.js'])
  expect(text).toMatch(/(# |ℹ )pass 1/)
  expect(status).toBe(0)
})

const TEMPLATES = ['campaign', 'chat', 'hello', 'hello-contacts', 'empty'] as const

const COMMAND = 'node_modules/trihand/bin/trihand.js'

/** The compiler settings of a user's project: strict, only the type declarations of the package and of Node. */
const CONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, module: 'nodenext', target: 'es2023', skipLibCheck: true },
    ...{ allowImportingTsExtensions: true, types: ['node'], typeRoots: [join(PROJECT, 'node_modules/@types')] },
  },
  include: TEMPLATES,
}

test('the code of every template type-checks against the packed package (15.5.3)', () => {
  for (const name of TEMPLATES)
    expect([name, packed.run([COMMAND, 'init', name, '--template', name]).status]).toEqual([name, 0])
  writeFileSync(join(packed.path, 'tsconfig.json'), JSON.stringify(CONFIG))
  const { status, text } = packed.run([join(PROJECT, 'node_modules/typescript/bin/tsc'), '-p', '.'])
  expect(text).toBe('')
  expect(status).toBe(0)
})

/** Lines of a README's code blocks that call the command. */
const commandsOf = (template: string): readonly string[] =>
  [...readFileSync(join(packed.path, template, 'README.md'), 'utf8').matchAll(/```\n([\s\S]*?)```/g)]
    .flatMap(([, block = '']) => block.split('\n'))
    .flatMap((line) => /^npx trihand (.*?)(?:\s+# .*)?$/.exec(line)?.[1] ?? [])

const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')

const inside = (template: string, words: readonly string[]) =>
  packed.run([join('..', COMMAND), ...words], {}, join(packed.path, template))

/** Starts a server of the template, and stops it afterwards. */
const whileServing = async (template: string, work: () => Promise<void>): Promise<void> => {
  const child = spawn(process.execPath, [join('..', COMMAND), 'dev', '--port', '0', '--json'], {
    cwd: join(packed.path, template),
    env: { PATH: process.env['PATH'] },
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  try {
    await until(
      () => text,
      (said) => said.includes('\n'),
      { what: `${template} serves`, timeoutMs: 30_000 },
    )
    await work()
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

test('hello does what its README says: it waits, survives kill -9, and ends with the answer (15.5.3)', async () => {
  const [dev, begin = '', send = '', list = '', show = ''] = commandsOf('hello')
  expect([dev, begin.split(' ')[0], send.split(' ')[0], list]).toEqual(['dev', 'send', 'send', 'runs list'])
  const runs = (): readonly { readonly id: string; readonly handler: string; readonly status: string }[] =>
    JSON.parse(inside('hello', ['runs', 'list', '--json']).text).items
  const waits = () =>
    until(
      () => runs().find(({ status }) => status === 'waiting'),
      (run) => run !== undefined && inside('hello', ['runs', 'why', run.id]).text.includes('greeting.answered'),
      { what: 'the run waits for an answer', timeoutMs: 30_000 },
    )
  await whileServing('hello', async () => {
    expect(inside('hello', wordsOf(begin)).status).toBe(0)
    await waits()
  })
  await whileServing('hello', async () => {
    const waiting = await waits()
    expect(inside('hello', wordsOf(send)).status).toBe(0)
    const filed = await until(
      () => runs(),
      (all) => all.some(({ handler, status }) => handler === 'file-answer' && status === 'success'),
      { what: 'the answer is filed', timeoutMs: 30_000 },
    )
    expect(filed.find(({ id }) => id === waiting?.id)?.status).toBe('success')
    const ending = wordsOf(show.replace(/<.*>/, waiting?.id.slice(-6) ?? ''))
    expect(inside('hello', ending)).toMatchObject({ status: 0 })
  })
})

test('hello-contacts does what its README says: a plan, its hash, one mail for each contact (15.5.3)', () => {
  const [first = '', second = ''] = commandsOf('hello-contacts')
  const shown = inside('hello-contacts', wordsOf(first))
  const [, hash = ''] = /--approve (\S+)/.exec(shown.text) ?? []
  expect([shown.status, hash === '']).toEqual([0, false])
  expect(inside('hello-contacts', wordsOf(second.replace('<hash>', hash))).status).toBe(0)
  const mails = readFileSync(join(packed.path, 'hello-contacts/.trihand/mails.jsonl'), 'utf8').trim().split('\n')
  expect(mails.length).toBe(3)
})
