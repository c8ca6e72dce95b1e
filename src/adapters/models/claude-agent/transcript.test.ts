/** Real transcripts: where they stop, how a result is added, what they have cost. */
import { expect, test } from 'vitest'
import type { Entry } from './sdk.ts'
import { leftCall, linesOf, mended, parseLines, tailOf, usageBetween, usageSince, withResult } from './transcript.ts'

const USE = { input_tokens: 10, output_tokens: 2, cache_read_input_tokens: 5, cache_creation_input_tokens: 1 }
const TOTAL = { inputTokens: 10, outputTokens: 2, cacheReadInputTokens: 5, cacheCreationInputTokens: 1 }
const ask: Entry = { type: 'user', uuid: 'a', parentUuid: null, message: { content: [{ type: 'text', text: 'go' }] } }
const call: Entry = {
  type: 'assistant',
  uuid: 'b',
  parentUuid: 'a',
  message: {
    id: 'm1',
    model: 'claude',
    usage: USE,
    content: [{ type: 'tool_use', id: 't1', name: 'send', input: {} }],
  },
}
const marker: Entry = {
  type: 'attachment',
  uuid: 'c',
  parentUuid: 'b',
  attachment: { type: 'hook_deferred_tool', toolUseID: 't1', toolName: 'send', toolInput: { to: 'bo' } },
}
const after: Entry = { type: 'attachment', uuid: 'd', parentUuid: 'c', attachment: { type: 'prompt_snapshot' } }
const cost: Entry = { type: 'cost-state', totalCostUSD: 1, modelUsage: { claude: TOTAL } }
const final: Entry = {
  type: 'assistant',
  uuid: 'e',
  parentUuid: 'd',
  message: { id: 'm2', model: 'claude', usage: USE, content: [{ type: 'text', text: 'done' }] },
}
const broken: Entry = { ...final, uuid: 'f', isApiErrorMessage: true }

test.each([
  ['nothing', [], { kind: 'empty' }],
  ['lines that nobody spoke', [after, cost], { kind: 'empty' }],
  ['a question', [ask], { kind: 'open' }],
  ['a call without its result', [ask, call], { kind: 'open' }],
  ['a broken connection', [ask, broken], { kind: 'open' }],
  ['an answer', [ask, call, final], { kind: 'answered', text: 'done', model: 'claude' }],
  [
    'a call that is left to us',
    [ask, call, marker, after, cost],
    { kind: 'left', call: { id: 't1', name: 'send', input: { to: 'bo' } }, model: 'claude' },
  ],
])('a session stopped at %s', (_, entries, tail) => {
  expect(tailOf(entries)).toEqual(tail)
})

test('transcript-1: a result is inserted where the session waits for it, and the marker of the wait is removed', () => {
  const entries = withResult([ask, call, marker, after, cost], { text: 'sent', isError: false }, 'new')
  expect(leftCall(entries)).toBeNull()
  expect(tailOf(entries)).toEqual({ kind: 'open' })
  const shown = mended(entries)
  expect(shown.map(({ uuid, parentUuid }) => [uuid, parentUuid])).toEqual([
    ['a', null],
    ['b', 'a'],
    ['d', 'b'],
    [undefined, undefined],
    ['new', 'd'],
  ])
  expect(shown.at(-1)?.message).toEqual({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't1', content: 'sent', is_error: false }],
  })
})

test('a result for a session that waits for none changes nothing', () => {
  expect(withResult([ask, final], { text: 'sent', isError: false }, 'new')).toEqual([ask, final])
})

test('an entry after a broken connection is attached to the entry before it', () => {
  const next: Entry = { ...ask, uuid: 'g', parentUuid: 'f' }
  expect(mended([ask, { ...broken, parentUuid: 'a' }, next]).map(({ uuid, parentUuid }) => [uuid, parentUuid])).toEqual(
    [
      ['a', null],
      ['g', 'a'],
    ],
  )
})

test('usage is the difference to the saved totals, plus what a lost attempt had not saved', () => {
  const doubled = { inputTokens: 20, outputTokens: 4, cacheReadInputTokens: 10, cacheCreationInputTokens: 2 }
  const one = { input: 16, output: 2, cachedInput: 5, cacheWrites: 1, reasoning: 0 }
  expect(usageSince([ask, call, cost], { claude: doubled })).toEqual(one)
  const two = { input: 32, output: 4, cachedInput: 10, cacheWrites: 2, reasoning: 0 }
  // One answer is written as several lines with the same usage.
  expect(usageSince([ask, call, cost, final, { ...final, uuid: 'z' }], { claude: doubled })).toEqual(two)
  expect(usageBetween([ask, call, cost], [ask, call, cost, final])).toEqual(one)
  expect(usageBetween([], [ask, call, cost])).toEqual(one)
})

test('an unfinished line is ignored', () => {
  expect(parseLines(`${linesOf([ask])}{"type":"assis`)).toEqual([ask])
})
