/** Every fact has a sentence, and an open step says what it waits for. */
import { expect, test } from 'vitest'
import { openWait, receive } from '#model/event/wait.ts'
import { taskId } from '#model/kernel/ids.ts'
import { aStart, aWait, BROKEN, CHILD, FACT_TYPES, fact } from '#test/support/stories/run-story.ts'
import { describeFact, describeOpenStep } from './fact-text.ts'

test.each(FACT_TYPES)('%s has a sentence', (type) => {
  const text = describeFact(fact(type))
  expect(text).toMatch(/^[a-z]/)
  expect(text).not.toMatch(/undefined|\[object|NaN/)
})

test('the sentence of a start names what started the run', () => {
  expect(describeFact(fact('run.started', aStart()))).toBe('send-mail was called')
  expect(describeFact(fact('run.started', aStart({ input: { kind: 'event' } })))).toBe('an event started send-mail')
  expect(describeFact(fact('run.started', aStart({ parentStep: 'mail' })))).toBe(
    'send-mail was called by step mail of its parent',
  )
})

test('the sentence of a failed attempt gives the error and the time of the next one', () => {
  expect(describeFact(fact('step.retry_scheduled', { attempt: 2, wakeAt: 1_000 }))).toBe(
    'attempt 2 failed, FUNCTION_FAILED: it broke; the next one is at 1970-01-01T00:00:01.000Z',
  )
})

test('a task for people has another sentence than a called run', () => {
  const child = taskId('0'.repeat(32))
  expect(describeFact(fact('child.started', { child }))).toBe(`asked people: ${child}`)
  expect(describeOpenStep({ kind: 'calling', child, handler: 'child' }).text).toBe(`people: ${child}`)
})

test('the sentence of a failed child gives its error', () => {
  const failed = fact('child.ended', { end: { kind: 'failed', error: BROKEN } })
  expect(describeFact(failed)).toBe(`${CHILD} failed, FUNCTION_FAILED: it broke`)
})

test('a wait for several events names only those that are still missing', () => {
  const wait = openWait(
    aWait({ mode: 'all', types: ['mail.sent', 'mail.read'], match: null, condition: null, timeoutAt: null }),
  )
  const after = receive(wait, { type: 'mail.sent', sequence: 101 })
  expect(describeOpenStep({ kind: 'waiting', wait: after }).text).toBe('an event: mail.read')
})

test('the sentence of a wait gives its match, its condition and its timeout', () => {
  const spec = aWait({ types: ['a', 'b'], match: { path: 'id', value: '7' }, condition: 'payload.ok', timeoutAt: 0 })
  expect(describeOpenStep({ kind: 'waiting', wait: openWait(spec) }).text).toBe(
    'an event: a or b with id = 7 if payload.ok, until 1970-01-01T00:00:00.000Z',
  )
})

test('an uncertain step waits for an answer from a person', () => {
  const { kind, text } = describeOpenStep({
    kind: 'uncertain',
    attempt: 1,
    effectKey: 'k',
    reason: 'the worker is gone',
    isOver: true,
    task: null,
  })
  expect([kind, text]).toEqual(['uncertain', 'an answer to "Did it happen?": the worker is gone'])
})
