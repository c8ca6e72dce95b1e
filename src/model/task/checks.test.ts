/** Every kind of person with every action, valid and invalid in every way: the refusal is the first of the guide's list. */
import { expect, test } from 'vitest'
import type { ErrorCode } from '#model/kernel/errors.ts'
import { action, aSpec, custom, hashOf, mails, open, submit, taskAfter, to } from '#test/support/stories/task-story.ts'
import type { ItemChoice, TaskState } from './fact.ts'
import type { Identity, TaskSpec } from './spec.ts'
import { task } from './task.ts'
import { allowedActions } from './view.ts'

const KINDS: readonly Identity['kind'][] = ['user', 'service', 'agent', 'system']
/** Addressed by name, by group, or not at all. */
const PEOPLE = { ana: [], bob: ['editors'], eve: ['guests'] } as const
const NEEDS_REASON: readonly string[] = ['reject', 'request_edit', 'escalate']
const TERMINAL: readonly string[] = ['approve', 'reject', 'edit', 'respond', 'plan_b']
const FIELDS: readonly string[] = ['respond']
const ACTIONS = [
  'approve',
  'reject',
  'edit',
  'request_edit',
  'reassign',
  'escalate',
  'respond',
  'plan_b',
  'hold',
  'nope',
]
const ITEMS: Readonly<Record<string, Readonly<Record<string, ItemChoice>>>> = {
  none: {},
  good: { a: { status: 'edited', modifications: { subject: 'better' } } },
  bad: { a: { status: 'edited', modifications: { subject: '' } } },
}

interface Case {
  readonly who: keyof typeof PEOPLE
  readonly kind: Identity['kind']
  readonly isExcluded: boolean
  readonly isClosed: boolean
  readonly isStale: boolean
  readonly action: string
  readonly hasReason: boolean
  readonly hasFields: boolean
  readonly items: string
}

const BOOLEANS = [false, true]

function* allCases(): Generator<Case> {
  for (const who of Object.keys(PEOPLE) as readonly (keyof typeof PEOPLE)[])
    for (const kind of KINDS)
      for (const isExcluded of BOOLEANS)
        for (const isClosed of BOOLEANS)
          for (const isStale of BOOLEANS)
            for (const name of ACTIONS)
              for (const hasReason of BOOLEANS)
                for (const hasFields of BOOLEANS)
                  for (const items of Object.keys(ITEMS))
                    yield { who, kind, isExcluded, isClosed, isStale, action: name, hasReason, hasFields, items }
}

const isFaultyEdit = ({ action: name, items }: Case): boolean => {
  if (items === 'none') return name === 'edit'
  return items === 'bad' || !TERMINAL.includes(name) || name === 'reject'
}

/** The guide's list, in its order. */
const CHECKS: readonly (readonly [ErrorCode, (given: Case) => boolean])[] = [
  ['AGENT_CANNOT_DECIDE', ({ kind }) => kind !== 'user'],
  ['TASK_FORBIDDEN', ({ who }) => who === 'eve'],
  ['SEPARATION_OF_DUTIES', ({ isExcluded }) => isExcluded],
  ['TASK_CLOSED', ({ isClosed }) => isClosed],
  ['STALE_VIEW', ({ isStale }) => isStale],
  ['ACTION_NOT_ALLOWED', ({ action: name }) => name === 'nope'],
  ['REASON_REQUIRED', ({ action: name, hasReason }) => NEEDS_REASON.includes(name) && !hasReason],
  ['FIELDS_REQUIRED', ({ action: name, hasFields }) => FIELDS.includes(name) && !hasFields],
  ['MODIFICATION_INVALID', isFaultyEdit],
]

const specFor = (excluded: readonly string[]): TaskSpec =>
  aSpec({
    excluded,
    sections: [mails('a', 'b')],
    actions: [
      ...(['approve', 'reject', 'edit', 'request_edit', 'reassign', 'escalate'] as const).map((name) => action(name)),
      action('respond', { requiredFields: ['budget'] }),
      custom('plan_b'),
      custom('hold', { terminal: false, nextState: 'pending' }),
    ],
    levels: [
      { to: to('ana', 'zoe', 'group:editors'), deadline: null },
      { to: to('cfo'), deadline: null },
    ],
  })

interface Life {
  readonly state: TaskState
  readonly hash: string
}

const lifeOf = (spec: TaskSpec, isClosed: boolean): Life => {
  const hash = hashOf(spec)
  const zoe = submit('approve', { by: { id: 'zoe', kind: 'user', groups: [] }, shownHash: hash })
  return { state: taskAfter(open(spec), ...(isClosed ? [zoe] : [])), hash }
}

const judge = (state: TaskState, hash: string, given: Case): ErrorCode | null => {
  const decision = task.decide(
    state,
    submit(given.action, {
      by: { id: given.who, kind: given.kind, groups: PEOPLE[given.who] },
      reason: given.hasReason ? 'because' : null,
      fields: given.hasFields ? { budget: 1 } : {},
      items: ITEMS[given.items] ?? {},
      shownHash: given.isStale ? 'old' : hash,
      to: [{ id: 'bob', kind: 'user' }],
    }),
  )
  if (decision.kind === 'refused') return decision.code
  expect(decision.facts).not.toEqual([])
  return null
}

test('[C5] roles, actions and separation: 11,520 submits are checked in the order of the guide', {
  timeout: 60_000,
}, () => {
  const states = new Map<string, Life>()
  const stateOf = ({ who, isExcluded, isClosed }: Case): Life => {
    const key = `${who} ${isExcluded} ${isClosed}`
    const spec = specFor(isExcluded ? [who] : [])
    const known = states.get(key) ?? lifeOf(spec, isClosed)
    states.set(key, known)
    return known
  }
  const wrong: unknown[] = []
  let count = 0
  for (const given of allCases()) {
    const { state, hash } = stateOf(given)
    const expected = CHECKS.find(([, fails]) => fails(given))?.[0] ?? null
    const found = judge(state, hash, given)
    if (found !== expected) wrong.push({ ...given, expected, found })
    count++
  }
  expect(wrong).toEqual([])
  expect(count).toBe(3 * 4 * 2 ** 5 * 10 * 3)
})

test('a person is offered exactly the actions that would not be refused because of who they are', () => {
  const state = taskAfter(open(specFor(['ana'])))
  const offered = (id: string, kind: Identity['kind'], ...groups: readonly string[]): readonly string[] =>
    allowedActions(state, { id, kind, groups }).map(({ name }) => name)
  expect(offered('bob', 'user', 'editors')).toEqual(ACTIONS.filter((name) => name !== 'nope'))
  expect([offered('ana', 'user'), offered('eve', 'user'), offered('bob', 'agent', 'editors')]).toEqual([[], [], []])
})
