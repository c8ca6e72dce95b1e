/** The text of an unfinished answer: any cut of any decision gives a beginning of its final text. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { replySoFar } from './partial-reply.ts'

const decision = fc.record({
  action: fc.constantFrom('reply', 'execute'),
  task: fc.jsonValue(),
  reply: fc.string({ unit: 'binary' }),
  reason: fc.string(),
})

test('partial-reply-1: a beginning of the JSON gives a beginning of the reply', () => {
  fc.assert(
    fc.property(decision, fc.nat(), (given, cut) => {
      const whole = JSON.stringify(given)
      expect(replySoFar(whole)).toBe(given.reply)
      expect(given.reply.startsWith(replySoFar(whole.slice(0, cut % whole.length)))).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('no text makes it throw', () => {
  fc.assert(fc.property(fc.string(), (text) => typeof replySoFar(text) === 'string'))
})

test('half a character or half an escape is left out', () => {
  expect(replySoFar('{"reply": "a\\ud83d')).toBe('a')
  expect(replySoFar('{"reply": "a\\u00e')).toBe('a')
  expect(replySoFar('{"reply": "a\\')).toBe('a')
  expect(replySoFar('```json\n{ "action" : "reply" , "reply" : "Hi')).toBe('Hi')
})
