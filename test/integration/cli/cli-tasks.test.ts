/** The inbox on the built command line: what waits, the details of a task, and a person's decision. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'

const SYSTEM = `import { defineSystem, human } from 'trihand'

export const system = defineSystem({
  name: 'letters',
  events: { 'letter.ready': null },
  humans: [human('review', { trigger: 'letter.ready', title: 'Letter {{ payload.n }}', assign: 'group:editors' })],
})
`
const ANA = ['--as', 'ana', '--groups', 'editors']

beforeAll(buildCommand, 120_000)

let folder: Folder
beforeEach(() => {
  folder = new Folder({ 'system.ts': SYSTEM })
})
afterEach(() => folder.remove())

/** Sends a letter and returns its task. */
const aTask = async (n: number): Promise<string> => {
  await folder.json(['send', 'letter.ready', `{"n":${n}}`])
  const { items } = await folder.json(['tasks', 'list'])
  return items[0].id
}

test('[C2] an inbox shows what waits for a person, and a task shows its subject', async () => {
  const id = await aTask(1)
  const inbox = await folder.run(['inbox', ...ANA])
  expect(inbox.stdout).toContain(`${id}  approval  pending  -  group:editors  Letter 1`)
  expect((await folder.run(['inbox', '--as', 'eve', '--quiet'])).stdout).toBe('')
  expect((await folder.run(['tasks', 'list', '--quiet'])).stdout.trim()).toBe(id)
  const shown = await folder.run(['tasks', 'show', id])
  expect(shown.stdout).toContain('asked     group:editors')
  expect(shown.stdout).toMatch(/^hash +\S+$/m)
})

test('[C5] a decision needs a name and the hash of what was shown; then the run continues', async () => {
  const id = await aTask(1)
  const { shown_hash, run_id } = await folder.json(['tasks', 'show', id])
  const nobody = await folder.run(['tasks', 'decide', id, 'approve', '--hash', shown_hash])
  expect([nobody.code, nobody.stderr]).toEqual([7, expect.stringContaining('UNAUTHENTICATED')])
  const unseen = await folder.run(['tasks', 'decide', id, 'approve', ...ANA])
  expect([unseen.code, unseen.stderr]).toEqual([2, expect.stringContaining('--hash')])
  const stranger = await folder.run(['tasks', 'decide', id, 'approve', '--as', 'eve', '--hash', shown_hash])
  expect([stranger.code, stranger.stderr]).toEqual([7, expect.stringContaining('TASK_FORBIDDEN')])
  const done = await folder.json(['tasks', 'decide', id, 'approve', ...ANA, '--hash', shown_hash])
  expect(done).toMatchObject({ status: 'approved', end: { decided_by: 'ana' } })
  const late = await folder.run(['tasks', 'decide', id, 'reject', '--reason', 'no', ...ANA, '--hash', shown_hash])
  expect([late.code, late.stderr]).toEqual([5, expect.stringContaining('ana closed the task')])
  expect(await folder.json(['runs', 'retry', run_id]).catch((error) => String(error))).toContain('RUN_NOT_FAILED')
})

test('[C7] a task is claimed, released and reassigned', async () => {
  const id = await aTask(1)
  expect(await folder.json(['tasks', 'claim', id, ...ANA])).toMatchObject({ claimed_by: 'ana' })
  expect(await folder.json(['tasks', 'unclaim', id, ...ANA])).toMatchObject({ claimed_by: null })
  const handed = await folder.json(['tasks', 'reassign', id, 'user:eve,group:leads', ...ANA])
  expect(handed).toMatchObject({ assignees: { users: ['eve'], groups: ['leads'] } })
  expect((await folder.run(['inbox', '--as', 'eve', '--quiet'])).stdout.trim()).toBe(id)
})
