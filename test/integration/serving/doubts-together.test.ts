/** A server dies while several payments are active: all uncertain steps have one cause and are resolved together. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildCommand, Folder, type Server } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

const SHOP = `import { appendFileSync, existsSync } from 'node:fs'
import { defineSystem, fn } from 'trihand'

export const system = defineSystem({
  name: 'shop',
  events: {},
  functions: [
    fn<{ id: string }>('pay', {}, async ({ input, step }) =>
      step.run(
        'charge',
        async () => {
          appendFileSync('charged.txt', input.id + '\\n')
          // The first server never gets an answer from the bank.
          if (!existsSync('bank-answers.txt')) await new Promise(() => {})
          return 'paid again'
        },
        { effect: 'once', input, target: 'bank' },
      ),
    ),
  ],
})
`
const ANA = { 'x-trihand-user': 'ana', 'x-trihand-groups': 'operators', 'content-type': 'application/json' }
const AS_ANA = ['--as', 'ana', '--groups', 'operators']

interface Question {
  readonly id: string
  readonly cause: string
  readonly origin: string
}

let folder: Folder
let server: Server
beforeAll(buildCommand)
beforeEach(async () => {
  folder = new Folder({ 'system.ts': SHOP })
  server = await folder.serve(['dev', '--port', '0'])
  for (const id of ['a', 'b', 'c']) await folder.json(['start', 'pay', JSON.stringify({ id })])
  await until(charges, (all) => all.length === 3)
  await server.kill()
  folder.write('bank-answers.txt', 'yes')
  server = await folder.serve(['dev', '--port', '0'])
})
afterEach(() => folder.remove())

const charges = (): readonly string[] => {
  const file = join(folder.path, 'charged.txt')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

const questions = async (): Promise<readonly Question[]> => {
  const asked = async (): Promise<readonly Question[]> => {
    const response = await fetch(`${server.url}/api/tasks?limit=50`, { headers: ANA })
    return ((await response.json()) as { items: readonly Question[] }).items
  }
  return until(asked, (all) => all.length === 3)
}

const results = async (): Promise<readonly string[]> => {
  const { items } = await folder.json(['runs', 'list'])
  return (items as readonly { status: string }[]).map(({ status }) => status)
}

describe('[R6] uncertain steps of one cause', () => {
  test('trihand inbox resolve answers them with one typed confirmation, and nothing is charged again (13.1.6)', async () => {
    const [{ cause = '' } = {}] = await questions()
    const given = ['inbox', 'resolve', 'happened', '--cause', cause, ...AS_ANA]
    const wrong = await folder.run([...given, '--confirm', 'charg'])
    expect([wrong.code, (await questions()).length]).toEqual([1, 3])
    const { items } = await folder.json([...given, '--confirm', 'charge', '--result', '"paid"'])
    expect(items).toEqual(Array.from({ length: 3 }, () => expect.objectContaining({ state: 'completed' })))
    await until(results, (all) => all.every((status) => status === 'success'))
    expect(charges()).toEqual(['a', 'b', 'c'])
  })

  test('POST /api/tasks/decisions answers them; one answered meanwhile is reported, and the others are decided (13.1.6)', async () => {
    const asked = await questions()
    const decisions = await Promise.all(
      asked.map(async ({ id }) => {
        const shown = (await (await fetch(`${server.url}/api/tasks/${id}`, { headers: ANA })).json()) as {
          readonly shown_hash: string
        }
        return { task: id, action: 'run_again', shown_hash: shown.shown_hash, confirm: 'charge' }
      }),
    )
    const post = async (path: string, body: object) =>
      (await fetch(`${server.url}${path}`, { method: 'POST', headers: ANA, body: JSON.stringify(body) })).json()
    const [first] = decisions
    await post(`/api/tasks/${first?.task}/decision`, { ...first, task: undefined, action: 'it_happened' })
    const { items } = (await post('/api/tasks/decisions', { decisions })) as {
      readonly items: readonly { readonly task: string; readonly problem?: { readonly code: string } }[]
    }
    expect(items.map(({ task, problem }) => [task, problem?.code ?? null])).toEqual(
      decisions.map(({ task }, i) => [task, i === 0 ? 'TASK_CLOSED' : null]),
    )
    await until(results, (all) => all.every((status) => status === 'success'))
    expect(charges()).toHaveLength(5)
  })
})
