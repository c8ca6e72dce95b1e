/** More children than a process has slots, on a ledger of its own: they queue with their leases, and none is overtaken or lost. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'

const CHILDREN = 60

let folder: string
let app: Trihand
let begun: number[]
let most: number
let atWork: number
let release: () => void
let held: Promise<void>
let lateCalls: number

const system = () => ({
  name: 'family',
  events: {},
  functions: [
    fn<{ readonly n: number }>('child', {}, async ({ input, step }) =>
      step.run('work', async () => {
        begun.push(input.n)
        atWork += 1
        most = Math.max(most, atWork)
        await held
        atWork -= 1
        return input.n
      }),
    ),
    fn('gather', {}, async ({ step }) => {
      const answers = Array.from({ length: CHILDREN }, (_, n) =>
        step.invoke('child', 'child', { n }, { key: `${n}` }).then(
          (answer) => answer,
          () => null,
        ),
      )
      return (await Promise.all(answers)).filter((answer) => answer !== null).length
    }),
    fn('late', {}, async ({ step }) => step.run('call', () => ++lateCalls)),
  ],
})

const open = async (): Promise<Trihand> =>
  createTrihand({ system: system(), database: join(folder, 'ledger.db'), slots: 4, drain: 0 })

const hold = (): void => {
  held = new Promise((resolve) => {
    release = resolve
  })
}

const fullContext = async (): Promise<void> => expect.poll(() => begun.length, { timeout: 10_000 }).toBeGreaterThan(2)

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trihand-ahead-'))
  begun = []
  most = 0
  atWork = 0
  lateCalls = 0
  hold()
  app = await open()
})

afterEach(async () => {
  release()
  await app.close()
  rmSync(folder, { recursive: true, force: true })
})

test('worker-1: [C1] children beyond the slots begin in order, never more than the slots at once, each once', async () => {
  const run = await app.start('gather', null)
  await fullContext()
  release()
  expect(await app.result(run, { wait: '20s' })).toMatchObject({ status: 'success', output: CHILDREN })
  expect(begun).toEqual(Array.from({ length: CHILDREN }, (_, n) => n))
  expect(most).toBeLessThanOrEqual(4)
})

test('reserved-runs-2: [C1] a child that is cancelled while it queues never begins', async () => {
  const run = await app.start('gather', null)
  await fullContext()
  const last = (await app.reader.children(app.tenant, run)).at(-1)
  if (last === undefined) throw new Error('the run has no children')
  await app.cancel(last.id, { by: 'ana', reason: 'no longer wanted' })
  release()
  expect(await app.result(run, { wait: '20s' })).toMatchObject({ status: 'success', output: CHILDREN - 1 })
  expect(begun).toHaveLength(CHILDREN - 1)
})

test('reserved-runs-1: [C1] a run that is requested while many children queue does not wait for all of them', async () => {
  const run = await app.start('gather', null)
  await fullContext()
  const late = await app.start('late', null)
  let begunBefore = 0
  const heard = app.result(late, { wait: '20s' }).then(() => {
    begunBefore = begun.length
  })
  release()
  await heard
  expect([lateCalls, begunBefore < CHILDREN]).toEqual([1, true])
  await app.result(run, { wait: '20s' })
})

test('[C1][R1] children that are queued when the process closes are performed by the next one, each once', async () => {
  const run = await app.start('gather', null)
  await fullContext()
  await app.close()
  release()
  begun = []
  app = await open()
  expect(await app.result(run, { wait: '20s' })).toMatchObject({ status: 'success', output: CHILDREN })
  expect(new Set(begun).size).toBe(CHILDREN)
})
