/** Bulk commands from the command line: the confirmation, the output and the exit code. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'

let folder: Folder

beforeAll(async () => {
  await buildCommand()
  folder = new Folder({ 'system.ts': SHOP })
})
afterAll(() => folder.remove())

test('[G12] a bulk command reaches every matching run, and its totals are the result', async () => {
  for (const id of ['a', 'b', 'c']) await folder.json(['send', 'order.paid', JSON.stringify({ id })])
  const many = (verb: string) => ['runs', verb, '--where', 'status=waiting, handler=ship', '--yes']
  const plain = await folder.run(many('pause'))
  expect(plain.code).toBe(0)
  expect(plain.stdout).toMatch(/^run_[0-9a-f]{32} {2}success {2}pause: 3 done, 0 failed, 3 in total\n$/)
  const { items } = await folder.json(['runs', 'list', '--status', 'paused'])
  expect(items).toHaveLength(3)
  const cancelled = await folder.json(['runs', 'cancel', '--where', 'handler=ship', '--yes', '--reason', 'sold out'])
  expect(cancelled).toMatchObject({ action: 'cancel', where: { handler: 'ship' }, reason: 'sold out', done: 3 })
  const none = await folder.json(['runs', 'resume', '--where', 'status=paused', '--yes'])
  expect(none).toMatchObject({ total: 0, done: 0, failed: 0, is_total_known: true })
})

test('without a terminal a bulk command is refused, and the error names the flag that confirms it', async () => {
  const { code, stderr } = await folder.run(['runs', 'cancel', '--where', 'handler=ship'])
  expect(code).toBe(2)
  expect(stderr).toContain('NOT_A_TERMINAL')
  expect(stderr).toContain('the command cannot ask: give --yes')
})

test.each([
  [['runs', 'cancel'], 2, 'give the id of a run, or --where'],
  [['runs', 'cancel', 'ffffffff', '--where', 'handler=ship'], 2, 'give the id of a run, or --where'],
  [['runs', 'retry', '--where', 'failed', '--yes'], 2, 'expected terms like status=waiting,handler=greet'],
  [
    ['runs', 'retry', '--where', 'state=failed', '--yes'],
    4,
    'where has an unknown term state; expected status, handler, session',
  ],
])('%j ends with %i: %s', async (args, wanted, detail) => {
  const { code, stderr } = await folder.run(args)
  expect([code, stderr]).toEqual([wanted, expect.stringContaining(detail)])
})
