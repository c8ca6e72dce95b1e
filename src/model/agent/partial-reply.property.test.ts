/** Words of an answer on its way: any cut of any decision says a beginning of what it will say. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { replySoFar } from './partial-reply.ts'

const decision = fc.record({
  action: fc.constantFrom('reply', 'execute'),
  task: fc.jsonValue(),
  reply: fc.string({ unit: 'binary' }),
  reason: fc.string(),
})

test('partial-reply-1: a beginning says a beginning', () => {
  fc.assert(
    fc.property(decision, fc.nat(), (given, cut) => {
      const whole = JSON.stringify(given)
      expect(replySoFar(whole)).toBe(given.reply)
      expect(given.reply.startsWith(replySoFar(whole.slice(0, cut % whole.length)))).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('whatever the text is, nothing is thrown', () => {
  fc.assert(fc.property(fc.string(), (text) => typeof replySoFar(text) === 'string'))
})

test('half a character is not told, nor is half an escape', () => {
  expect(replySoFar('{"reply": "a\\ud83d')).toBe('a')
  expect(replySoFar('{"reply": "a\\u00e')).toBe('a')
  expect(replySoFar('{"reply": "a\\')).toBe('a')
  expect(replySoFar('```json\n{ "action" : "reply" , "reply" : "Hi')).toBe('Hi')
})
