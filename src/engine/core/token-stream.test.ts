/** Streamed answers: which listener receives what, and what is forgotten. */
import { expect, test } from 'vitest'
import { runId } from '#model/kernel/ids.ts'
import { createRedaction } from '#model/kernel/redaction.ts'
import { type TokenChunk, TokenStream } from './token-stream.ts'

const RUN = runId('a'.repeat(32))
const STEP = 'agent/model[0]'
const text = (said: string) => ({ type: 'text', text: said }) as const

const assembled = (pieces: readonly TokenChunk[]): string =>
  pieces.filter(({ type }) => type === 'text').reduce((sum, { at, text: said }) => sum.slice(0, at) + said, '')

test('token-stream-1: a late listener gets what was streamed before first, then every chunk once', () => {
  const stream = new TokenStream(createRedaction([]))
  stream.tell(RUN, STEP, 1, text('a'))
  stream.tell(RUN, STEP, 1, text('b'))
  const received: TokenChunk[] = []
  stream.listen(RUN, (chunk) => received.push(chunk))
  stream.tell(RUN, STEP, 1, text('c'))
  expect(received.map(({ at, text: said }) => [at, said])).toEqual([
    [0, 'ab'],
    [2, 'c'],
  ])
})

test('token-stream-2: text that is received twice is put at its position and appears once', () => {
  const stream = new TokenStream(createRedaction([]))
  const received: TokenChunk[] = []
  stream.listen(RUN, (chunk) => received.push(chunk))
  stream.tell(RUN, STEP, 1, text('Hel'))
  stream.listen(RUN, (chunk) => received.push(chunk))
  stream.tell(RUN, STEP, 1, text('lo'))
  expect(assembled(received)).toBe('Hello')
})

test('the text of an attempt is forgotten with it, and the next attempt begins at position 0', () => {
  const stream = new TokenStream(createRedaction([]))
  stream.tell(RUN, STEP, 1, text('old'))
  stream.over(RUN, STEP)
  const received: TokenChunk[] = []
  stream.listen(RUN, (chunk) => received.push(chunk))
  stream.tell(RUN, STEP, 2, text('anew.'))
  expect(received).toEqual([{ run: RUN, step: STEP, attempt: 2, type: 'text', at: 0, text: 'anew.' }])
})

test('reasoning and tool calls are counted separately', () => {
  const stream = new TokenStream(createRedaction([]))
  stream.tell(RUN, STEP, 1, { type: 'reasoning', text: 'hm' })
  stream.tell(RUN, STEP, 1, { type: 'call', id: 'x', tool: 'Read' })
  stream.tell(RUN, STEP, 1, { type: 'call', id: 'y', tool: 'Grep' })
  const received: TokenChunk[] = []
  stream.listen(RUN, (chunk) => received.push(chunk))
  expect(received.map(({ type, at, text: said }) => [type, at, said])).toEqual([
    ['reasoning', 0, 'hm'],
    ['call', 0, 'Read'],
    ['call', 1, 'Grep'],
  ])
})

test('a late listener that throws does not disturb its caller', () => {
  const stream = new TokenStream(createRedaction([]))
  stream.tell(RUN, STEP, 1, text('a'))
  const leave = stream.listen(RUN, () => {
    throw new Error('broken')
  })
  leave()
})

test('a listener that throws does not disturb the others, and one that has left receives nothing', () => {
  const stream = new TokenStream(createRedaction([]))
  const received: TokenChunk[] = []
  stream.listen(RUN, () => {
    throw new Error('no')
  })
  const leave = stream.listen(RUN, (chunk) => received.push(chunk))
  stream.tell(RUN, STEP, 1, text('a'))
  leave()
  stream.tell(RUN, STEP, 1, text('b'))
  expect(assembled(received)).toBe('a')
})

test('token-stream-3: a secret that arrives in several chunks is never streamed, not even its first half', () => {
  const stream = new TokenStream(createRedaction([{ name: 'PAY_KEY', value: 'correct-horse-battery' }]))
  const received: TokenChunk[] = []
  stream.listen(RUN, (chunk) => received.push(chunk))
  for (const chunk of ['It is cor', 'rect-ho', 'rse-batt', 'ery, and co']) stream.tell(RUN, STEP, 1, text(chunk))
  stream.over(RUN, STEP)
  expect(received.map((chunk) => chunk.text)).toEqual(['It is ', '[redacted:PAY_KEY], and ', 'co'])
  expect(assembled(received)).toBe('It is [redacted:PAY_KEY], and co')
})
