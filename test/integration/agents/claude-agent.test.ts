/**
 * The real Claude Agent SDK against a stub of its API: tests the pitfalls that our stand-in only imitates.
 *
 * The package is large and not in our lock. The tests run if it is found by its name or in the folder named by TRIHAND_CLAUDE_SDK;
 * elsewhere each test is skipped with that reason.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claudeAgent } from '#adapters/models/claude-agent/claude-agent.ts'
import type { ClaudeSdk } from '#adapters/models/claude-agent/sdk.ts'
import { parseLines, tailOf } from '#adapters/models/claude-agent/transcript.ts'
import type { Json } from '#model/kernel/json.ts'
import type { BackendJob, BackendReply } from '#ports/agent-backend.ts'
import type { Workspace } from '#ports/tool.ts'
import { startAnthropicStub } from '#testing/stubs/anthropic-stub.ts'
import type { ModelStub, StubBlock, StubOptions } from '#testing/stubs/model-stub.ts'

const PEER: string = '@anthropic-ai/claude-agent-sdk'

const findSdk = async (): Promise<ClaudeSdk | null> => {
  const folder = process.env['TRIHAND_CLAUDE_SDK']
  const address = folder === undefined ? PEER : pathToFileURL(join(folder, 'sdk.mjs')).href
  try {
    return (await import(/* @vite-ignore */ address)) as ClaudeSdk
  } catch (error) {
    // A named folder without an SDK is a mistake, not an absence.
    if (folder !== undefined) throw error
    return null
  }
}

const found = await findSdk()
const MISSING = `${PEER} is not installed: install it anywhere and name its folder in TRIHAND_CLAUDE_SDK`

let root = ''
let stub: ModelStub | null = null
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trihand-claude-sdk-'))
})
afterEach(async () => {
  await stub?.close()
  rmSync(root, { recursive: true, force: true })
})

const inMemory = (files: Map<string, Uint8Array>): Workspace => ({
  read: async (path) => files.get(path) ?? new Uint8Array(),
  write: async (path, bytes) => void files.set(path, bytes),
  remove: async (path) => void files.delete(path),
  list: async () => [...files].map(([path, bytes]) => ({ path, bytes: bytes.length })),
})

const jobWith = (given: Partial<BackendJob>): BackendJob => ({
  key: 'run_1',
  session: '11111111-1111-8111-8111-111111111111',
  turn: 0,
  model: 'claude-sonnet-4-5',
  system: 'You test things.',
  start: { kind: 'task', text: 'go' },
  native: ['Read', 'Write', 'Edit', 'Glob', 'Grep'],
  tools: [
    { name: 'send', description: 'Sends.', input: { type: 'object', properties: { to: { type: 'string' } } } },
    { name: 'look', description: 'Looks.', input: { type: 'object', properties: {} } },
  ],
  limits: { turns: 10, calls: 10, tokens: 1_000_000, micros: null, outputTokens: 2_000 },
  workspace: inMemory(new Map()),
  judge: (tool) => ({ kind: tool === 'send' ? 'leave' : 'run' }),
  perform: async () => ({ text: 'it is green', isError: false }),
  emitChunk: () => {},
  ...given,
})

const serve = async (options: StubOptions): Promise<ModelStub> => {
  stub = await startAnthropicStub(options)
  return stub
}

const work = (
  api: ModelStub,
  given: Partial<BackendJob> = {},
  signal = new AbortController().signal,
): Promise<BackendReply> => {
  const environment = { PATH: process.env['PATH'], ANTHROPIC_API_KEY: 'key of the test', ANTHROPIC_BASE_URL: api.url }
  const load = async (): Promise<ClaudeSdk> => found as ClaudeSdk
  return claudeAgent({ load })({ root, environment }).work(jobWith(given), signal)
}

const call = (name: string, input: Json): StubBlock => ({ type: 'call', name, input })
const text = (said: string): StubBlock => ({ type: 'text', text: said })
const sentMessages = (api: ModelStub): string => JSON.stringify(api.calls.at(-1)?.body['messages'])

describe('the real Claude Agent SDK', () => {
  beforeEach(({ skip }) => skip(found === null, MISSING))

  test('read-only tools and files of the directory are used inside the SDK; settings of the directory are not read', async () => {
    const api = await serve({
      script: (_, n) => {
        if (n === 1) return [call('mcp__trihand__look', {}), call('Write', { file_path: 'b.md', content: 'B' })]
        return n === 2 ? [call('Write', { file_path: '/tmp/trihand-outside.md', content: 'x' })] : [text('done')]
      },
    })
    const files = new Map<string, Uint8Array>([['CLAUDE.md', Buffer.from('SAY MOO')]])
    const done = await work(api, { workspace: inMemory(files) })
    expect(done.reply).toMatchObject({ kind: 'reply', finish: 'stop', parts: [{ text: 'done' }] })
    expect(done).toMatchObject({ turns: 3, calls: 2 })
    expect([...files.keys()].sort()).toEqual(['CLAUDE.md', 'b.md'])
    expect(existsSync('/tmp/trihand-outside.md')).toBe(false)
    const said = JSON.stringify(api.calls)
    expect(said).toContain('You test things.')
    expect(said).not.toContain('SAY MOO')
    expect(sentMessages(api)).toContain('it is green')
    expect(sentMessages(api)).toContain('is outside the workspace')
    const tools = api.calls[0]?.body['tools'] as readonly { readonly name: string }[]
    expect(tools.map(({ name }) => name).sort()).toEqual(
      ['Edit', 'Glob', 'Grep', 'Read', 'Write', 'mcp__trihand__look', 'mcp__trihand__send'].sort(),
    )
  })

  test('a tool call that is left to the engine ends the query; with its result the query resumes for one model call and its own cost', async () => {
    const api = await serve({
      script: (_, n) =>
        n === 1
          ? [text('now'), call('mcp__trihand__send', { to: 'a' }), call('mcp__trihand__send', { to: 'b' })]
          : [text('all sent')],
    })
    const first = await work(api)
    expect(first.reply).toMatchObject({ finish: 'tools', calls: [{ tool: 'send', input: { to: 'a' } }] })
    rmSync(root, { recursive: true, force: true })
    const result = { text: 'IT WAS SENT', isError: false }
    const start = { kind: 'result', transcript: first.transcript ?? '', result } as const
    const second = await work(api, { turn: 1, start })
    expect(second.reply).toMatchObject({ finish: 'stop', parts: [{ text: 'all sent' }] })
    expect(api.calls).toHaveLength(2)
    expect(sentMessages(api)).toContain('IT WAS SENT')
    expect(sentMessages(api)).toContain('one at a time, call again')
    expect(sentMessages(api)).not.toContain('interrupted')
    const [one, two] = [first.reply, second.reply].map(({ usage }) => usage?.input ?? 0)
    expect(two).toBeGreaterThan(0)
    expect(two).toBeLessThan(2 * (one ?? 0))
    expect(second.costUsd).toBeLessThan(2 * (first.costUsd ?? 0))
  })

  test('an agent killed in its second model call pays again for that call and for no other', async () => {
    const api = await serve({
      script: (_, n) => (n === 1 ? [call('Write', { file_path: 'b.md', content: 'B' })] : [text('done')]),
      faults: [null, { kind: 'hang' }],
    })
    const abort = new AbortController()
    const lost = work(api, {}, abort.signal)
    await api.arrived(2)
    abort.abort()
    expect((await lost).reply).toMatchObject({ kind: 'failed', code: 'MODEL_TIMEOUT' })
    const files = new Map<string, Uint8Array>()
    const again = await work(api, { workspace: inMemory(files) })
    expect(again).toMatchObject({ isResumed: true, reply: { parts: [{ text: 'done' }] } })
    expect(api.calls).toHaveLength(3)
    expect([...files.keys()]).toEqual(['b.md'])
    expect(again.reply.usage?.output).toBeGreaterThan(1)
  })

  test('an overloaded API counts as one failure and one call; a retry continues the same session', async () => {
    const api = await serve({ script: () => [text('done')], faults: [{ kind: 'status', status: 529 }] })
    expect((await work(api)).reply).toMatchObject({ code: 'MODEL_UNAVAILABLE', usage: { input: 0, output: 0 } })
    expect(api.calls).toHaveLength(1)
    expect((await work(api)).reply).toMatchObject({ kind: 'reply', parts: [{ text: 'done' }] })
    expect(api.calls).toHaveLength(2)
  })

  test('a message to a session that has answered adds one turn to it', async () => {
    const api = await serve({ script: (_, n) => [text(n === 1 ? 'wrong' : 'right')] })
    const first = await work(api)
    const start = { kind: 'say', transcript: first.transcript ?? '', text: 'Answer again.' } as const
    expect((await work(api, { turn: 1, start })).reply).toMatchObject({ parts: [{ text: 'right' }] })
    expect(sentMessages(api)).toContain('Answer again.')
    expect(tailOf(parseLines(first.transcript ?? ''))).toMatchObject({ kind: 'answered', text: 'wrong' })
  })

  test('reaching the budget and exceeding the turn limit each have their own outcome', async () => {
    mkdirSync(join(root, 'x'))
    writeFileSync(join(root, 'x/a'), '')
    const api = await serve({ script: () => [call('Glob', { pattern: '*' })] })
    const { limits } = jobWith({})
    expect((await work(api, { limits: { ...limits, micros: 100 } })).reply).toMatchObject({ code: 'BUDGET_EXCEEDED' })
    expect(api.calls).toHaveLength(1)
    const turns = await work(api, { key: 'run_2', limits: { ...limits, turns: 2 } })
    expect(turns.reply).toMatchObject({ code: 'AGENT_MAX_TURNS' })
    expect(api.calls).toHaveLength(3)
  })
})

test.runIf(found === null)('an agent that needs the absent SDK reports how to install it', async () => {
  const backend = claudeAgent()({ root, environment: { ANTHROPIC_API_KEY: 'x' } })
  const { reply } = await backend.work(jobWith({}), new AbortController().signal)
  expect(reply).toMatchObject({ code: 'PEER_MISSING', detail: expect.stringContaining(`npm install ${PEER}`) })
})
