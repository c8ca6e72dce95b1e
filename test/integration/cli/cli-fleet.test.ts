/** Holding work back from the command line: pause workers, stop everything after a typed confirmation, list breakers and pools. */
import { spawnSync } from 'node:child_process'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'

const SYSTEM = `import { defineSystem, fn } from 'trihand'
export const system = defineSystem({
  name: 'bank',
  events: { 'order.placed': null },
  pools: [{ name: 'mail', labels: { region: 'eu' } }],
  functions: [fn('pay', { trigger: 'order.placed', circuit: { key: 'bank' } }, () => 'paid')],
})
`

let folder: Folder
beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({ 'system.ts': SYSTEM })
})
afterEach(() => folder.remove())

const serve = () => folder.serve(['dev', '--port', '0'])
const run = (...words: readonly string[]) => folder.run(words)

test('[I6] everything is stopped and resumed, and a run that waits gives the reason', async () => {
  await serve()
  const stopped = await folder.json(['stop', '--yes', '--reason', 'the bank called'])
  expect(stopped).toMatchObject({ is_stopped: true, by: 'local', reason: 'the bank called' })
  const { runs } = await folder.json(['send', 'order.placed'])
  expect((await run('runs', 'why', runs[0])).stdout).toContain('the stop to be lifted: local stopped everything')
  expect((await folder.json(['workers', 'list'])).items[0].status).toBe('stopped')
  expect((await run('go')).stdout).toBe('work is not stopped\n')
  expect((await run('runs', 'watch', runs[0], '--wait', '20s')).code).toBe(0)
  expect((await folder.json(['runs', 'list'])).items[0].status).toBe('success')
})

test('[I6] a stop without a server is stored in the ledger, and the next server starts no run', async () => {
  await folder.json(['send', 'order.placed', '--wait', '20s'])
  expect((await run('stop', '--yes')).stdout).toMatch(/^stopped by local at /)
  await serve()
  expect((await folder.json(['workers', 'list'])).items[0].status).toBe('stopped')
  const { runs } = await folder.json(['send', 'order.placed'])
  expect((await folder.json(['runs', 'show', runs[0]])).status).toBe('queued')
})

test('without a terminal a stop is refused, and the error names the flag that confirms it', async () => {
  await serve()
  const { code, stderr } = await run('stop')
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^NOT_A_TERMINAL .*--yes/)])
  expect((await run('go')).stdout).toBe('work is not stopped\n')
})

test('at a terminal a stop needs the typed confirmation; any other text stops nothing', async (context) => {
  if (spawnSync('sh', ['-c', 'command -v script']).status !== 0)
    return context.skip('there is no `script` to make a terminal with')
  await serve()
  const through = ['sh', '-c', 'script -qec "$*" /dev/null', 'sh']
  const typing = (stdin: string) => folder.run(['stop'], { through, stdin, env: { NO_COLOR: '1' } })
  const other = await typing('yes\n')
  expect([other.code, other.stdout]).toEqual([1, expect.stringContaining('nothing was stopped')])
  const meant = await typing('stop\n')
  expect([meant.code, meant.stdout]).toEqual([0, expect.stringContaining('stopped by local')])
})

test('[I6][N4][I7] a worker is paused and resumed, pools and breakers are listed, and one breaker is closed', async () => {
  await serve()
  const [{ name }] = (await folder.json(['workers', 'list'])).items
  expect((await run('workers', 'pause', name)).stdout).toBe(`${name} will take no new runs\n`)
  expect((await folder.json(['workers', 'show', name])).status).toBe('paused')
  const { runs } = await folder.json(['send', 'order.placed'])
  expect((await run('pools', 'list')).stdout).toMatch(
    /^mail {2}.*region=eu\n\(none\) {2}0\/1 workers {2}0\/0 slots .*1 wait/m,
  )
  expect((await run('workers', 'resume', name)).stdout).toBe(`${name} will take runs again\n`)
  await run('runs', 'watch', runs[0], '--wait', '20s')
  expect((await run('circuits', 'list')).stdout).toMatch(/^bank {2}closed {2}- {2}0 openings {2}pay$/m)
  expect((await run('circuits', 'reset', 'bank')).stdout).toBe('bank is closed\n')
  expect((await run('manifest', 'versions')).stdout).toMatch(/current .* 0 open runs {2}bank\n$/)
})
