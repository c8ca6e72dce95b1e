/** Views of a ledger on the command line: the costs of models, and the memory of sessions. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'

beforeAll(buildCommand, 120_000)

let folder: Folder
beforeEach(async () => {
  folder = new Folder()
  await folder.json(['init', 'mine', '--template', 'campaign'])
})
afterEach(() => folder.remove())

test('[B7] the costs of agents are listed by agent and in total, and scripted answers are marked as simulated', async () => {
  const reply = '{"lead_id":"lead-1","text":"Yes, let us have a call"}'
  await folder.json(['send', 'reply.received', reply, '--system', 'mine'])
  const { by, items, total } = await folder.json(['costs', '--by', 'agent'])
  expect(by).toEqual(['agent'])
  expect(items).toContainEqual(expect.objectContaining({ agent: 'response-triager', simulated: true, calls: 1 }))
  expect(total.calls).toBeGreaterThanOrEqual(1)
  const table = (await folder.run(['costs', '--by', 'agent'])).stdout.split('\n')
  expect(table[0]).toMatch(/^agent +calls +failed +tokens in +tokens out +cost$/)
  expect(table.find((row) => row.startsWith('response-triager'))).toContain('simulated')
  const wrong = await folder.run(['costs', '--by', 'weather'])
  expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringContaining('weather')])
})

test('a ledger without sessions says so, and an unknown session ends with 3', async () => {
  await folder.json(['send', 'campaign.requested', '{"campaign_id":"a"}', '--system', 'mine'])
  const none = await folder.run(['sessions', 'list'])
  expect([none.code, none.stdout, none.stderr]).toEqual([0, '', expect.stringContaining('No sessions.')])
  const unknown = await folder.run(['sessions', 'show', 'ses_00000000000000000000000000000000'])
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('NOT_FOUND')])
})
