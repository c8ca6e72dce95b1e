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

test('deltas-1: a late listener gets what was streamed before first, then every chunk once', () => {
  const deltas = new TokenStream(createRedaction([]))
  deltas.tell(RUN, STEP, 1, text('a'))
  deltas.tell(RUN, STEP, 1, text('b'))
  const heard: TokenChunk[] = []
  deltas.listen(RUN, (piece) => heard.push(piece))
  deltas.tell(RUN, STEP, 1, text('c'))
  expect(heard.map(({ at, text: said }) => [at, said])).toEqual([
    [0, 'ab'],
    [2, 'c'],
  ])
})

test('deltas-2: text that is received twice is put at its position and appears once', () => {
  const deltas = new TokenStream(createRedaction([]))
  const heard: TokenChunk[] = []
  deltas.listen(RUN, (piece) => heard.push(piece))
  deltas.tell(RUN, STEP, 1, text('Hel'))
  deltas.listen(RUN, (piece) => heard.push(piece))
  deltas.tell(RUN, STEP, 1, text('lo'))
  expect(assembled(heard)).toBe('Hello')
})

test('the text of an attempt is forgotten with it, and the next attempt begins at position 0', () => {
  const deltas = new TokenStream(createRedaction([]))
  deltas.tell(RUN, STEP, 1, text('old'))
  deltas.over(RUN, STEP)
  const heard: TokenChunk[] = []
  deltas.listen(RUN, (piece) => heard.push(piece))
  deltas.tell(RUN, STEP, 2, text('anew.'))
  expect(heard).toEqual([{ run: RUN, step: STEP, attempt: 2, type: 'text', at: 0, text: 'anew.' }])
})

test('reasoning and tool calls are counted separately', () => {
  const deltas = new TokenStream(createRedaction([]))
  deltas.tell(RUN, STEP, 1, { type: 'reasoning', text: 'hm' })
  deltas.tell(RUN, STEP, 1, { type: 'call', id: 'x', tool: 'Read' })
  deltas.tell(RUN, STEP, 1, { type: 'call', id: 'y', tool: 'Grep' })
  const heard: TokenChunk[] = []
  deltas.listen(RUN, (piece) => heard.push(piece))
  expect(heard.map(({ type, at, text: said }) => [type, at, said])).toEqual([
    ['reasoning', 0, 'hm'],
    ['call', 0, 'Read'],
    ['call', 1, 'Grep'],
  ])
})

test('a listener that throws does not disturb the others, and one that has left receives nothing', () => {
  const deltas = new TokenStream(createRedaction([]))
  const heard: TokenChunk[] = []
  deltas.listen(RUN, () => {
    throw new Error('no')
  })
  const leave = deltas.listen(RUN, (piece) => heard.push(piece))
  deltas.tell(RUN, STEP, 1, text('a'))
  leave()
  deltas.tell(RUN, STEP, 1, text('b'))
  expect(assembled(heard)).toBe('a')
})

test('deltas-3: a secret that arrives in several chunks is never streamed, not even its first half', () => {
  const deltas = new TokenStream(createRedaction([{ name: 'PAY_KEY', value: 'correct-horse-battery' }]))
  const heard: TokenChunk[] = []
  deltas.listen(RUN, (piece) => heard.push(piece))
  for (const piece of ['It is cor', 'rect-ho', 'rse-batt', 'ery, and co']) deltas.tell(RUN, STEP, 1, text(piece))
  deltas.over(RUN, STEP)
  expect(heard.map((piece) => piece.text)).toEqual(['It is ', '[redacted:PAY_KEY], and ', 'co'])
  expect(assembled(heard)).toBe('It is [redacted:PAY_KEY], and co')
})
