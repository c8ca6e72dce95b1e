import { expect, test } from 'vitest'
import { readTerms, writeTerms } from './terms.ts'

const KEYS = { keys: ['status', 'handler', 'session'], bare: 'handler' }

test('terms are read in any order, and a value may have spaces', () => {
  expect(readTerms('  handler:greet STATUS:failed ', KEYS)).toEqual({ terms: { handler: 'greet', status: 'failed' } })
  expect(readTerms('handler:"say hello"', KEYS)).toEqual({ terms: { handler: 'say hello' } })
  expect(readTerms('', KEYS)).toEqual({ terms: {} })
  expect(readTerms('greet status:failed', KEYS)).toEqual({ terms: { handler: 'greet', status: 'failed' } })
})

test('what was written is read again as it was', () => {
  const terms = { status: 'failed', handler: 'say hello' }
  expect(readTerms(writeTerms({ ...terms, session: undefined }), KEYS)).toEqual({ terms })
})

test.each([
  ['greet send', 'handler: appears twice'],
  ['state:failed', 'Unknown filter state. Use status: handler: session:'],
  ['status:', 'status: needs a value'],
  ['status:failed status:waiting', 'status: appears twice'],
])('%s is refused, and it is said why', (text, problem) => {
  expect(readTerms(text, KEYS)).toEqual({ problem })
})
