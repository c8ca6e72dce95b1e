/** What holds for every session, with any facts and any commands. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fold } from '#model/kernel/machine.ts'
import type { Payload } from '#model/kernel/payload.ts'
import { anySessionCommand, anySessionFact, anySessionHistory } from '#test/support/stories/session-arbitrary.ts'
import { documentOf, resumeFrom, type SessionFact, session } from './session.ts'

const OPTIONS = { numRuns: 1_000, seed: 5 }
const anyFacts = fc.array(anySessionFact, { maxLength: 20 })

/** The document by brute force: every change of the whole history in order. */
const documentByReplay = (history: readonly SessionFact[]): Map<string, Payload> => {
  const document = new Map<string, Payload>()
  for (const fact of history) {
    if (fact.type !== 'session.changed') continue
    for (const [key, payload] of Object.entries(fact.set)) document.set(key, payload)
    for (const key of fact.unset) document.delete(key)
  }
  return document
}

test('any facts in any order fold without throwing, from the beginning and from any state on the way', () => {
  fc.assert(
    fc.property(anyFacts, fc.nat(20), (history, cut) => {
      const middle = fold(session, history.slice(0, cut))
      expect(fold(session, history.slice(cut), middle)).toEqual(fold(session, history))
    }),
    OPTIONS,
  )
})

test('any state answers any command without throwing', () => {
  fc.assert(
    fc.property(anyFacts, anySessionCommand, (history, command) => {
      expect(['facts', 'refused']).toContain(session.decide(fold(session, history), command).kind)
    }),
    OPTIONS,
  )
})

test('session-3: a command given twice records nothing or is refused the second time, except a change without a key', () => {
  fc.assert(
    fc.property(anySessionHistory, anySessionCommand, (history, command) => {
      if (command.type === 'change_session' && command.key === null) return
      const decision = session.decide(fold(session, history), command)
      if (decision.kind === 'refused') return
      const again = session.decide(fold(session, [...history, ...decision.facts]), command)
      expect(again.kind === 'refused' || again.facts.length === 0).toBe(true)
    }),
    OPTIONS,
  )
})

test('session-1: the only parent of each checkpoint is the one before it, or the one that the session began at', () => {
  fc.assert(
    fc.property(anySessionHistory, (history) => {
      let head = history[0]?.type === 'session.created' ? (history[0].base?.checkpoint.id ?? null) : null
      for (const fact of history) {
        if (fact.type !== 'session.checkpointed') continue
        expect(fact.checkpoint.parents).toEqual(head === null ? [] : [head])
        head = fact.checkpoint.id
      }
    }),
    OPTIONS,
  )
})

test('session-1: the document is the same whether it is built from the last checkpoint or from the beginning', () => {
  fc.assert(
    fc.property(anySessionHistory, (history) => {
      const state = fold(session, history)
      const live = state.kind === 'ended' ? state.last : state
      if (live.kind === 'none') return
      const last = history.findLastIndex((fact) => fact.type === 'session.checkpointed')
      const atHead = Object.fromEntries(documentByReplay(history.slice(0, last + 1)))
      expect(new Map(Object.entries(documentOf(live, atHead)))).toEqual(documentByReplay(history))
    }),
    OPTIONS,
  )
})

test('the tail of a history is enough if it contains a checkpoint or the creation of the session', () => {
  fc.assert(
    fc.property(anySessionHistory, fc.nat(20), (history, cut) => {
      const tail = history.slice(cut)
      const reaches = tail.some((fact) => fact.type === 'session.checkpointed' || fact.type === 'session.created')
      expect(resumeFrom(tail)).toEqual(reaches ? fold(session, history) : null)
    }),
    OPTIONS,
  )
})
