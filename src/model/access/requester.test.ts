/** Who counts as the requester of a chain of causes, and how it is passed on. */
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
  test('requester-1: a person is the requester, also through a program that uses their credential (14.5)', () => {
    expect(requestersOf(by('user'))).toEqual({ requesters: ['ana'] })
    expect(requestersOf({ ...by('agent', 'robot'), requester: 'ana' })).toEqual({ requesters: ['ana'] })
    for (const asked of [{}, by('service'), by('agent')]) expect(requestersOf(asked)).toEqual({})
  })

  test('requester-1: the requester comes from the chain, else from the declared field, else it is unknown (14.5)', () => {
    expect(knownRequesters(['ana'], 'bob')).toEqual(['ana'])
    expect(knownRequesters([], 'bob')).toEqual(['bob'])
    expect(knownRequesters([], null)).toEqual([])
  })

  test('requester-1: a cause passes its requesters on (14.5)', () => {
    const cause = { correlationId: 'c', causationId: null, traceparent: null, hops: 0, chain: [] }
    expect(causedBy({ ...cause, requesters: ['ana'] }, 'run', 'work').requesters).toEqual(['ana'])
    expect(Object.hasOwn(causedBy(cause, 'run', 'work'), 'requesters')).toBe(false)
  })

  test('several causes have all their requesters, each once', () => {
    expect(requestersIn([{ requesters: ['ana'] }, {}, { requesters: ['bob', 'ana'] }])).toEqual({
      requesters: ['ana', 'bob'],
    })
    expect(requestersIn([{}])).toEqual({})
  })

  test.each([{}, { requesters: ['ana', 'b"\n'] }])('%j is read back as it was written', (asked) => {
    expect(readRequesters(requestersText(asked))).toEqual(asked)
  })

  test('the requester field counts only if it holds a non-empty text', () => {
    expect(
      [{ requester: 'ana' }, { requested_by: 'bob' }, { requester: '' }, { requester: 7 }, null, 'x'].map(
        declaredRequester,
      ),
    ).toEqual(['ana', 'bob', null, null, null, null])
  })
})
