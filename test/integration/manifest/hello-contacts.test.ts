/** The hello-contacts example: one sentence becomes a plan, a person approves it, and each contact gets one mail. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'

beforeAll(buildCommand, 120_000)

let folder: Folder
beforeEach(async () => {
  folder = new Folder()
  await folder.json(['init', '.', '--template', 'hello-contacts'])
})
afterEach(() => folder.remove())

const HELLO = 'Send an email to all my contacts that says "Hello World!"'

const mails = (): readonly { readonly to: string; readonly body: string }[] =>
  readFileSync(join(folder.path, '.trihand/mails.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('[P6] the sentence becomes a plan of three steps; approved by its hash it sends one mail to each contact', async () => {
  const plan = await folder.json(['plan', HELLO])
  expect(plan.steps).toMatchObject([
    { id: 'a', by: 'get-all-contacts', requires: [] },
    { id: 'b', by: 'compose-email-message', requires: [] },
    { id: 'c', by: 'send-emails', requires: ['a', 'b'] },
  ])
  const done = await folder.json(['plan', HELLO, '--approve', plan.hash, '--as', 'ana', '--run', '--wait', '20s'])
  expect(done).toMatchObject({ status: 'success', hash: plan.hash, approval: { by: 'ana' } })
  expect(mails().map(({ to, body }) => [to, body])).toEqual(
    ['ada', 'grace', 'edsger'].map((name) => [`${name}@example.com`, 'Hello World!']),
  )
})

test('[P6][N3] another sentence under the same hash is refused, an unknown phrase leads to a question, and errors name their line', async () => {
  const { hash } = await folder.json(['plan', HELLO])
  const other = HELLO.replace('Hello', 'Bye')
  const refused = await folder.run(['plan', other, '--approve', hash, '--as', 'ana', '--run'])
  expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('PLAN_STALE')])
  const asked = await folder.run(['plan', HELLO.replace('contacts', 'contacts except Bob')])
  expect([asked.code, asked.stderr]).toEqual([4, expect.stringContaining('PLAN_QUESTION')])
  const wrong = await folder.run(['plan', 'a. Get all contacts\nb. Send emals (requires step a)'])
  expect([wrong.code, wrong.stdout]).toEqual([4, expect.stringContaining('line 2: PLAN_UNASSIGNED')])
  const unseen = await folder.run(['plan', HELLO, '--run'])
  expect([unseen.code, unseen.stderr]).toEqual([5, expect.stringContaining('PLAN_NOT_APPROVED')])
})
