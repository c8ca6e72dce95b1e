/** Properties of every task under any actions of people and time, compared with a reference that reads only facts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTaskFact, writeFact } from '#model/kernel/fact-codec.ts'
import { fold } from '#model/kernel/machine.ts'
import { anyTurns, type Turn } from '#test/support/stories/task-arbitrary.ts'
import { aSpec, hashOf, open, person, submit, taskAfter, to } from '#test/support/stories/task-story.ts'
import type { OpenTask, TaskFact, TaskState } from './fact.ts'
import { draftRevision } from './newer-drafts.ts'
import { votersOf } from './quorum.ts'
import { type Assignees, type Identity, SYSTEM, type TaskSpec } from './spec.ts'
import { task } from './task.ts'
import { taskWakeAt } from './time.ts'
import { allowedActions, inboxRow, taskAnswer } from './view.ts'

/** The machine may be busy with other tests. */
const PATIENCE_MS = 120_000
/** Cases for each property, with random histories of its own: 12,000 in all. */
const CASES = 1_000
let seed = 41

type FactOf<Type extends TaskFact['type']> = Extract<TaskFact, { readonly type: Type }>
const CLOSING = ['task.decided', 'task.expired', 'task.withdrawn']
const factsOf = (turns: readonly Turn[]): readonly TaskFact[] => turns.flatMap(({ facts }) => facts)
const ofType = <Type extends TaskFact['type']>(all: readonly TaskFact[], type: Type): readonly FactOf<Type>[] =>
  all.filter((fact): fact is FactOf<Type> => fact.type === type)
const specOf = (all: readonly TaskFact[]): TaskSpec => {
  const [opened] = ofType(all, 'task.opened')
  if (opened === undefined) throw new Error('every life begins with an opening')
  return opened.spec
}
const openIn = (state: TaskState): OpenTask | null => (state.kind === 'open' ? state : null)

const check = (title: string, property: (turns: readonly Turn[]) => void): void =>
  test(title, { timeout: PATIENCE_MS }, () =>
    fc.assert(fc.property(anyTurns, property), { numRuns: CASES, seed: seed++ }),
  )

check('task-1: a task closes at most once, and after that nothing is said', (turns) => {
  const all = factsOf(turns).filter(({ type }) => type !== 'task.checkpointed')
  const closings = all.filter(({ type }) => CLOSING.includes(type))
  expect(closings.length).toBeLessThanOrEqual(1)
  if (closings[0] !== undefined) expect(all.at(-1)).toBe(closings[0])
  for (const { before, refused, command } of turns)
    if (before.kind === 'closed' && command.type === 'decide_task' && command.by.kind === 'user')
      expect([null, 'TASK_FORBIDDEN', 'SEPARATION_OF_DUTIES', 'IDEMPOTENCY_MISMATCH', 'TASK_CLOSED']).toContain(refused)
})

/** The reference for permissions: from facts alone, the people who could decide before a fact. */
const decidersBefore = (all: readonly TaskFact[], position: number): Assignees => {
  let now: Assignees = { users: [], groups: [] }
  for (const fact of all.slice(0, position)) {
    if (fact.type === 'task.opened') now = fact.spec.levels[0]?.to ?? now
    if (fact.type === 'task.reassigned') now = fact.to
    // People who voted before a reassignment may vote again once no vote counts (task-9).
    if (fact.type === 'task.edited' || fact.type === 'task.revised')
      now = { ...now, users: [...now.users, ...votesUpTo(all, all.indexOf(fact)).map(({ by }) => by)] }
    if (fact.type === 'task.escalated')
      now = { users: [...now.users, ...fact.to.users], groups: [...now.groups, ...fact.to.groups] }
  }
  return now
}

const GROUPS: Readonly<Record<string, string>> = { ana: 'editors', bob: 'editors', cfo: 'leads' }

check('task-2: whoever acts was addressed, is a person, and is not excluded', (turns) => {
  const all = factsOf(turns)
  const spec = specOf(all)
  for (const [position, fact] of all.entries()) {
    if (!('by' in fact) || fact.by === SYSTEM) continue
    const { users, groups } = decidersBefore(all, position)
    expect(users.includes(fact.by) || groups.includes(GROUPS[fact.by] ?? '')).toBe(true)
    expect(spec.excluded).not.toContain(fact.by)
  }
  for (const { command, facts } of turns)
    if ('by' in command && (command.by as Identity).kind !== 'user') expect(facts).toEqual([])
})

check('task-3: a decision is on the hash in force, and the person saw that very one', (turns) => {
  for (const { command, facts, before } of turns) {
    const shown = openIn(before)?.hash
    let hash = shown
    for (const fact of facts) {
      if (fact.type === 'task.edited') {
        expect(fact.previousHash).toBe(hash)
        hash = fact.hash
      }
      if (fact.type !== 'task.decided' && fact.type !== 'task.voted') continue
      expect(fact.hash).toBe(hash)
      if (command.type === 'decide_task') expect(command.shownHash).toBe(shown)
    }
  }
})

/** Returns the votes that count at a position: those since the subject last changed. */
const votesUpTo = (all: readonly TaskFact[], position: number): readonly FactOf<'task.voted'>[] => {
  const before = all.slice(0, position)
  const since = before.findLastIndex(({ type }) => type === 'task.edited' || type === 'task.revised')
  return ofType(before.slice(since + 1), 'task.voted')
}

/** All people and groups of this test, each with their groups. */
const EVERYBODY: readonly Identity[] = [
  person('ana', 'editors'),
  person('bob', 'editors'),
  person('cfo', 'leads'),
  person('eve'),
  person('a member', 'editors', 'leads'),
]

check(
  'task-9: while a task waits for people, at least one of those it shows may vote and close it (14.4.5)',
  (turns) => {
    for (const { after } of turns) {
      if (after.kind !== 'open' || after.status === 'revision_requested') continue
      const { users, groups, except } = votersOf(after)
      expect(users.length + groups.length).toBeGreaterThan(0)
      const shown = EVERYBODY.filter(
        ({ id, groups: own }) =>
          users.includes(id) || (!except.includes(id) && own.some((one) => groups.includes(one))),
      )
      const may = EVERYBODY.filter((by) => allowedActions(after, by).some(({ name }) => name === 'approve'))
      expect(shown).toEqual(may)
      expect(may.length).toBeGreaterThan(0)
    }
  },
)

check('task-9: people who all vote at once, each as they like, close every task (14.4.5)', (turns) => {
  for (const [position, { after }] of turns.entries()) {
    if (after.kind !== 'open' || after.status === 'revision_requested') continue
    let state: TaskState = after
    const members = Array.from({ length: 6 }, (_, k) => person(`m${k}`, 'editors', 'leads'))
    for (const [k, by] of [...EVERYBODY, ...members].entries()) {
      if (state.kind !== 'open') break
      const name = (position + k) % 2 === 0 ? 'approve' : 'reject'
      const drafts = draftRevision(state, by.id)
      const vote = submit(name, { by, shownHash: state.hash, draftsSeen: drafts, now: 1_000_000_000 })
      const decision = task.decide(state, vote)
      if (decision.kind === 'facts') state = fold(task, decision.facts, state)
    }
    expect(state.kind).toBe('closed')
  }
})

check('task-4: votes are of distinct people on one hash, and the last one that is needed closes the task', (turns) => {
  const all = factsOf(turns)
  const quorum = specOf(all).quorum
  for (const [position, fact] of all.entries()) {
    const votes = votesUpTo(all, position)
    expect(new Set(votes.map(({ by }) => by)).size).toBe(votes.length)
    expect(new Set(votes.map(({ hash }) => hash)).size).toBeLessThanOrEqual(1)
    const needed = (outcome: string): number => (outcome === 'approved' ? quorum.approve : quorum.reject)
    const count = (outcome: string): number => votes.filter((vote) => vote.outcome === outcome).length
    if (fact.type !== 'task.decided')
      for (const side of ['approved', 'rejected']) expect(count(side) < needed(side)).toBe(true)
    if (fact.type !== 'task.decided' || fact.by === SYSTEM || fact.status === 'completed') continue
    if (needed(fact.status) > 1) expect(count(fact.status)).toBe(needed(fact.status))
  }
})

check(
  'task-5: each level times out once, reminders go up, and nothing is said to people who wait for a revision',
  (turns) => {
    const all = factsOf(turns)
    const levels = ofType(all, 'task.timed_out').map(({ level }) => level)
    expect(new Set(levels).size).toBe(levels.length)
    const said = ofType(all, 'task.reminded')
    for (const [i, { level, n }] of said.entries())
      for (const earlier of said.slice(0, i)) if (earlier.level === level) expect(n).toBeGreaterThan(earlier.n)
    for (const { before, command, facts } of turns)
      if (command.type === 'pass_time' && openIn(before)?.status === 'revision_requested') expect(facts).toEqual([])
  },
)

check('task-5: a task is woken when something is due, and not before', (turns) => {
  for (const { before, command, facts, after } of turns) {
    if (command.type !== 'pass_time') continue
    const wakeAt = taskWakeAt(before)
    expect(facts.length > 0).toBe(wakeAt !== null && wakeAt <= command.now)
    const next = taskWakeAt(after)
    if (next !== null) expect(next).toBeGreaterThan(command.now)
  }
})

check('task-6: what has a key is done once', (turns) => {
  const keys = factsOf(turns).flatMap((fact) => ('request' in fact ? (fact.request?.key ?? []) : []))
  expect(new Set(keys).size).toBe(keys.length)
})

check('task-7: who has not seen an edit of theirs never decides on the text before it', (turns) => {
  for (const { before, command, facts } of turns) {
    const drafts = openIn(before)?.drafts ?? []
    if (command.type !== 'decide_task' || !facts.some(({ type }) => type === 'task.decided' || type === 'task.voted'))
      continue
    for (const { by, item, content, saved = 0, revision } of drafts) {
      const isUnseen =
        by === command.by.id && revision === openIn(before)?.revision && saved > (command.draftsSeen ?? -1)
      const edit = (content as { content?: unknown } | null)?.content
      if (!isUnseen || item === null || edit === undefined) continue
      const now = openIn(before)?.items.find(({ id }) => id === item)?.content
      expect(command.items[item]?.modifications ?? now).toEqual(edit)
    }
  }
})

check('items are approved, rejected or neither; what is approved was so by everyone who voted for it', (turns) => {
  const all = factsOf(turns)
  for (const [position, fact] of all.entries()) {
    if (fact.type !== 'task.decided' && fact.type !== 'task.voted') continue
    expect(fact.approved.filter((id) => fact.rejected.includes(id))).toEqual([])
    if (fact.type !== 'task.decided' || fact.by === SYSTEM || fact.status !== 'approved') continue
    for (const vote of votesUpTo(all, position).filter(({ outcome }) => outcome === 'approved'))
      expect(fact.approved.filter((id) => !vote.approved.includes(id))).toEqual([])
  }
})

check('limits hold: twenty reassignments, no level that is not there', (turns) => {
  const states = turns.flatMap(({ after }) => openIn(after) ?? [])
  const beyond = states.filter(({ reassigned, level, spec }) => reassigned > 20 || level >= spec.levels.length)
  expect(beyond).toEqual([])
})

check('facts and states survive the ledger, and a checkpoint stands for all before it', (turns) => {
  const all = factsOf(turns)
  for (const fact of all) expect(readTaskFact(writeFact(fact))).toStrictEqual(fact)
  const state = turns.at(-1)?.after ?? task.initial
  expect(JSON.parse(JSON.stringify(state))).toStrictEqual(state)
  expect(fold(task, all)).toStrictEqual(state)
  const since = all.findLastIndex(({ type }) => type === 'task.checkpointed')
  if (since >= 0) expect(fold(task, all.slice(since))).toStrictEqual(state)
})

/** Returns how the inbox row or the answer disagrees with a state; null: they agree. */
const misreading = (state: TaskState): string | null => {
  const [answer, row] = [taskAnswer(state), inboxRow(state)]
  if (row?.isOpen !== (state.kind === 'open')) return 'the row is open and the task is not, or the other way round'
  if (state.kind === 'closed') return answer?.status === row?.status ? null : 'the answer has another status'
  const isAwaited = state.kind === 'open' && state.status === 'revision_requested'
  return (answer !== null) === isAwaited ? null : 'an open task answers only while it waits for a revision'
}

check('answer and row agree with the state', (turns) => {
  expect(turns.flatMap(({ after }) => misreading(after) ?? [])).toEqual([])
})

test('[C5] of many people who decide at once, in any order, one wins and all others get TASK_CLOSED', () => {
  const names = Array.from({ length: 12 }, (_, i) => `p${i}`)
  const spec = aSpec({ levels: [{ to: to(...names), deadline: null }] })
  const shownHash = hashOf(spec)
  const anyOrder = fc.shuffledSubarray(names, { minLength: 2 })
  const verb = fc.array(fc.constantFrom('approve', 'reject'), { minLength: names.length, maxLength: names.length })
  fc.assert(
    fc.property(anyOrder, verb, (order, verbs) => {
      let state = taskAfter(open(spec))
      const answers = order.map((name, i) => {
        const decision = task.decide(state, submit(verbs[i] ?? 'approve', { by: person(name), shownHash }))
        if (decision.kind === 'facts') state = fold(task, decision.facts, state)
        return decision.kind === 'facts' ? 'won' : decision.code
      })
      expect(answers).toEqual(['won', ...order.slice(1).map(() => 'TASK_CLOSED')])
      expect(state).toMatchObject({ end: { by: order[0], action: verbs[0] } })
    }),
    { numRuns: CASES, seed },
  )
})
