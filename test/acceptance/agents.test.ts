/** Agents on every store: instructions, tools, structured answers, files, usage, models that fail. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agent } from '../../src/manifest/agents.ts'
import type { SystemSource } from '../../src/manifest/define.ts'
import type { RunId } from '../../src/model/ids.ts'
import { startTestSystem, type TestHands, type TestStore, type TestSystem } from '../../src/testing/system.ts'
import { called, type PaidModel, paidModel, said } from '../support/agents.ts'
import { onEveryStore } from '../support/stores.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trihand-agents-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const put = (path: string, text: string): void => {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
}

const handsOf = (model: PaidModel | null, more: TestHands['agents'] = {}): TestHands => ({
  folder,
  agents: {
    ...(model === null ? {} : { models: model }),
    workspaces: join(folder, 'workspaces'),
    price: (_, id, { input, output }) => ({
      micros: input + 5 * output,
      model: id,
      source: 'test',
      approximate: false,
    }),
    ...more,
  },
})

const begin = (source: Partial<SystemSource>, store: TestStore, hands: TestHands): Promise<TestSystem> =>
  startTestSystem({ name: 'agents', ...source }, store, hands)

/** Files are real: the run is over when it says so, not when time stands still. */
const outcome = (system: TestSystem, run: RunId) => system.run(() => system.engine.result(run, { waitMs: 3_600_000 }))

onEveryStore('agents', (store) => {
  test('[B1] the instructions of an agent are its CLAUDE.md, and those it began with stay with it', async () => {
    put('agents/composer/CLAUDE.md', 'Write like a pirate.')
    const model = paidModel((_, turn) => (turn === 0 ? called(['Glob', { pattern: '**' }]) : said('Arr.')))
    const system = await begin({ agents: [agent('composer', { allowedTools: ['Glob'] })] }, store(), handsOf(model))
    const run = await system.start('composer', { topic: 'sea' })
    expect(await outcome(system, run)).toMatchObject({ status: 'success', output: 'Arr.' })
    expect(model.calls.map(({ system: text }) => text.split('\n')[0])).toEqual([
      'Write like a pirate.',
      'Write like a pirate.',
    ])
    expect(model.calls[0]?.system).not.toContain('sea')
    await system.close()
  })
})
