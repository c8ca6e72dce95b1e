/** The backend over a fake of the SDK: how it starts, how it ends, what is left after a crash. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BackendJob, BackendReply } from '#ports/agent-backend.ts'
import type { Workspace } from '#ports/tool.ts'
import { type FakeFaults, type FakeModel, type FakeSdk, fakeSdk } from '#test/support/agents/claude-sdk.ts'
import { claudeAgent } from './claude-agent.ts'
import type { ClaudeSdk } from './sdk.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trihand-claude-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const inMemory = (files: Map<string, Uint8Array>): Workspace => ({
  read: async (path) => files.get(path) ?? new Uint8Array(),
  write: async (path, bytes) => void files.set(path, bytes),
  remove: async (path) => void files.delete(path),
  list: async () => [...files].map(([path, bytes]) => ({ path, bytes: bytes.length })),
})

const jobWith = (given: Partial<BackendJob> = {}): BackendJob => ({
  key: 'run_1',
  session: '11111111-1111-8111-8111-111111111111',
  turn: 0,
  model: 'claude-sonnet-4-5',
  system: 'Be kind.',
  start: { kind: 'task', text: 'go' },
  native: ['Read', 'Write'],
  tools: [{ name: 'send', description: '', input: { type: 'object' } }],
  limits: { turns: 10, calls: 10, tokens: 10_000, micros: null, outputTokens: 500 },
  workspace: inMemory(new Map()),
  judge: (tool) => ({ kind: tool === 'send' ? 'leave' : 'run' }),
  perform: async () => ({ text: '', isError: false }),
  emitChunk: () => {},
  ...given,
})

const KEY = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: 'http://127.0.0.1:1/v1', SECRET: 'x', PATH: '/bin' }

const work = (sdk: ClaudeSdk, given: Partial<BackendJob> = {}, environment: Record<string, string> = KEY) =>
  claudeAgent({ load: async () => sdk })({ root, environment }).work(jobWith(given), new AbortController().signal)

const run = async (model: FakeModel, faults?: FakeFaults): Promise<BackendReply> => work(fakeSdk(model, faults))

test('query-1: a session sees no settings, no home and no variables but its own', async () => {
  const sdk = fakeSdk(() => [{ text: 'done' }])
  expect((await work(sdk)).reply).toMatchObject({ kind: 'reply', finish: 'stop', calls: [] })
  const [options] = sdk.asked as [FakeSdk['asked'][number]]
  expect(options).toMatchObject({
    settingSources: [],
    permissionMode: 'default',
    strictMcpConfig: true,
    systemPrompt: 'Be kind.',
    tools: ['Read', 'Write'],
    cwd: join(root, 'run_1/files'),
  })
  expect(options).not.toHaveProperty('allowedTools')
  expect(options.env).toMatchObject({ HOME: join(root, 'run_1/home'), ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' })
  expect(Object.keys(options.env)).not.toContain('SECRET')
})

test.each(['Bash', 'mcp__other__x'])('query-2: a session that also has the tool %s is ended', async (tool) => {
  const { reply } = await run(() => [{ text: 'done' }], { tools: [tool] })
  expect(reply).toMatchObject({ kind: 'failed', code: 'TOOL_CHANGED', detail: expect.stringContaining(tool) })
})

test.each([
  [401, 'MODEL_AUTH'],
  [404, 'MODEL_NOT_FOUND'],
  [413, 'MODEL_CONTEXT_FULL'],
  [429, 'RATE_LIMITED'],
  [400, 'MODEL_REJECTED'],
  [529, 'MODEL_UNAVAILABLE'],
])('backend-1: an API that answers %i gives a single failure, %s', async (status, code) => {
  const { reply } = await run(() => [{ text: 'x' }], { status: () => status })
  expect(reply).toMatchObject({ kind: 'failed', code, usage: { input: 0, output: 0 } })
})

test('each limit ends a session with its own code', async () => {
  const forever: FakeModel = () => [{ call: 'Read', input: { file_path: 'a' } }]
  const turns = await work(fakeSdk(forever), { limits: { ...jobWith().limits, turns: 2 } })
  expect(turns.reply).toMatchObject({ code: 'AGENT_MAX_TURNS', usage: { input: 200, output: 40 } })
  const money = await work(fakeSdk(forever), { key: 'run_2', limits: { ...jobWith().limits, micros: 300 } })
  expect(money.reply).toMatchObject({ code: 'BUDGET_EXCEEDED' })
  const tokens = await work(fakeSdk(forever), { key: 'run_3', limits: { ...jobWith().limits, tokens: 300 } })
  expect(tokens.reply).toMatchObject({ code: 'BUDGET_EXCEEDED', detail: '360 tokens were used, 300 were left' })
})

test('backend-3: a call that is left to the engine ends the query, and the next one resumes with its result', async () => {
  const sdk = fakeSdk((heard, n) =>
    n === 1 ? [{ text: 'now' }, { call: 'mcp__trihand__send', input: { to: 'bo' } }] : [{ text: `heard: ${heard}` }],
  )
  const first = await work(sdk)
  expect(first.reply).toMatchObject({ finish: 'tools', calls: [{ tool: 'send', input: { to: 'bo' } }] })
  const result = { text: 'it was sent', isError: false }
  const start = { kind: 'result', transcript: first.transcript ?? '', result } as const
  const second = await work(sdk, { turn: 1, start })
  expect(second.reply).toMatchObject({ finish: 'stop', usage: { input: 100, output: 20 } })
  expect(second.reply).toMatchObject({ parts: [{ text: expect.stringContaining('it was sent') }] })
  expect(second.costUsd).toBeCloseTo(0.0002)
  expect(sdk.paid).toBe(2)
})

test('claude-agent-1: an answer that was lost with its process is not requested again', async () => {
  const sdk = fakeSdk(() => [{ text: 'done' }])
  const files = new Map<string, Uint8Array>()
  await work(sdk, { workspace: inMemory(files) })
  const again = await work(sdk, { workspace: inMemory(files) })
  expect(again).toMatchObject({ isResumed: true, reply: { parts: [{ text: 'done' }], usage: { input: 100 } } })
  expect(sdk.paid).toBe(1)
})

test('backend-2: a refused call has no effect, and changed files reach the workspace', async () => {
  const files = new Map([
    ['old.md', Buffer.from('old')],
    ['same.md', Buffer.from('same')],
  ]) as Map<string, Uint8Array>
  const sdk = fakeSdk((_, n, { cwd }) => {
    if (n > 1) return [{ text: 'done' }]
    rmSync(join(cwd, 'old.md'))
    return ['yes.md', 'no.md'].map((file_path) => ({ call: 'Write', input: { file_path, content: 'new' } }))
  })
  const judge: BackendJob['judge'] = (_, input) =>
    JSON.stringify(input).includes('no.md') ? { kind: 'refuse', reason: 'no' } : { kind: 'run' }
  expect(await work(sdk, { workspace: inMemory(files), judge })).toMatchObject({ calls: 1, turns: 2 })
  expect([...files.keys()].sort()).toEqual(['same.md', 'yes.md'])
  expect(readFileSync(join(root, 'run_1/files/yes.md'), 'utf8')).toBe('new')
})

test('the caller can stop a session, and forgetting it deletes its files', async () => {
  const abort = new AbortController()
  const sdk = fakeSdk((_, n) => {
    if (n === 2) abort.abort()
    return [{ call: 'Read', input: { file_path: 'a' } }]
  })
  const backend = claudeAgent({ load: async () => sdk })({ root, environment: KEY })
  expect((await backend.work(jobWith(), abort.signal)).reply).toMatchObject({ code: 'MODEL_TIMEOUT' })
  await backend.forget('run_1')
  expect(() => readFileSync(join(root, 'run_1/journal-0.jsonl'))).toThrow()
  await expect(backend.forget('../x')).rejects.toThrow('is not a session')
})

test('without the key or the package the failure says what is missing', async () => {
  const sdk = fakeSdk(() => [{ text: 'done' }])
  expect((await work(sdk, {}, {})).reply).toMatchObject({ kind: 'failed', code: 'ENV_MISSING' })
  const { reply } = await claudeAgent({ load: absent })({ root, environment: KEY }).work(
    jobWith(),
    new AbortController().signal,
  )
  expect(reply).toMatchObject({ code: 'PEER_MISSING', detail: expect.stringMatching(/^@trihand.*npm install/) })
})

/** The loader of a package that is not installed. */
const absent = async (): Promise<ClaudeSdk> => {
  const { loadPeer } = await import('#adapters/peer.ts')
  const missing: string = '@trihand/not-installed'
  return loadPeer(missing, () => import(/* @vite-ignore */ missing) as Promise<ClaudeSdk>)
}
