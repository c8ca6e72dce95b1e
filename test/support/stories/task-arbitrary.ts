/**
 * Arbitrary lives of a task: a spec, and commands of few people at instants that mostly increase.
 *
 * Owns a small world, so that random commands interact: four people, three items, short levels. Most submits are well formed; their hash is
 * that of the task at that moment.
 */
import fc from 'fast-check'
import type { Instant } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import type { Addressee, ItemChoice, Submit, TaskCommand, TaskFact, TaskState } from '#model/task/fact.ts'
import { draftRevision } from '#model/task/newer-drafts.ts'
import { isInReach } from '#model/task/quorum.ts'
import type { Deadline, Identity, Level, Reminders, TaskSpec } from '#model/task/spec.ts'
import { task } from '#model/task/task.ts'
import { ALL_ACTIONS, ana, aSpec, bob, cfo, custom, document, eve, HOUR, mails, open, to, world } from './task-story.ts'

const option = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value, { freq: 2 })

const deadline: fc.Arbitrary<Deadline> = fc.oneof(
  fc.record({ kind: fc.constant('after'), ms: fc.integer({ min: 1, max: 30 }).map((hours) => hours * HOUR) }),
  fc.record({ kind: fc.constant('at'), at: fc.integer({ min: 0, max: 60 }).map((hours) => hours * HOUR) }),
)

const level: fc.Arbitrary<Level> = fc.record({
  to: fc.constantFrom(to('cfo'), to('group:leads'), to('group:editors', 'eve')),
  deadline: option(deadline),
})

const reminders: fc.Arbitrary<Reminders> = fc.oneof(
  fc.record({ kind: fc.constant('before'), beforeMs: fc.constantFrom([24 * HOUR, 4 * HOUR], [2 * HOUR]) }),
  fc.record({
    kind: fc.constant('every'),
    everyMs: fc.constantFrom(HOUR, 6 * HOUR),
    startAfterMs: fc.constantFrom(HOUR, 12 * HOUR),
    max: fc.integer({ min: 1, max: 4 }),
  }),
)

const ACTIONS = [
  ...ALL_ACTIONS,
  custom('hold', { terminal: false, nextState: 'pending' }),
  custom('look', { terminal: false, nextState: 'in_review' }),
  custom('wave_through', { nextState: 'approved', marksApproved: ['a', 'b'] }),
]

const anySpec: fc.Arbitrary<TaskSpec> = fc
  .record({
    base: fc.record({
      to: fc.constantFrom(
        to('group:editors'),
        to('ana', 'bob', 'group:leads'),
        to('ana', 'bob', 'cfo'),
        to('ana', 'bob'),
      ),
      deadline: option(deadline),
    }),
    above: fc.array(level, { maxLength: 3 }),
    reminders: option(reminders),
    autoAction: option(fc.constantFrom('approve', 'reject', 'escalate', 'expire', 'hold')),
    quorum: fc.record({ approve: fc.constantFrom(1, 1, 2, 3), reject: fc.constantFrom(1, 1, 2) }),
    excluded: fc.constantFrom([], [], ['bob'], ['cfo']),
  })
  .map(({ base, above, ...parts }) =>
    aSpec({
      ...parts,
      levels: [base, ...above],
      actions: ACTIONS,
      sections: [mails('a', 'b', 'c'), document('letter', { text: 'Dear' })],
    }),
  )
  // Others are never opened (task-9).
  .filter((spec) => isInReach(spec, spec.levels[0]?.to ?? to()))

const ROBOT: Identity = { id: 'ana', kind: 'agent', groups: ['editors'] }
const person = fc.oneof(
  { arbitrary: fc.constantFrom(ana, bob, cfo), weight: 12 },
  { arbitrary: fc.constantFrom<Identity[]>(eve, ROBOT), weight: 1 },
)

/** Mostly the same person, who then also unclaims. */
const visitor = fc.constantFrom(ana, ana, ana, ana, bob, eve, ROBOT)

const choice: fc.Arbitrary<ItemChoice> = fc.oneof(
  fc.record({ status: fc.constantFrom('approved', 'rejected') }),
  fc.record({ status: fc.constant('edited'), modifications: fc.constantFrom({ subject: 'x' }, { subject: 'y' }) }),
)

const addressee: fc.Arbitrary<Addressee> = fc.constantFrom<Addressee[]>(
  { id: 'eve', kind: 'user' },
  { id: 'bob', kind: 'user' },
  { id: 'ana', kind: 'user' },
  { id: 'cfo', kind: 'user' },
  { id: 'editors', kind: 'group' },
  { id: 'bot', kind: 'agent' },
)

type Submission = Pick<Submit, 'by' | 'action' | 'reason' | 'items' | 'to' | 'request'> & {
  readonly isStale: boolean
  /** Which of their own drafts they have seen. */
  readonly sees: 'all' | 'some' | 'none'
}

const intent: fc.Arbitrary<Submission> = fc.record({
  by: person,
  // Commands that leave the task open are more frequent, because most lives should not be short.
  action: fc.constantFrom(...ACTIONS.flatMap(({ name, terminal }) => (terminal ? name : [name, name, name])), 'nope'),
  reason: fc.constantFrom('because', 'because', null),
  items: fc.oneof(
    { arbitrary: fc.constant({}), weight: 3 },
    {
      arbitrary: fc.dictionary(fc.constantFrom('a', 'b', 'c'), choice, { maxKeys: 2, noNullPrototype: true }),
      weight: 2,
    },
  ),
  to: fc.array(addressee, { minLength: 1, maxLength: 2 }),
  request: fc.option(fc.record({ key: fc.constantFrom('k1', 'k2'), hash: fc.constantFrom('h1', 'h2') }), { freq: 4 }),
  isStale: fc.constantFrom(false, false, false, false, false, true),
  sees: fc.constantFrom('all', 'all', 'none', 'some'),
})

/** The next command, and its delay after the one before. */
interface Happening {
  readonly waitMs: number
  readonly what:
    | { readonly kind: 'decide'; readonly intent: Submission }
    | { readonly kind: 'view' | 'claim' | 'unclaim' | 'draft' | 'follow_up'; readonly by: Identity }
    | { readonly kind: 'pass' | 'revise' | 'withdraw' | 'checkpoint' | 'open' }
}

const what: fc.Arbitrary<Happening['what']> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('decide'), intent }), weight: 10 },
  {
    arbitrary: fc.record({
      kind: fc.constantFrom('view', 'claim', 'claim', 'unclaim', 'unclaim', 'draft', 'follow_up'),
      by: visitor,
    }),
    weight: 8,
  },
  { arbitrary: fc.record({ kind: fc.constant('pass') }), weight: 8 },
  { arbitrary: fc.record({ kind: fc.constant('revise') }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constantFrom('checkpoint', 'open', 'withdraw') }), weight: 1 },
)

const happening: fc.Arbitrary<Happening> = fc.record({
  waitMs: fc.oneof(
    { arbitrary: fc.integer({ min: 0, max: 20 }).map((hours) => hours * HOUR), weight: 12 },
    { arbitrary: fc.constant(-3 * HOUR), weight: 1 },
  ),
  what,
})

const seenDrafts = (sees: Submission['sees'], newest: number): number | null => {
  if (sees === 'none') return null
  return sees === 'all' ? newest : newest - 1
}

const decide = ({ isStale, sees, ...given }: Submission, state: TaskState, now: Instant): TaskCommand => {
  const known = state.kind === 'closed' ? state.task : state
  const hash = known.kind === 'none' ? '' : known.hash
  const draftsSeen = seenDrafts(sees, known.kind === 'none' ? 0 : draftRevision(known, given.by.id))
  return { type: 'decide_task', now, world, fields: {}, ...given, shownHash: isStale ? 'old' : hash, draftsSeen }
}

const DRAFTS: readonly Json[] = [{ verdict: 'reject' }, { verdict: 'approve' }, { content: { subject: 'x' } }, null]

const commandOf = (given: Happening['what'], state: TaskState, now: Instant, spec: TaskSpec): TaskCommand => {
  switch (given.kind) {
    case 'decide':
      return decide(given.intent, state, now)
    case 'view':
      return { type: 'view_task', now, by: given.by }
    case 'claim':
      return { type: 'claim_task', now, by: given.by }
    case 'unclaim':
      return { type: 'unclaim_task', now, by: given.by }
    case 'draft':
      return { type: 'save_draft', now, by: given.by, item: 'a', content: DRAFTS[(now / HOUR) % DRAFTS.length] ?? null }
    case 'follow_up':
      return { type: 'set_follow_up', now, by: given.by, until: now + HOUR }
    case 'pass':
      return { type: 'pass_time', now }
    case 'revise':
      return { type: 'revise_task', now, world, sections: [mails('a', 'b', `d${now}`)] }
    case 'withdraw':
      return { type: 'withdraw_task', now, reason: 'cancelled' }
    case 'checkpoint':
      return { type: 'checkpoint_task', now }
    case 'open':
      return open(spec, now)
  }
}

export interface Turn {
  readonly command: TaskCommand
  readonly before: TaskState
  readonly facts: readonly TaskFact[]
  readonly refused: string | null
  readonly after: TaskState
}

/** Runs a spec and its commands; returns each command with its result. */
const live = (spec: TaskSpec, happenings: readonly Happening[]): readonly Turn[] => {
  const turns: Turn[] = []
  let state: TaskState = task.initial
  let now: Instant = HOUR
  const take = (command: TaskCommand): void => {
    const decision = task.decide(state, command)
    const facts = decision.kind === 'facts' ? decision.facts : []
    const after = fold(task, facts, state)
    turns.push({ command, before: state, facts, refused: decision.kind === 'refused' ? decision.code : null, after })
    state = after
  }
  take(open(spec, now))
  for (const { waitMs, what: given } of happenings) {
    now = Math.max(0, now + waitMs)
    take(commandOf(given, state, now, spec))
  }
  return turns
}

export const anyTurns: fc.Arbitrary<readonly Turn[]> = fc
  .tuple(anySpec, fc.array(happening, { maxLength: 24 }))
  // Plain objects, as they come out of the ledger.
  .map((drawn) => JSON.parse(JSON.stringify(drawn)) as typeof drawn)
  .map(([spec, happenings]) => live(spec, happenings))
