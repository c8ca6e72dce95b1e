/** Chats as authors declare them: what is refused, what needs approval, and the same from YAML. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import { sourceOf } from '#manifest/yaml/source.ts'
import { agent } from './agents.ts'
import type { ChatSource } from './chats.ts'
import { normalise, type SystemSource } from './define.ts'

const system = (chat: Partial<ChatSource>): SystemSource => ({
  name: 'desk',
  agents: [agent('helper', { instructions: 'x' }), agent('armed', { instructions: 'x', allowedTools: ['Write'] })],
  functions: [fn('plain', {}, () => 1), fn('pure', { allowedOperations: ['transform'] }, () => 1)],
  chats: [{ name: 'desk', agent: 'helper', ...chat }],
})
const define = (source: SystemSource) => normalise(source, (text) => text)
const approvals = (chat: Partial<ChatSource>) =>
  Object.fromEntries(
    (define(system(chat)).chats.get('desk')?.executors ?? []).map(({ name, needsApproval }) => [name, needsApproval]),
  )

test('[E10] only executors known to have no effects run without approval', () => {
  expect(approvals({ executors: ['plain', 'pure', 'helper', 'armed', 'llm', 'tool_call'] })).toEqual({
    ...{ plain: true, pure: false, helper: false, armed: true, llm: false, tool_call: true },
  })
})

test('[E10] a chat may declare that an executor always, or never, needs approval', () => {
  expect(
    approvals({
      executors: [
        { name: 'plain', approval: 'never' },
        { name: 'pure', approval: 'always' },
      ],
    }),
  ).toEqual({ plain: false, pure: true })
})

test.each([
  [{ agent: 'nobody' }, 'there is no agent nobody'],
  [{ agent: 'plain' }, 'there is no agent plain'],
  [{ executors: ['purr'] }, 'did you mean pure?'],
  [{ onMessageWhileRunning: 'steer' as never }, 'enqueue'],
  [{ name: 'No Name' }, 'a name must begin with a letter'],
] as const)('%j is refused', (chat, words) => {
  expect(() => define(system(chat))).toThrow(words)
})

test('two chats with the same name are refused', () => {
  const { chats = [], ...rest } = system({})
  expect(() => define({ ...rest, chats: [...chats, ...chats] })).toThrow('two chats are named desk')
})

test('the agent of a chat returns a decision, unless it declares another schema', () => {
  expect(define(system({})).functions.get('helper')?.code).toMatchObject({ output: { required: ['action'] } })
})

test('[A2] a manifest declares chats in short and in long form', () => {
  const { manifest, findings } = loadManifest(`
product: {name: desk}
events: []
agents: [{name: helper, instructions: x}]
functions: [{name: add}]
chats:
  - name: desk
    agent: helper
    executors: [add, {name: llm, approval: always}]
    on_message_while_running: interrupt
    asks: {users: [ana]}
`)
  if (manifest === null) throw new Error(JSON.stringify(findings))
  expect(define(sourceOf(manifest)).chats.get('desk')).toMatchObject({
    whileRunning: 'interrupt',
    asks: { users: ['ana'], groups: [] },
    executors: [
      { name: 'add', needsApproval: true },
      { name: 'llm', needsApproval: true },
    ],
  })
})
