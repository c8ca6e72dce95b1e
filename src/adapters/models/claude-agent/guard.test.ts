/** Decisions of the hook: paths outside the directory, tools that were not given, limits, and its own failure. */
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BackendJob, Verdict } from '#ports/agent-backend.ts'
import { Guard, leadsOut } from './guard.ts'

let folder = ''
let root = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trihand-guard-'))
  root = join(folder, 'ws')
  mkdirSync(join(root, 'dir'), { recursive: true })
  mkdirSync(join(folder, 'ws-evil'))
  writeFileSync(join(folder, 'secret'), 'x')
  symlinkSync(join(folder, 'secret'), join(root, 'link'))
  symlinkSync(folder, join(root, 'up'))
  symlinkSync(join(folder, 'nothing'), join(root, 'dangling'))
  linkSync(join(folder, 'secret'), join(root, 'hard'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const guardFor = (verdict: Verdict | (() => Verdict), limits: Partial<BackendJob['limits']> = {}) => {
  const stops: string[] = []
  const judge = typeof verdict === 'function' ? verdict : () => verdict
  const job = {
    judge,
    native: ['Read', 'Write', 'Glob', 'Grep'],
    limits: { turns: 9, calls: 9, tokens: 9, micros: null, outputTokens: 9, ...limits },
  }
  const guard = new Guard(job, root, (code) => stops.push(code))
  const ask = async (tool_name: string, tool_input: unknown) =>
    (await guard.hook({ tool_name, tool_input })).hookSpecificOutput.permissionDecision
  return { ask, stops }
}

test.each(['a.md', 'dir/b.md', 'new/deep/c.md', './a.md', 'dir/../a.md'])('%s is in the directory', async (path) => {
  expect(await leadsOut(root, path)).toBe(false)
})

test.each(['../secret', '/etc/passwd', '../ws-evil/a', 'link', 'up/secret', 'dangling', 'hard', 'a\0b', '..'])(
  'tool-guard-3: %s is outside the directory',
  async (path) => {
    expect(await leadsOut(root, path)).toBe(true)
    const { ask } = guardFor({ kind: 'run' })
    expect(await ask('Write', { file_path: path, content: 'x' })).toBe('deny')
    expect(await ask('Grep', { path, pattern: 'x' })).toBe('deny')
  },
)

test.each(['/etc/*', '../*', '{..,a}/*'])('tool-guard-3: the pattern %s is outside the directory', async (pattern) => {
  const { ask } = guardFor({ kind: 'run' })
  expect(await ask('Glob', { pattern })).toBe('deny')
  expect(await ask('Glob', { pattern: '**/*.md' })).toBe('allow')
})

test('a tool that the session was not given is denied, even if the broker would allow it', async () => {
  const { ask } = guardFor({ kind: 'run' })
  expect(await ask('Bash', { command: 'id' })).toBe('deny')
  expect(await ask('mcp__other__read', {})).toBe('deny')
})

test('tool-guard-1: a guard that throws denies the call', async () => {
  const { ask } = guardFor(() => {
    throw new Error('broken')
  })
  expect(await ask('Read', { file_path: 'a.md' })).toBe('deny')
  expect(await ask('mcp__trihand__send', { n: 1n })).toBe('deny')
})

test('tool-guard-2: after a call that is left to the engine further calls are denied', async () => {
  const { ask } = guardFor({ kind: 'leave' })
  expect(await ask('mcp__trihand__send', { to: 'a' })).toBe('defer')
  expect(await ask('mcp__trihand__send', { to: 'b' })).toBe('deny')
  expect(await ask('Read', { file_path: 'a.md' })).toBe('deny')
})

test('five refusals end the session, and so does one call too many', async () => {
  const refused = guardFor({ kind: 'refuse', reason: 'no' })
  for (let n = 0; n < 5; n++) expect(await refused.ask('Read', { file_path: 'a.md' })).toBe('deny')
  expect(refused.stops).toEqual(['AGENT_LOOP'])
  const many = guardFor({ kind: 'run' }, { calls: 1 })
  expect(await many.ask('Read', { file_path: 'a.md' })).toBe('allow')
  expect(await many.ask('Read', { file_path: 'a.md' })).toBe('deny')
  expect(many.stops).toEqual(['AGENT_MAX_TOOL_CALLS'])
})
