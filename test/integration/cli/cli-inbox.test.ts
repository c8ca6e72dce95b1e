/** Decisions on the command line: shown and confirmed at a terminal, bound to a hash elsewhere, item by item for a bundle. */
import { spawnSync } from 'node:child_process'
import { afterEach, beforeAll, beforeEach, expect, type TestContext, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'

const SYSTEM = `import { defineSystem, human } from 'trihand'

export const system = defineSystem({
  name: 'letters',
  events: { 'letters.ready': null, 'budget.asked': null, 'offer.made': null },
  humans: [human('offer', {
    trigger: 'offer.made', taskType: 'decision', title: 'An offer', assign: 'group:editors',
    context: { offer: { expr: 'payload.offer' } }, actions: ['approve', 'reject'],
  }), human('budget', {
    trigger: 'budget.asked', taskType: 'input', title: 'Budget of {{ payload.team }}', assign: 'group:editors',
    context: { team: '{{ payload.team }}', last_year: 900 },
    outputSchema: {
      type: 'object',
      properties: {
        amount: { type: 'number', minimum: 1 }, level: { enum: ['low', 'high'] }, due: { type: 'string', format: 'date' },
        urgent: { type: 'boolean' }, owner: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
      required: ['amount', 'due', 'owner'],
    },
  }), human('review', {
    trigger: 'letters.ready', title: 'Three letters', assign: 'group:editors', actions: ['approve', 'reject', 'edit'],
    bundle: { sections: [{ id: 'letters', type: 'review_items', items: { expr: 'payload.letters' }, editable: true }] },
  })],
})
`
const LETTERS = JSON.stringify({ letters: ['a', 'b', 'c'].map((id) => ({ id, text: `Dear ${id}` })) })
const ANA = ['--as', 'ana', '--groups', 'editors']

beforeAll(buildCommand, 120_000)

let folder: Folder
beforeEach(() => {
  folder = new Folder({ 'system.ts': SYSTEM })
})
afterEach(() => folder.remove())

const aBundle = async (): Promise<string> => {
  await folder.json(['send', 'letters.ready', LETTERS])
  const { items } = await folder.json(['inbox', 'list', ...ANA])
  return items[0].id
}

const THROUGH_A_TERMINAL = ['sh', '-c', 'script -qec "$*" /dev/null', 'sh']

const requireTerminals = (context: TestContext): void => {
  if (spawnSync('sh', ['-c', 'command -v script']).status !== 0)
    context.skip('there is no `script` to make a terminal with')
}

test('[C5] without a terminal a decision needs the hash of what was shown', async () => {
  const id = await aBundle()
  const unseen = await folder.run(['inbox', 'approve', id, ...ANA])
  expect([unseen.code, unseen.stderr]).toEqual([2, expect.stringContaining('--hash')])
  expect(unseen.stdout).toBe('')
  const { shown_hash } = await folder.json(['inbox', 'show', id, ...ANA])
  const done = await folder.json(['inbox', 'approve', id, ...ANA, '--hash', shown_hash])
  expect(done).toMatchObject({ status: 'approved', approved: ['a', 'b', 'c'], end: { decided_by: 'ana' } })
})

test('[C13] some items of a bundle are approved and the rest is rejected; an unknown item is named', async () => {
  const id = await aBundle()
  const { shown_hash } = await folder.json(['inbox', 'show', id, ...ANA])
  const word = ['inbox', 'approve', id, ...ANA, '--hash', shown_hash]
  const strange = await folder.run([...word, '--items', 'a,z', '--rest', 'reject'])
  expect([strange.code, strange.stderr]).toEqual([
    2,
    expect.stringContaining('the task has no item z; its items are a, b, c'),
  ])
  const unsaid = await folder.run([...word, '--items', 'a'])
  expect([unsaid.code, unsaid.stderr]).toEqual([2, expect.stringContaining('--rest')])
  const done = await folder.json([...word, '--items', 'a,c', '--rest', 'reject', '--reason', 'too long'])
  expect(done).toMatchObject({ status: 'approved', approved: ['a', 'c'], rejected: ['b'] })
})

test('[C5] at a terminal the task is shown and confirmed; any answer but yes decides nothing', async (context) => {
  requireTerminals(context)
  const id = await aBundle()
  const no = await folder.run(['inbox', 'approve', id, ...ANA], {
    apart: true,
    through: THROUGH_A_TERMINAL,
    stdin: 'n\n',
  })
  expect([no.code, no.stdout]).toEqual([1, expect.stringContaining('Dear a')])
  expect((await folder.json(['inbox', 'show', id, ...ANA])).is_open).toBe(true)
  const yes = await folder.run(['inbox', 'reject', id, ...ANA, '--reason', 'no'], {
    ...{ apart: true, through: THROUGH_A_TERMINAL, stdin: 'y\n' },
  })
  expect(yes.code).toBe(0)
  expect((await folder.json(['inbox', 'show', id, ...ANA])).end).toMatchObject({
    decision: 'reject',
    decided_by: 'ana',
  })
})

test('[C6] an item is edited in the editor, its difference is shown, and the edited item is approved', async (context) => {
  requireTerminals(context)
  const id = await aBundle()
  const edited = await folder.run(['inbox', 'edit', id, ...ANA, '--items', 'b'], {
    ...{ apart: true, through: THROUGH_A_TERMINAL, stdin: 'y\n' },
    env: { EDITOR: 'sed -i "s/Dear b/My dear b/"' },
  })
  expect([edited.code, edited.stdout]).toEqual([0, expect.stringContaining('My dear b')])
  const { status, sections } = await folder.json(['inbox', 'show', id, ...ANA])
  expect(status).toBe('approved')
  expect(JSON.stringify(sections)).toContain('My dear b')
})

test('[C3] at a terminal an input task shows its context and asks for each field until the answer fits the schema (13.1.4)', async (context) => {
  requireTerminals(context)
  await folder.json(['send', 'budget.asked', '{"team":"Research"}'])
  const { items } = await folder.json(['inbox', 'list', ...ANA])
  const { id } = items[0]
  const typed = (...lines: readonly string[]) =>
    folder.run(['inbox', 'respond', id, ...ANA], {
      ...{ apart: true, through: THROUGH_A_TERMINAL, stdin: `${lines.join('\n')}\n` },
    })
  const answers = ['0', '950.5', 'middle', 'high', '2026-02-30', '2026-12-31', 'y', 'Bea'] as const
  const no = await typed(...answers, 'n')
  expect(no.code).toBe(1)
  expect((await folder.json(['inbox', 'show', id, ...ANA])).is_open).toBe(true)
  const { code, stdout } = await typed(...answers, 'y')
  expect(code).toBe(0)
  for (const said of [
    'team: Research',
    'last_year: 900',
    'amount (number, at least 1): ',
    'amount must be at least 1',
    'level is not one of low, high',
    'due is not a date, like 2026-01-31',
  ])
    expect(stdout).toContain(said)
  expect((await folder.json(['inbox', 'show', id, ...ANA])).end).toMatchObject({
    decision: 'respond',
    fields: { amount: 950.5, level: 'high', due: '2026-12-31', urgent: true, owner: { name: 'Bea' } },
  })
})

test('[C3] a decision without items shows its context before any question, and text in it cannot move the cursor (13.1.4)', async (context) => {
  requireTerminals(context)
  await folder.json(['send', 'offer.made', JSON.stringify({ offer: { price: 1200, terms: 'net \u001b[2J30' } })])
  const { items } = await folder.json(['inbox', 'list', ...ANA])
  const { id } = items[0]
  const { stdout: shown } = await folder.run(['inbox', 'show', id, ...ANA])
  expect(shown.indexOf('"price":1200')).toBeGreaterThan(-1)
  expect(shown.indexOf('"price":1200')).toBeLessThan(shown.indexOf('actions'))
  const { code, stdout } = await folder.run(['inbox', 'approve', id, ...ANA], {
    ...{ apart: true, through: THROUGH_A_TERMINAL, stdin: 'y\n' },
  })
  expect(code).toBe(0)
  expect(stdout.indexOf('"price":1200')).toBeGreaterThan(-1)
  expect(stdout.indexOf('"price":1200')).toBeLessThan(stdout.indexOf('approve "An offer" as ana?'))
  expect(stdout).not.toContain('\u001b[2J')
})
