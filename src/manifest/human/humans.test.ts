/** Humans as an author writes them: defaults, refusals, and the task made from them. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { normalise, type SystemSource } from '#manifest/define/define.ts'
import type { System } from '#manifest/define/system.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Human, People } from '#model/task/human.ts'
import type { TaskSpec } from '#model/task/spec.ts'
import { type HumanOptions, human, taskOfStep } from './humans.ts'

const digest = (text: string): string => String(text.length).padStart(16, text)
const systemOf = (options: HumanOptions, rest: Partial<SystemSource> = {}): System =>
  normalise({ name: 'test', humans: [human('review-mailing', options)], ...rest }, digest)
const humanOf = (options: HumanOptions): Human => systemOf(options).functions.get('review-mailing')?.code as Human

const refusalOf = (options: HumanOptions): string => {
  try {
    systemOf(options)
    return 'none'
  } catch (error) {
    return error instanceof TrihandError ? `${error.code} ${error.place?.path ?? ''}` : String(error)
  }
}

const HOUR = 3_600_000
const PEOPLE: People = {
  isKnown: (user) => user !== 'ghost',
  requesters: ['rita'],
  decidersOf: (step) => [`${step}-er`],
}
const PAYLOAD = {
  audience: 'all',
  owner_id: 'ana',
  drafts: [{ id: 'm1', subject: 'Hello' }, { subject: 'Bye' }],
}
const taskFrom = (options: HumanOptions, payload: Json = PAYLOAD, people: People = PEOPLE): TaskSpec =>
  humanOf(options).make({ payload, event: {}, trigger: {}, run: {} }, people)

/** The example of the guide, in the words of the author API. */
const MAILING: HumanOptions = {
  taskType: 'approval',
  triggers: ['mailing.ready'],
  assign: { group: 'editors', rule: 'payload.owner_id' },
  bundle: {
    sections: [
      { id: 'facts', type: 'summary', content: { audience: '{{payload.audience}}' } },
      {
        id: 'mails',
        type: 'review_items',
        items: { expr: 'payload.drafts' },
        editable: true,
        schema: z.object({ subject: z.string() }),
      },
    ],
  },
  actions: [
    'approve',
    { name: 'reject', emitsEvent: 'mailing.rejected' },
    { name: 'request_edit', returnsTo: 'draft' },
    { name: 'hold', label: 'Hold a week', terminal: false },
  ],
  deadline: '48h',
  reminders: ['4h', '24h'],
  escalation: [{ to: 'group:leads', deadline: '24h' }, { to: 'user:cfo' }],
  quorum: { approve: 2, reject: 1 },
  separation: 'requester',
}

describe('a human', () => {
  test('is a handler whose modality is human, and its actions declare their events', () => {
    const system = systemOf(MAILING)
    expect(system.functions.get('review-mailing')).toMatchObject({ modality: 'human', retry: { maxAttempts: 1 } })
    expect(system.listeners.get('mailing.ready')?.[0]?.handler.name).toBe('review-mailing')
    expect(system.events.has('mailing.rejected')).toBe(true)
  })

  test('[C13] makes a task from the event that started it', () => {
    const task = taskFrom(MAILING)
    expect(task).toMatchObject({
      type: 'approval',
      title: 'review mailing',
      requester: 'rita',
      excluded: ['rita'],
      quorum: { approve: 2, reject: 1 },
      reminders: { kind: 'before', beforeMs: [24 * HOUR, 4 * HOUR] },
      autoAction: 'escalate',
    })
    expect(task.levels).toEqual([
      { to: { users: ['ana'], groups: ['editors'] }, deadline: { kind: 'after', ms: 48 * HOUR } },
      { to: { users: [], groups: ['leads'] }, deadline: { kind: 'after', ms: 24 * HOUR } },
      { to: { users: ['cfo'], groups: [] }, deadline: null },
    ])
    expect(task.sections[0]?.content).toEqual({ audience: 'all' })
    expect(task.sections[1]?.items).toEqual([
      { id: 'm1', title: 'Hello', content: { id: 'm1', subject: 'Hello' } },
      { id: '1', title: 'Bye', content: { subject: 'Bye' } },
    ])
    expect(task.sections[1]?.schema).toMatchObject({ type: 'object', required: ['subject'] })
  })

  test('has the actions of its type, and those that its sections and levels make possible', () => {
    const names = (options: HumanOptions): readonly string[] =>
      humanOf(options).definition.actions.map(({ name }) => name)
    expect(names({})).toEqual(['approve', 'reject', 'reassign'])
    expect(names({ taskType: 'review' })).toEqual(['approve', 'request_edit', 'reject', 'reassign'])
    expect(names({ taskType: 'input' })).toEqual(['respond', 'reassign'])
    expect(names({ taskType: 'decision', escalation: [{ to: 'cfo' }] })).toEqual(['respond', 'reassign', 'escalate'])
    expect(names({ bundle: { sections: [{ id: 'text', type: 'editable' }] } })).toContain('edit')
  })

  test('gives custom actions the defaults of the guide', () => {
    const { actions } = humanOf({
      actions: [
        'approve',
        'plan_b',
        { name: 'hold', terminal: false },
        { name: 'redo', terminal: false, returnsTo: 'x' },
      ],
    }).definition
    expect(actions.map(({ name, terminal, nextState }) => [name, terminal, nextState])).toEqual([
      ['approve', true, 'approved'],
      ['plan_b', true, 'completed'],
      ['hold', false, 'pending'],
      ['redo', false, 'revision_requested'],
    ])
  })

  test('[C10] required fields belong to every action that completes the task successfully', () => {
    const { actions } = humanOf({
      requiredFields: ['budget'],
      actions: ['approve', 'reject', 'reassign', { name: 'skip', requiredFields: [] }],
    }).definition
    expect(actions.map(({ name, requiredFields }) => [name, requiredFields])).toEqual([
      ['approve', ['budget']],
      ['reject', []],
      ['reassign', []],
      ['skip', []],
    ])
  })

  test('edits the context if there is no section to edit', () => {
    const task = taskFrom({ actions: ['approve', 'edit', 'reject'], context: { reply: 'Dear {{payload.audience}}' } })
    expect(task.context).toBeNull()
    expect(task.sections).toMatchObject([{ id: 'context', type: 'editable', content: { reply: 'Dear all' } }])
  })

  test('[C11] a deadline is a duration, an instant, or a template that gives one', () => {
    const dueOf = (deadline: string, payload: Json = {}): unknown => taskFrom({ deadline }, payload).levels[0]?.deadline
    expect(dueOf('90m')).toEqual({ kind: 'after', ms: 1.5 * HOUR })
    expect(dueOf('1970-01-01T02:00:00+01:00')).toEqual({ kind: 'at', at: HOUR })
    expect(dueOf('{{payload.due}}', { due: '2h' })).toEqual({ kind: 'after', ms: 2 * HOUR })
    expect(() => dueOf('{{payload.due}}', { due: 'soon' })).toThrow('MANIFEST_INVALID')
  })

  test('asks the fallback group if nobody else can be asked', () => {
    const asked = (assign: HumanOptions['assign'], payload: Json = PAYLOAD): unknown =>
      taskFrom(assign === undefined ? {} : { assign }, payload).levels[0]?.to
    expect(asked(undefined)).toEqual({ users: [], groups: ['operators'] })
    expect(asked({ rule: 'payload.owner_id', fallback: 'desk' }, {})).toEqual({ users: [], groups: ['desk'] })
    expect(asked({ user: 'ghost', group: 'editors' })).toEqual({ users: [], groups: ['editors', 'operators'] })
    expect(asked(['user:ana', 'group:editors'])).toEqual({ users: ['ana'], groups: ['editors'] })
  })

  test('excludes the people who decided the steps it names', () =>
    expect(taskFrom({ separation: ['draft', 'requester'] }).excluded).toEqual(['rita', 'draft-er']))

  test('also asks the fallback group if too few people remain who may decide (14.4.5)', () => {
    const only = {
      assign: { users: ['rita', 'ana'] },
      quorum: { approve: 2, reject: 1 },
      separation: 'requester',
    } as const
    expect(taskFrom(only).levels[0]?.to).toEqual({ users: ['rita', 'ana'], groups: ['operators'] })
    expect(taskFrom({ ...only, quorum: { approve: 1 } }).levels[0]?.to.groups).toEqual([])
  })

  test('fails with a code if a template or a list does not resolve', () => {
    expect(() => taskFrom({ title: '{{payload.nope}}' })).toThrow('TEMPLATE_ERROR')
    const items = (expr: string): HumanOptions => ({ bundle: { sections: [{ id: 'mails', items: { expr } }] } })
    expect(() => taskFrom(items('payload.nope'))).toThrow('EXPR_FAILED')
    expect(() => taskFrom(items('payload.audience'))).toThrow('INPUT_INVALID')
  })

  test('has the same hash for the same definition, and another hash for another', () => {
    const sha = (text: string): string => createHash('sha256').update(text).digest('base64url')
    const hashed = (options: HumanOptions): string =>
      normalise({ name: 'test', humans: [human('ask', options)] }, sha).hash
    expect(hashed({ deadline: '60m' })).toBe(hashed({ deadline: '1h', taskType: 'approval' }))
    expect(hashed({ deadline: '60m' })).not.toBe(hashed({ deadline: '61m' }))
  })
})

test('does not fill braces in a task that code asks for', () => {
  const { make } = taskOfStep('check', {
    title: 'Look at {{payload.x}}',
    bundle: { sections: [{ id: 'mails', items: [{ id: 'a', expr: 'x' }] }] },
  })
  const task = make({}, PEOPLE)
  expect(task.title).toBe('Look at {{payload.x}}')
  expect(task.sections[0]?.items[0]?.content).toEqual({ id: 'a', expr: 'x' })
})

const at = (field: string): string => `humans.review-mailing.${field}`

test.each<readonly [string, HumanOptions]>([
  [`MANIFEST_INVALID ${at('taskType')}`, { taskType: 'vote' as never }],
  [`MANIFEST_INVALID ${at('actions')}`, { actions: [] }],
  [`MANIFEST_INVALID ${at('actions')}`, { actions: ['reassign', 'escalate'] }],
  [`MANIFEST_INVALID ${at('actions')}`, { actions: ['approve', { name: 'approve' }] }],
  [`MANIFEST_INVALID ${at('actions')}`, { actions: ['approve', 'edit'] }],
  [`MANIFEST_INVALID ${at('actions.Hold it')}`, { actions: ['approve', 'Hold it'] }],
  [`MANIFEST_INVALID ${at('actions.approve.terminal')}`, { actions: [{ name: 'approve', terminal: false }] }],
  [`MANIFEST_INVALID ${at('actions.approve.nextState')}`, { actions: [{ name: 'approve', nextState: 'rejected' }] }],
  [`MANIFEST_INVALID ${at('actions.reject.requiresReason')}`, { actions: [{ name: 'reject', requiresReason: false }] }],
  [`MANIFEST_INVALID ${at('actions.hold.nextState')}`, { actions: [{ name: 'hold', nextState: 'pending' }] }],
  [`MANIFEST_INVALID ${at('actions.approve.returnsTo')}`, { actions: [{ name: 'approve', returnsTo: 'draft' }] }],
  [`MANIFEST_INVALID ${at('actions.reject.marksApproved')}`, { actions: [{ name: 'reject', marksApproved: ['a'] }] }],
  [`MANIFEST_INVALID ${at('actions.approve.emitsEvent')}`, { actions: [{ name: 'approve', emitsEvent: 'No Event' }] }],
  [
    `EXPR_REJECTED ${at('actions.approve.eventPayload')}`,
    { actions: [{ name: 'approve', emits: 'a.b', eventPayload: { n: '{{nobody.knows}}' } }] },
  ],
  [`EVENT_RESERVED ${at('actions.approve')}`, { actions: [{ name: 'approve', emits: 'human.decided' }] }],
  [`MANIFEST_INVALID ${at('deadline')}`, { deadline: 'tomorrow' }],
  [`MANIFEST_INVALID ${at('deadline')}`, { deadline: '0s' }],
  [`INSTANT_WITHOUT_ZONE ${at('deadline')}`, { deadline: '2026-01-01T00:00:00' }],
  [`MANIFEST_INVALID ${at('reminders')}`, { reminders: ['4h'] }],
  [`MANIFEST_INVALID ${at('reminders')}`, { deadline: '4h', reminders: ['4h'] }],
  [`MANIFEST_INVALID ${at('reminders.max')}`, { reminders: { every: '1h', max: 0 } }],
  [`MANIFEST_INVALID ${at('escalation')}`, { escalation: Array.from({ length: 6 }, () => ({ to: 'cfo' })) }],
  [`MANIFEST_INVALID ${at('escalation[0].to')}`, { escalation: [{ to: ' ' }] }],
  [`MANIFEST_INVALID ${at('autoActionOnTimeout')}`, { autoActionOnTimeout: 'approve' }],
  [`MANIFEST_INVALID ${at('autoActionOnTimeout')}`, { deadline: '1h', autoActionOnTimeout: 'escalate' }],
  [`MANIFEST_INVALID ${at('autoActionOnTimeout')}`, { deadline: '1h', autoActionOnTimeout: 'respond' }],
  [`MANIFEST_INVALID ${at('autoActionOnTimeout')}`, { deadline: '1h', autoActionOnTimeout: 'ignore' }],
  [`MANIFEST_INVALID ${at('quorum.approve')}`, { quorum: { approve: 0 } }],
  [`QUORUM_IMPOSSIBLE ${at('quorum')}`, { assign: { user: 'ana' }, quorum: { approve: 2 } }],
  [`QUORUM_IMPOSSIBLE ${at('quorum')}`, { assign: { users: ['ana', 'ana'] }, quorum: { reject: 2 } }],
  // One vote each way would leave no voter for the quorum.
  [`QUORUM_IMPOSSIBLE ${at('quorum')}`, { assign: { users: ['ana', 'bob'] }, quorum: { approve: 2, reject: 2 } }],
  [`MANIFEST_INVALID ${at('separation')}`, { separation: 'everybody' }],
  [`MANIFEST_INVALID ${at('priority')}`, { priority: 0.5 }],
  [`MANIFEST_INVALID ${at('bundle')}`, { bundle: { sections: [{ id: 'a' }, { id: 'a' }] } }],
  [`MANIFEST_INVALID ${at('bundle.a.type')}`, { bundle: { sections: [{ id: 'a', type: 'chart' as never }] } }],
  [`MANIFEST_INVALID ${at('bundle.a.items')}`, { bundle: { sections: [{ id: 'a', type: 'preview', items: [] }] } }],
  [`MANIFEST_INVALID ${at('bundle.a.editable')}`, { bundle: { sections: [{ id: 'a', editable: true }] } }],
  ['EXPR_REJECTED humans.review-mailing', { assign: { rule: 'nobody.knows' } }],
])('%s is refused', (expected, options) => expect(refusalOf(options)).toBe(expected))

test('a name can be used only once among all handlers', () =>
  expect(() => systemOf({}, { functions: [{ name: 'review-mailing', options: {}, code: null }] })).toThrow(
    'MANIFEST_DUPLICATE_NAME',
  ))
