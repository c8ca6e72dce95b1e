/** Agents that the Claude Agent SDK drives: approvals, crashes, files and budgets work as with our own turns. The SDK is replaced by a fake. */
import { expect, test } from 'vitest'
import { claudeAgent } from '#adapters/models/claude-agent/claude-agent.ts'
import { agent } from '#manifest/define/agents.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { ToolSource } from '#model/agent/tool-source.ts'
import type { Json } from '#model/kernel/json.ts'
import { agentPlace, ended, stepResults, untilStatus } from '#test/support/agents/agent-system.ts'
import { type FakeBlock, type FakeSdk, fakeSdk } from '#test/support/agents/claude-sdk.ts'
import { Inbox, person } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore, type TestSystem } from '#testing/system.ts'

const place = agentPlace()
const ana = person('ana', 'operators')
const SEND = 'mcp__trihand__mail__send'

const begin = (source: Partial<SystemSource>, store: TestStore, sdk: FakeSdk): Promise<TestSystem> =>
  startTestSystem({ name: 'agents', ...source }, store, {
    folder: place.folder,
    agents: {
      models: {
        nameOf: (name) => ({ alias: name, provider: 'anthropic', id: name }),
        model: { call: () => Promise.reject(new Error('our own turns are not asked')) },
      },
      price: (_, id, { input, output }) => ({
        micros: input + 5 * output,
        model: id,
        source: 'test',
        approximate: false,
      }),
      workspaces: `${place.folder}/workspaces`,
      backends: {
        'claude-agent': ({ root }) =>
          claudeAgent({ load: async () => sdk })({ root, environment: { ANTHROPIC_API_KEY: 'key of the test' } }),
      },
    },
  })

const mailer = (given: Parameters<typeof agent>[1] = {}) =>
  agent('mailer', {
    instructions: 'Send mails.',
    backend: 'claude-agent',
    model: 'claude-sonnet-4-5',
    allowedTools: ['mail.send', 'look', 'Read', 'Write', 'AskHuman'],
    ...given,
  })

const mailTool = (mails: Json[], given: Partial<ToolSource> = {}): ToolSource => ({
  name: 'mail.send',
  input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  effect: 'once',
  approval: true,
  run: (input: never) => {
    mails.push(input)
    return 'sent'
  },
  ...given,
})

const look = (seen: Json[], given: Partial<ToolSource> = {}): ToolSource => ({
  name: 'look',
  effect: 'none',
  run: (input: never) => {
    seen.push(input)
    return 'it is green'
  },
  ...given,
})

const send = (to: string): FakeBlock => ({ call: SEND, input: { to } })

onEveryStore('agents that the Claude Agent SDK drives', (store) => {
  test('[B2] a call with an effect parks for days, a person approves it, and it happens once, through a crash', async () => {
    const mails: Json[] = []
    const sdk = fakeSdk((_, n) => (n === 1 ? [{ text: 'I send it' }, send('bo'), send('cy')] : [{ text: 'done' }]))
    const system = await begin({ tools: [mailTool(mails)], agents: [mailer()] }, store(), sdk)
    const run = await system.start('mailer', { to: 'bo' })
    await untilStatus(system, run, 'waiting')
    await system.advance('3d')
    await system.crash()
    expect(mails).toEqual([])
    const inbox = new Inbox(system)
    const items = { call: { status: 'edited' as const, modifications: { to: 'di' } } }
    await inbox.decide(await inbox.only(), ana, { action: 'edit', items })
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: 'done' })
    // The second call of the same answer was deferred, and the model did not repeat it.
    expect(mails).toEqual([{ to: 'di' }])
    expect(sdk.paid).toBe(2)
    await system.close()
  })

  test('[B6] the cost of a resumed session is the difference, and its tokens count once', async () => {
    const sdk = fakeSdk((_, n) => (n < 3 ? [send(`n${n}`)] : [{ text: 'done' }]))
    const system = await begin({ tools: [mailTool([], { approval: false })], agents: [mailer()] }, store(), sdk)
    const run = await system.start('mailer')
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: 'done' })
    const results = await stepResults(system, run)
    const replies = [0, 1, 2].map((n) => (results.get(`agent/model[${n}]`) as { reply: Json }).reply)
    expect(replies).toMatchObject([
      { usage: { input: 100, output: 20 }, cost: { micros: 200 }, findings: [] },
      { usage: { input: 100, output: 20 }, cost: { micros: 200 }, findings: [] },
      { usage: { input: 100, output: 20 }, cost: { micros: 200 }, findings: [] },
    ])
    await system.close()
  })

  test('[B3] files that it writes are in the ledger, and no file outside of the directory is', async () => {
    const outside = `${place.folder}/outside.md`
    const sdk = fakeSdk((heard, n) => {
      if (n === 1) return [{ call: 'Write', input: { file_path: outside, content: 'no' } }]
      expect(heard).toContain('is outside')
      return n === 2 ? [{ call: 'Write', input: { file_path: 'mail.md', content: 'Dear Bo' } }] : [{ text: 'written' }]
    })
    const system = await begin({ agents: [mailer({ artifacts: ['mail.md'] })] }, store(), sdk)
    const run = await system.start('mailer')
    expect(await ended(system, run)).toMatchObject({ status: 'success' })
    const artifacts = (await stepResults(system, run)).get('agent/artifacts')
    expect(artifacts).toMatchObject({ artifacts: [{ path: 'mail.md', bytes: 7 }], missing: [] })
    await system.close()
  })

  test('delegate-1: a read-only tool runs inside the harness; after untrusted input the next effect asks a person', async () => {
    const [mails, seen]: [Json[], Json[]] = [[], []]
    const sdk = fakeSdk((_, n) => {
      if (n === 1) return [{ call: 'mcp__trihand__look', input: { at: 'page' } }]
      return n === 2 ? [send('bo')] : [{ text: 'done' }]
    })
    const tools = [mailTool(mails, { approval: false }), look(seen, { untrusted: true })]
    const system = await begin({ tools, agents: [mailer({ permissionMode: 'bypassPermissions' })] }, store(), sdk)
    const run = await system.start('mailer')
    await untilStatus(system, run, 'waiting')
    expect(seen).toEqual([{ at: 'page' }])
    expect(mails).toEqual([])
    const inbox = new Inbox(system)
    await inbox.decide(await inbox.only(), ana, { action: 'approve' })
    expect(await ended(system, run)).toMatchObject({ status: 'success' })
    expect(mails).toEqual([{ to: 'bo' }])
    await system.close()
  })

  test('[D2] it asks a person and continues with the answer', async () => {
    const sdk = fakeSdk((heard, n) =>
      n === 1
        ? [{ call: 'mcp__trihand__AskHuman', input: { question: 'Which tone?' } }]
        : [{ text: heard.includes('casual') ? 'casually' : 'formally' }],
    )
    const system = await begin({ agents: [mailer()] }, store(), sdk)
    const run = await system.start('mailer')
    await untilStatus(system, run, 'waiting')
    const inbox = new Inbox(system)
    await inbox.decide(await inbox.only(), ana, { action: 'respond', fields: { answer: 'casual' } })
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: 'casually' })
    await system.close()
  })

  test('[B4] an answer that does not fit is repaired once, in the same session', async () => {
    const outputSchema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
    const sdk = fakeSdk((_, n) => [{ text: n === 1 ? '{"a": "x"}' : '{"a": 1}' }])
    const system = await begin({ agents: [mailer({ outputSchema })] }, store(), sdk)
    const run = await system.start('mailer')
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: { a: 1 } })
    expect(sdk.prompts[1]).toContain('does not fit its schema')
    expect(sdk.asked[0]?.systemPrompt).toContain('"required":["a"]')
    await system.close()
  })

  test('[B10] a crash in its second model call pays again for that one call, and for no other', async () => {
    let reached = (): void => {}
    const arrival = new Promise<void>((resolve) => {
      reached = resolve
    })
    const sdk = fakeSdk((_, n) => {
      if (n === 1) return [{ call: 'Write', input: { file_path: 'mail.md', content: 'Dear Bo' } }]
      if (n > 2) return [{ text: 'written' }]
      reached()
      return new Promise<never>(() => {})
    })
    const system = await begin({ agents: [mailer({ artifacts: ['mail.md'] })] }, store(), sdk)
    const run = await system.start('mailer')
    await system.run(() => arrival)
    await system.crash()
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: 'written' })
    expect(sdk.paid).toBe(3)
    const { reply } = (await stepResults(system, run)).get('agent/model[0]') as { readonly reply: Json }
    // The first call of the lost attempt counts together with the one that answered.
    expect(reply).toMatchObject({ usage: { input: 200, output: 40 }, inside: { files: [{ path: 'mail.md' }] } })
    await system.close()
  })

  test('[B6] the remaining budget is passed on, and a session that reaches it ends the agent', async () => {
    const sdk = fakeSdk(() => [{ call: 'Read', input: { file_path: 'a.md' } }])
    const agents = [mailer({ limits: { maxCostUsd: 0.003, maxOutputTokens: 256 } })]
    const system = await begin({ agents }, store(), sdk)
    const run = await system.start('mailer')
    expect((await ended(system, run)).error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
    expect(sdk.asked[0]?.maxBudgetUsd).toBeCloseTo(0.003)
    expect(sdk.asked).toHaveLength(1)
    await system.close()
  })

  test('[B9] an overloaded model is called again, later, in the same session', async () => {
    const sdk = fakeSdk(() => [{ text: 'done' }], { status: (n) => (n === 1 ? 529 : null) })
    const system = await begin({ agents: [mailer()] }, store(), sdk)
    const run = await system.start('mailer')
    await untilStatus(system, run, 'waiting')
    await system.advance('1m')
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: 'done' })
    expect(sdk.asked.map(({ resume }) => resume !== undefined)).toEqual([false, true])
    await system.close()
  })
})
