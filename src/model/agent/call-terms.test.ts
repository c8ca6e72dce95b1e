/** What a caller demands of one run besides its input: its effect, its deadline and how it reports a partial end. */
import { expect, test } from 'vitest'
import { deadlineUnder, effectUnder, partialEnd, partialIn } from './call-terms.ts'

test.each([
  ['idempotent', undefined, 'idempotent'],
  ['idempotent', 'once', 'once'],
  ['once', 'transactional', 'once'],
  ['transactional', 'once', 'transactional'],
] as const)('call-terms-1: a handler that is %s, called with effect %s, is %s (15.1.3)', (own, effect, comes) => {
  expect(effectUnder(own, effect === undefined ? {} : { effect })).toBe(comes)
})

test('a run ends at the instant of its handler or of its caller, whichever comes first (15.1.3)', () => {
  expect([null, 50, 200].map((own) => deadlineUnder(own, { withinMs: 90 }, 10))).toEqual([100, 50, 100])
  expect([null, 50].map((own) => deadlineUnder(own, {}, 10))).toEqual([null, 50])
})

test('a partial end differs from any output that looks similar (15.1.3)', () => {
  expect([partialIn(partialEnd({ n: 1 })), partialIn({ n: 1 }), partialIn(null)]).toEqual([
    { output: { n: 1 } },
    null,
    null,
  ])
})
