/** The rules of a chat: what a decision is, what may be done, which part of a conversation a turn receives. */
import { expect, test } from 'vitest'
import { type RunId, runId } from '#model/kernel/ids.ts'
import { chatCallOf, chatInput, messagesBefore } from './call.ts'
import { type ChatMessage, type ChatSpec, decisionOf, judgeDecision, recentMessages, titleOf } from './chat.ts'
import { turnView } from './turn.ts'

const RUN: RunId = runId('0'.repeat(32))
const executor = (name: string, needsApproval: boolean) =>
  ({ name, description: '', kind: 'handler', needsApproval }) as const
const SPEC: ChatSpec = {
  name: 'desk',
  description: '',
  agent: 'helper',
  executors: [executor('read', false), executor('write', true)],
  whileRunning: 'enqueue',
  asks: { users: [], groups: ['operators'] },
}
const execute = (name: string) => ({ action: 'execute', reply: '', executor: name, task: {}, reason: null }) as const

test('chat-1 chat-2: a listed executor is allowed or asked for, and any other is denied', () => {
  expect(judgeDecision(execute('read'), SPEC)).toEqual({ kind: 'allow' })
  expect(judgeDecision(execute('write'), SPEC)).toEqual({ kind: 'ask' })
  expect(judgeDecision(execute('toString'), SPEC)).toMatchObject({
    kind: 'deny',
    error: { code: 'EXECUTOR_NOT_ALLOWED' },
  })
  expect(judgeDecision({ ...execute('write'), action: 'reply' }, SPEC)).toEqual({ kind: 'none' })
})

test.each([null, 'text', [], {}, { action: 'obey' }])('%j is not a decision', (output) => {
  expect(decisionOf(output)).toBeNull()
})

const message = (text: string): ChatMessage => ({
  ...{ id: text, role: 'user', at: 0, run: RUN, simulated: false, tokens: null, error: null },
  parts: [{ type: 'text', text }],
})

test('a turn receives the last messages that fit, without a gap between them', () => {
  const many = Array.from({ length: 30 }, (_, i) => message(String(i)))
  expect(recentMessages(many).map(({ id }) => id)).toEqual(many.slice(-20).map(({ id }) => id))
  const long = message('x'.repeat(40_000))
  expect(recentMessages([message('first'), long, message('last')]).map(({ id }) => id)).toEqual(['last'])
})

test('a title is one short line', () => {
  expect(titleOf('  Hello\n there ')).toBe('Hello there')
  expect(titleOf('x'.repeat(100)).length).toBe(60)
})

test('the input that a chat passes to its agent is read back unchanged; any other input is not taken for it', () => {
  const call = { prompt: 'Hi', conversation: [{ role: 'user', text: 'before' }], rules: 'r' } as const
  expect(chatCallOf(chatInput(call))).toEqual(call)
  expect(messagesBefore(call)).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'before' }] }])
  for (const other of [null, 'x', {}, { trihand_chat: { prompt: 'x' } }]) expect(chatCallOf(other)).toBeNull()
  expect(chatCallOf({ trihand_chat: { ...call, conversation: [{ role: 'system', text: 'x' }] } })).toBeNull()
})

test('a turn that waits for the turn before it has a view, too', () => {
  expect(turnView(RUN, null)).toMatchObject({ status: 'queued', reply: null, execution: null })
})
