/**
 * Arbitrary facts and commands of a session, and histories that the machine itself made.
 *
 * Owns a small world: few keys and names, so that random changes interact.
 */
import fc from 'fast-check'
import { sessionId } from '#model/kernel/ids.ts'
import { inline, type Payload } from '#model/kernel/payload.ts'
import {
  type Checkpoint,
  type SessionBase,
  type SessionCommand,
  type SessionDocument,
  type SessionFact,
  type SessionMode,
  session,
} from '#model/session/session.ts'

type FactOf<Type extends SessionFact['type']> = Extract<SessionFact, { readonly type: Type }>
type CommandOf<Type extends SessionCommand['type']> = Extract<SessionCommand, { readonly type: Type }>

const name = fc.constantFrom('name', 'age', 'notes', '__proto__')
const value: fc.Arbitrary<Payload> = fc.integer({ min: 0, max: 5 }).map(inline)
const set: fc.Arbitrary<SessionDocument> = fc.array(fc.tuple(name, value), { maxLength: 3 }).map(Object.fromEntries)
const unset = fc.array(name, { maxLength: 2 })
const key = fc.option(fc.constantFrom('k1', 'k2', 'k3'))
const mode = fc.constantFrom<SessionMode>('interactive', 'scheduled', 'daemon', 'batch', 'hierarchical')
const text = fc.string({ maxLength: 3 })
const checkpoint: fc.Arbitrary<Checkpoint> = fc.record({
  id: text,
  parents: fc.array(text, { maxLength: 2 }),
  root: text,
})
const base: fc.Arbitrary<SessionBase | null> = fc.option(
  fc.record({ session: fc.option(fc.constant(sessionId('00000000-0000-7000-8000-000000000001'))), checkpoint }),
)

const at = fc.integer({ min: 0, max: 60 })
const factArbitraries: { readonly [Type in SessionFact['type']]: fc.Arbitrary<FactOf<Type>> } = {
  'session.created': fc.record({ type: fc.constant('session.created'), at, mode, base }),
  'session.changed': fc.record({ type: fc.constant('session.changed'), at, key, set, unset }),
  'session.checkpointed': fc.record({ type: fc.constant('session.checkpointed'), at, mode, checkpoint }),
  'session.ended': fc.record({ type: fc.constant('session.ended'), at, reason: text }),
}

const now = at
const commandArbitraries: { readonly [Type in SessionCommand['type']]: fc.Arbitrary<CommandOf<Type>> } = {
  create_session: fc.record({ type: fc.constant('create_session'), now, mode, base }),
  change_session: fc.record({ type: fc.constant('change_session'), now, key, set, unset }),
  checkpoint_session: fc.record({ type: fc.constant('checkpoint_session'), now, id: text, root: text }),
  end_session: fc.record({ type: fc.constant('end_session'), now, reason: text }),
}

export const anySessionFact: fc.Arbitrary<SessionFact> = fc.oneof(...Object.values(factArbitraries))
export const anySessionCommand: fc.Arbitrary<SessionCommand> = fc.oneof(...Object.values(commandArbitraries))

const { create_session, change_session, checkpoint_session, end_session } = commandArbitraries
const likelyCommand: fc.Arbitrary<SessionCommand> = fc.oneof(
  { arbitrary: change_session, weight: 12 },
  { arbitrary: checkpoint_session, weight: 6 },
  { arbitrary: create_session, weight: 1 },
  { arbitrary: end_session, weight: 1 },
)

/** The facts that the machine recorded for the creation and then any commands. */
export const anySessionHistory: fc.Arbitrary<readonly SessionFact[]> = fc
  .tuple(create_session, fc.array(likelyCommand, { maxLength: 25, size: 'max' }))
  .map(([first, rest]) => record([first, ...rest]))

const record = (commands: readonly SessionCommand[]): readonly SessionFact[] => {
  const history: SessionFact[] = []
  let state = session.initial
  for (const command of commands) {
    const decision = session.decide(state, command)
    if (decision.kind === 'refused') continue
    history.push(...decision.facts)
    state = decision.facts.reduce(session.evolve, state)
  }
  return history
}
