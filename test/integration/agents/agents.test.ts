/** Agents in a system as a user starts one: a folder, the simulated model and tools for functions; the test adds nothing else. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTrihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { agent } from '#manifest/define/agents.ts'
import type { SystemSource } from '#manifest/define/define.ts'

let folder = ''
beforeEach(() => {
  // Ignores API keys of the machine.
  vi.stubEnv('TRIHAND_MODELS', 'simulated')
  folder = mkdtempSync(join(tmpdir(), 'trihand-agents-'))
  mkdirSync(join(folder, 'agents/composer'), { recursive: true })
  writeFileSync(join(folder, 'agents/composer/CLAUDE.md'), 'Write mails.')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const source = (): SystemSource => ({
  name: 'mails',
  folder,
  tools: [{ name: 'crm.get', effect: 'none', run: () => ({ name: 'Ana' }) }],
  agents: [agent('composer', { allowedTools: ['crm.get', 'Write'], artifacts: ['mail.md'] })],
  functions: [
    fn('look', {}, async ({ step }) => {
      const { result } = await step.execute('get', { type: 'tool_call', task: { tool: 'crm.get', input: {} } })
      return result
    }),
    fn('ask', {}, async ({ step }) => {
      const task = { prompt: 'Say hello.' }
      return (await step.execute('ask', { type: 'llm', task })).result
    }),
  ],
  scripts: {
    composer: {
      answers: [
        { turn: 1, calls: [{ tool: 'crm.get', input: {} }] },
        { after: 'crm.get', calls: [{ tool: 'Write', input: { file_path: 'mail.md', content: 'Dear Ana' } }] },
        { after: 'Write', say: 'written' },
      ],
    },
  },
})

test('an agent of a folder works with the simulated model, and functions use the tools of the system', async () => {
  const app = await createTrihand({ system: source(), database: join(folder, 'ledger.db') })
  try {
    expect(await app.call('composer', { to: 'Ana' })).toMatchObject({ status: 'success', output: 'written' })
    expect(await app.call('look')).toMatchObject({ status: 'success', output: { content: { name: 'Ana' } } })
    // The function has no script: the simulated model reports that instead of inventing an answer.
    expect((await app.call('ask')).error?.code).toBe('SIMULATED_NO_SCRIPT')
  } finally {
    await app.close()
  }
})

test('a system with an unreadable script does not start', async () => {
  const system = { ...source(), scripts: { composer: { answers: [{ says: 'hello' }] } } }
  await expect(createTrihand({ system, database: 'memory:' })).rejects.toMatchObject({ code: 'SCRIPT_INVALID' })
})
