/** Who counts as the requester of a chain, and what a cause keeps of it. */
import { describe, expect, test } from 'vitest'
import { causedBy } from '#model/event/trigger.ts'
import {
  declaredRequester,
  knownRequesters,
  readRequesters,
  requestersIn,
  requestersOf,
  requestersText,
} from './requester.ts'

const by = (kind: 'user' | 'service' | 'agent', id = 'ana') => ({ by: { id, kind, groups: [] } })

describe('the requester', () => {
  test('requester-1: is a person, or the person whose credential a program has (14.5)', () => {
    expect(requestersOf(by('user'))).toEqual({ requesters: ['ana'] })
    expect(requestersOf({ ...by('agent', 'robot'), requester: 'ana' })).toEqual({ requesters: ['ana'] })
    for (const asked of [{}, by('service'), by('agent')]) expect(requestersOf(asked)).toEqual({})
  })

  test('requester-1: is of the chain first, then of the field, and otherwise not known (14.5)', () => {
    expect(knownRequesters(['ana'], 'bob')).toEqual(['ana'])
    expect(knownRequesters([], 'bob')).toEqual(['bob'])
    expect(knownRequesters([], null)).toEqual([])
  })

  test('requester-1: goes on with the cause (14.5)', () => {
    const cause = { correlationId: 'c', causationId: null, traceparent: null, hops: 0, chain: [] }
    expect(causedBy({ ...cause, requesters: ['ana'] }, 'run', 'work').requesters).toEqual(['ana'])
    expect(Object.hasOwn(causedBy(cause, 'run', 'work'), 'requesters')).toBe(false)
  })

  test('of several causes are all, each once', () => {
    expect(requestersIn([{ requesters: ['ana'] }, {}, { requesters: ['bob', 'ana'] }])).toEqual({
      requesters: ['ana', 'bob'],
    })
    expect(requestersIn([{}])).toEqual({})
  })

  test.each([{}, { requesters: ['ana', 'b"\n'] }])('%j is read as it was written', (asked) => {
    expect(readRequesters(requestersText(asked))).toEqual(asked)
  })

  test('a field names a person with a text that is not empty', () => {
    expect(
      [{ requester: 'ana' }, { requested_by: 'bob' }, { requester: '' }, { requester: 7 }, null, 'x'].map(
        declaredRequester,
      ),
    ).toEqual(['ana', 'bob', null, null, null, null])
  })
})
