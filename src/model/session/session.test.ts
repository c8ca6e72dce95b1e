/** The head of a session: changes, checkpoints and forks. */
import { describe, expect, test } from 'vitest'
import { sessionId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { inline } from '#model/kernel/payload.ts'
import { specify } from '#testing/spec.ts'
import {
  type Checkpoint,
  documentOf,
  type LiveSession,
  resumeFrom,
  type SessionBase,
  type SessionCommand,
  type SessionFact,
  session,
} from './session.ts'

type FactOf<Type extends SessionFact['type']> = Extract<SessionFact, { readonly type: Type }>
type CommandOf<Type extends SessionCommand['type']> = Extract<SessionCommand, { readonly type: Type }>

const { given } = specify(session)
const FIRST: Checkpoint = { id: 'cp-1', parents: [], root: 'hash-1' }
const BASE: SessionBase = { session: sessionId('00000000-0000-7000-8000-000000000001'), checkpoint: FIRST }

const created = (base: SessionBase | null = null): SessionFact => ({
  type: 'session.created',
  at: 10,
  mode: 'batch',
  base,
})
const changed = (changes: Partial<FactOf<'session.changed'>> = {}): SessionFact => ({
  type: 'session.changed',
  at: 10,
  key: null,
  set: { name: inline('ana') },
  unset: [],
  ...changes,
})
const checkpointed = (checkpoint: Checkpoint = FIRST): SessionFact => ({
  type: 'session.checkpointed',
  at: 10,
  mode: 'batch',
  checkpoint,
})
const ended: SessionFact = { type: 'session.ended', at: 10, reason: 'done' }

const create = (base: SessionBase | null = null): SessionCommand => ({
  type: 'create_session',
  now: 10,
  mode: 'batch',
  base,
})
const change = (changes: Partial<CommandOf<'change_session'>> = {}): SessionCommand => ({
  type: 'change_session',
  now: 10,
  key: null,
  set: { name: inline('ana') },
  unset: [],
  ...changes,
})
const checkpoint = (id = 'cp-1', root = 'hash-1'): SessionCommand => ({ type: 'checkpoint_session', now: 10, id, root })
const end: SessionCommand = { type: 'end_session', now: 10, reason: 'done' }

const liveAfter = (...history: readonly SessionFact[]): LiveSession => {
  const state = fold(session, history)
  if (state.kind !== 'live') throw new Error(`the session is ${state.kind}, not live`)
  return state
}

describe('life', () => {
  test('[G1] a session is created once', () => {
    given().when(create()).thenFacts(created())
    given(created()).when(create()).thenNothing()
    expect(liveAfter(created(), created(BASE)).head).toBeNull()
  })

  test.each([change(), checkpoint(), end])('$type to a session that does not exist is refused', (command) =>
    given().when(command).thenRefused('NOT_FOUND'),
  )

  test.each([changed(), checkpointed(), ended])('$type before the session is created changes nothing', (fact) =>
    expect(fold(session, [fact])).toBe(session.initial),
  )

  test('a session ends with a reason', () => {
    given(created()).when(end).thenFacts(ended)
    expect(fold(session, [created(), ended])).toMatchObject({ kind: 'ended', reason: 'done', last: { kind: 'live' } })
  })

  test.each([create(), change(), checkpoint(), end])('$type to an ended session is refused', (command) =>
    given(created(), ended).when(command).thenRefused('SESSION_STATE_INVALID'),
  )

  test.each([created(), changed(), checkpointed(), ended])('$type after the end changes nothing', (fact) => {
    const state = fold(session, [created(), ended])
    expect(session.evolve(state, fact)).toBe(state)
  })
})

describe('changes', () => {
  test('a change is recorded', () => given(created()).when(change()).thenFacts(changed()))

  test('session-3: a change that carries a key is applied once', () => {
    given(created())
      .when(change({ key: 'step-1' }))
      .thenFacts(changed({ key: 'step-1' }))
    given(created(), changed({ key: 'step-1' }))
      .when(change({ key: 'step-1' }))
      .thenNothing()
    given(created(), changed({ key: 'step-1' }))
      .when(change({ key: 'step-2' }))
      .thenFacts(changed({ key: 'step-2' }))
  })

  test('session-3: a change without a key is applied as often as it is sent', () =>
    given(created(), changed()).when(change()).thenFacts(changed()))

  test('session-3: a key is forgotten with the next checkpoint', () =>
    given(created(), changed({ key: 'step-1' }), checkpointed())
      .when(change({ key: 'step-1' }))
      .thenFacts(changed({ key: 'step-1' })))

  test("the document is the head's document with the changes applied", () => {
    const state = liveAfter(
      created(),
      changed({ set: { name: inline('ben'), age: inline(7) } }),
      changed({ set: { name: inline('ana') }, unset: ['gone', 'age'] }),
    )
    const atHead = { gone: inline(1), kept: inline(2), name: inline('eve') }
    expect(documentOf(state, atHead)).toStrictEqual({ kept: inline(2), name: inline('ana') })
    expect(Object.keys(atHead)).toHaveLength(3)
  })

  test('a key that is set and unset in one change is unset', () =>
    expect(documentOf(liveAfter(created(), changed({ unset: ['name'] })), { name: inline(1) })).toStrictEqual({}))

  test('any name can be a key, even __proto__', () => {
    const set = JSON.parse('{"__proto__": {"value": 1}}')
    const document = documentOf(liveAfter(created(), changed({ set })), {})
    expect(JSON.stringify(document)).toBe('{"__proto__":{"value":1}}')
  })

  test('a change does not modify the state before it', () => {
    const before = liveAfter(created())
    session.evolve(before, changed({ key: 'step-1' }))
    expect([before.changes.size, before.appliedKeys.size]).toEqual([0, 0])
  })
})

describe('checkpoints', () => {
  test('session-1: [G10] a checkpoint names the root of the document and its parent', () => {
    given(created()).when(checkpoint()).thenFacts(checkpointed())
    given(created(), checkpointed(), changed())
      .when(checkpoint('cp-2', 'hash-2'))
      .thenFacts(checkpointed({ id: 'cp-2', parents: ['cp-1'], root: 'hash-2' }))
  })

  test('session-1: without changes there is no new checkpoint', () =>
    given(created(), checkpointed()).when(checkpoint('cp-2')).thenNothing())

  test('session-1: a checkpoint carries the mode, so that a session can be read from it alone', () =>
    expect(liveAfter(created(), checkpointed()).mode).toBe('batch'))

  test('after a checkpoint there are no changes', () => {
    const state = liveAfter(created(), changed({ key: 'step-1' }), checkpointed())
    expect(state).toEqual({ kind: 'live', mode: 'batch', head: FIRST, changes: new Map(), appliedKeys: new Set() })
  })
})

describe('forks', () => {
  test('session-2: a fork begins at one checkpoint and its root', () => {
    given().when(create(BASE)).thenFacts(created(BASE))
    expect(liveAfter(created(BASE))).toMatchObject({ head: FIRST, changes: new Map() })
  })

  test('session-2: the first checkpoint of a fork has the checkpoint that it began at as its parent', () =>
    given(created(BASE), changed())
      .when(checkpoint('cp-2', 'hash-2'))
      .thenFacts(checkpointed({ id: 'cp-2', parents: ['cp-1'], root: 'hash-2' })))

  test('session-2: a fork without changes makes no checkpoint of its own', () =>
    given(created(BASE)).when(checkpoint('cp-2')).thenNothing())
})

describe('the tail of a history', () => {
  const history = [created(), changed({ key: 'a' }), checkpointed(), changed({ key: 'b' }), ended]

  test('the tail from the last checkpoint on is enough', () =>
    expect(resumeFrom(history.slice(2))).toEqual(fold(session, history)))

  test('the tail from the creation of the session on is enough', () =>
    expect(resumeFrom(history.slice(0, 2))).toEqual(fold(session, history.slice(0, 2))))

  test('a tail without a checkpoint or the creation is not enough', () => {
    expect(resumeFrom(history.slice(3))).toBeNull()
    expect(resumeFrom([])).toBeNull()
  })
})
