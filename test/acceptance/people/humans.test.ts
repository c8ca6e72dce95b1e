/** Humans in the loop: asked by a handler or a step, decide once, found again after days and crashes. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { human } from '#manifest/human/humans.ts'
import { isoTime } from '#model/kernel/iso-time.ts'
import { ana, bob, cfo, eve, Inbox, robot } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const MAILING = {
  name: 'mailing',
  events: { 'mailing.ready': null, 'mailing.rejected': null, 'mailing.sent': null },
  humans: [
    human('review-mailing', {
      trigger: 'mailing.ready',
      title: 'Mailing to {{ payload.audience }}',
      assign: 'group:editors',
      actions: ['approve', { name: 'reject', emitsEvent: 'mailing.rejected' }, 'reassign'],
    }),
  ],
}

onEveryStore('humans', (store) => {
  test('[C1][C2][C5] an event asks people, the run waits for days without memory, and their answer is its output', async () => {
    const system = await startTestSystem(MAILING, store())
    const inbox = new Inbox(system)
    const { runs } = await system.send({ type: 'mailing.ready', data: { audience: 'all' } })
    const [run] = runs
    if (run === undefined) throw new Error('the event starts a run')
    await system.settle()
    expect(system.engine.activeRunCount).toBe(0)
    expect(await inbox.of(ana)).toMatchObject([{ run, title: 'Mailing to all', type: 'approval', status: 'pending' }])
    expect(await inbox.of(eve)).toEqual([])
    await system.advance('5d')
    await system.crash()
    const task = await inbox.only()
    await inbox.decide(task, ana, { action: 'approve' })
    await system.settle()
    expect(await system.look(run)).toMatchObject({
      status: 'success',
      output: { decision: 'approve', status: 'approved', decided_by: 'ana', task_id: task },
    })
    expect(await inbox.of(ana)).toEqual([])
    await system.close()
  })

  test('[C5][C9] a rejection needs a reason and sends its event with the decision, in one append', async () => {
    const heard: unknown[] = []
    const system = await startTestSystem(
      {
        ...MAILING,
        functions: [fn('hear', { trigger: 'mailing.rejected' }, ({ input }) => void heard.push(input))],
      },
      store(),
    )
    const inbox = new Inbox(system)
    await system.send({ type: 'mailing.ready', data: { audience: 'all' } })
    await system.settle()
    const task = await inbox.only()
    await expect(inbox.decide(task, ana, { action: 'reject' })).rejects.toMatchObject({ code: 'REASON_REQUIRED' })
    await inbox.decide(task, ana, { action: 'reject', reason: 'too loud' })
    await system.settle()
    expect(heard).toMatchObject([{ bundle_id: task, decision: 'reject', decided_by: 'ana', feedback: 'too loud' }])
    expect(await inbox.told('human.decided')).toMatchObject([{ decision: 'reject', decided_by: 'ana', task_id: task }])
    await system.close()
  })

  test('[C14][D4] assigning, viewing and deciding are sent as events, once each, and recorded in the facts', async () => {
    const system = await startTestSystem(MAILING, store())
    const inbox = new Inbox(system)
    await system.send({ type: 'mailing.ready', data: { audience: 'all' } })
    await system.settle()
    const task = await inbox.only()
    for (const who of [ana, ana, bob, eve]) await system.run(() => system.engine.tasks.view(task, who))
    expect(await inbox.row(task)).toMatchObject({ status: 'in_review' })
    await system.advance('1h')
    await inbox.decide(task, bob, { action: 'approve' })
    const common = { handler: 'review-mailing', modality: 'human', task_id: task }
    expect(await inbox.told('human.assigned')).toMatchObject([{ ...common, assignees: { groups: ['editors'] } }])
    expect(await inbox.told('human.viewed')).toMatchObject([
      { ...common, by: 'ana' },
      { ...common, by: 'bob' },
    ])
    expect(await inbox.told('human.decided')).toMatchObject([
      { ...common, decided_by: 'bob', decided_at: isoTime(system.clock.now()) },
    ])
    expect((await inbox.row(task))?.summary).toMatchObject({ decidedBy: 'bob', decision: 'approve' })
    await system.close()
  })

  test('[C7] a task is claimed, released and reassigned; agents and people who are not assigned can do nothing', async () => {
    const system = await startTestSystem(MAILING, store())
    const inbox = new Inbox(system)
    await system.send({ type: 'mailing.ready', data: { audience: 'all' } })
    await system.settle()
    const task = await inbox.only()
    const { tasks } = system.engine
    await system.run(() => tasks.claim(task, ana))
    expect(await inbox.row(task)).toMatchObject({ claimedBy: 'ana' })
    await expect(system.run(() => tasks.claim(task, bob))).rejects.toMatchObject({ code: 'TASK_CLAIMED' })
    await system.run(() => tasks.unclaim(task, ana))
    await expect(inbox.decide(task, eve, { action: 'approve' })).rejects.toMatchObject({ code: 'TASK_FORBIDDEN' })
    await expect(inbox.decide(task, robot, { action: 'approve' })).rejects.toMatchObject({
      code: 'AGENT_CANNOT_DECIDE',
    })
    await inbox.decide(task, ana, { action: 'reassign', to: [{ id: 'eve', kind: 'user' }] })
    expect(await inbox.of(ana)).toEqual([])
    expect(await inbox.of(eve)).toMatchObject([{ id: task, status: 'pending' }])
    await expect(inbox.decide(task, ana, { action: 'approve' })).rejects.toMatchObject({ code: 'TASK_FORBIDDEN' })
    await inbox.decide(task, eve, { action: 'approve' })
    expect(await inbox.told('human.assigned')).toMatchObject([{}, { assignees: { users: ['eve'] } }])
    await system.close()
  })

  test('[C4][C10] an input task requires its fields, and the step of a function receives them', async () => {
    const system = await startTestSystem(
      {
        name: 'input',
        functions: [
          fn('ask', {}, async ({ step }) => {
            const { fields, decidedBy } = await step.human('budget', {
              taskType: 'input',
              assign: 'user:cfo',
              requiredFields: ['amount'],
            })
            return { fields, decidedBy }
          }),
        ],
      },
      store(),
    )
    const inbox = new Inbox(system)
    const run = await system.start('ask')
    await system.settle()
    const task = await inbox.only()
    expect(await inbox.row(task)).toMatchObject({ type: 'input', step: 'budget', addresses: ['user:cfo'] })
    await expect(inbox.decide(task, cfo, { action: 'respond' })).rejects.toMatchObject({ code: 'FIELDS_REQUIRED' })
    await inbox.decide(task, cfo, { action: 'respond', fields: { amount: 700 } })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ output: { fields: { amount: 700 }, decidedBy: 'cfo' } })
    await system.close()
  })

  test('[C6] an edit must fit its schema, and the run continues with the edited value', async () => {
    const schema = { type: 'object', required: ['subject'], properties: { subject: { type: 'string', maxLength: 9 } } }
    const system = await startTestSystem(
      {
        name: 'edit',
        functions: [
          fn('ask', {}, async ({ step }) => {
            const letter = { id: 'letter', type: 'editable', content: { subject: 'Dear all' }, schema } as const
            const answer = await step.human('letter', { assign: 'group:editors', bundle: { sections: [letter] } })
            return { modifications: answer.modifications, items: answer.items.map(({ content }) => content) }
          }),
        ],
      },
      store(),
    )
    const inbox = new Inbox(system)
    const run = await system.start('ask')
    await system.settle()
    const task = await inbox.only()
    const edit = (subject: string) =>
      inbox.decide(task, ana, { action: 'edit', items: { letter: { status: 'edited', modifications: { subject } } } })
    await expect(edit('much too long')).rejects.toMatchObject({ code: 'MODIFICATION_INVALID' })
    await edit('Dear Bo')
    await system.settle()
    const changed = { subject: 'Dear Bo' }
    expect(await system.look(run)).toMatchObject({ output: { modifications: { letter: changed }, items: [changed] } })
    expect(await inbox.facts(task)).toContainEqual(
      expect.objectContaining({
        type: 'task.edited',
        edits: [expect.objectContaining({ patch: [{ op: 'replace', path: '/subject', value: 'Dear Bo' }] })],
      }),
    )
    await system.close()
  })

  test('[C13] a bundle of nine: one is edited, one rejected, the rest approved, in one submit that fans out once', async () => {
    const drafts = Array.from({ length: 9 }, (_, i) => ({ id: `m${i}`, subject: `about ${i}` }))
    const system = await startTestSystem(
      {
        name: 'bundle',
        events: { 'drafts.ready': null, 'drafts.approved': null },
        humans: [
          human('review-drafts', {
            trigger: 'drafts.ready',
            assign: 'group:editors',
            bundle: {
              sections: [
                { id: 'facts', type: 'summary', content: { audience: '{{ payload.audience }}' } },
                { id: 'mails', type: 'review_items', items: { expr: 'payload.drafts' }, editable: true },
              ],
            },
            actions: ['approve', 'reject', { name: 'edit', emitsEvent: 'drafts.approved' }],
          }),
        ],
      },
      store(),
    )
    const inbox = new Inbox(system)
    await system.send({ type: 'drafts.ready', data: { audience: 'all', drafts } })
    await system.settle()
    const task = await inbox.only()
    expect((await inbox.row(task))?.summary).toMatchObject({ items: { total: 9 } })
    await inbox.decide(task, ana, {
      action: 'edit',
      items: {
        m3: { status: 'edited', modifications: { id: 'm3', subject: 'about three' } },
        m5: { status: 'rejected' },
      },
    })
    await system.settle()
    const approved = ['m0', 'm1', 'm2', 'm3', 'm4', 'm6', 'm7', 'm8']
    expect(await inbox.told('drafts.approved')).toMatchObject([
      { bundle_id: task, approved, rejected: ['m5'], modifications: { m3: { subject: 'about three' } }, partial: true },
    ])
    expect(await inbox.told('approval_bundle.created')).toHaveLength(1)
    expect(await inbox.told('approval_bundle.approved')).toHaveLength(1)
    await system.close()
  })

  test('[C17] drafts are kept for their author, and a follow-up date hides the task from no other person', async () => {
    const system = await startTestSystem(MAILING, store())
    const inbox = new Inbox(system)
    await system.send({ type: 'mailing.ready', data: { audience: 'all' } })
    await system.settle()
    const task = await inbox.only()
    const { tasks } = system.engine
    await system.run(() => tasks.saveDraft(task, ana, { item: null, content: { note: 'half' } }))
    await system.run(() => tasks.followUp(task, ana, system.clock.now() + 3_600_000))
    expect([await inbox.of(ana), await inbox.of(bob)].map(({ length }) => length)).toEqual([0, 1])
    await system.crash()
    const { state } = await system.run(() => system.engine.tasks.show(task))
    expect(state).toMatchObject({ kind: 'open', drafts: [{ by: 'ana', content: { note: 'half' } }] })
    await system.advance('1h')
    expect(await inbox.of(ana)).toHaveLength(1)
    await system.close()
  })

  test('[C16] many tasks are decided at once, each on its own', async () => {
    const system = await startTestSystem(MAILING, store())
    const inbox = new Inbox(system)
    for (let i = 0; i < 5; i++) await system.send({ type: 'mailing.ready', data: { audience: `group ${i}` } })
    await system.settle()
    const rows = await inbox.list()
    const [first] = rows
    if (first === undefined) throw new Error('five were asked')
    await inbox.decide(first.id, bob, { action: 'approve' })
    const decisions = await Promise.all(
      rows.map(async ({ id }, i) => ({
        task: id,
        action: i === 2 ? 'reject' : 'approve',
        shownHash: await inbox.hash(id),
      })),
    )
    const outcomes = await system.run(() => system.engine.tasks.submitMany(ana, decisions))
    expect(outcomes.map((outcome) => (outcome.kind === 'done' ? 'done' : outcome.code))).toEqual([
      'TASK_CLOSED',
      'done',
      'REASON_REQUIRED',
      'done',
      'done',
    ])
    expect(await inbox.list()).toMatchObject([{ id: rows[2]?.id }])
    await expect(
      system.run(() => system.engine.tasks.submitMany(ana, Array(101).fill(decisions[0]))),
    ).rejects.toMatchObject({ code: 'INPUT_INVALID' })
    await system.close()
  })

  test('task-events-1: a decision with a key acts once and gets the same answer again; the key with another body is refused', async () => {
    const system = await startTestSystem(MAILING, store())
    const inbox = new Inbox(system)
    await system.send({ type: 'mailing.ready', data: { audience: 'all' } })
    await system.settle()
    const task = await inbox.only()
    const shownHash = await inbox.hash(task)
    const decide = (action: string) => inbox.decide(task, ana, { action, shownHash, key: 'k1', reason: 'x' })
    expect(await decide('approve')).toMatchObject({ isRepeated: false, state: { status: 'approved' } })
    expect(await decide('approve')).toMatchObject({ isRepeated: true, state: { status: 'approved' } })
    await expect(decide('reject')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' })
    expect(await inbox.told('human.decided')).toHaveLength(1)
    await system.close()
  })

  test('[C9] after a request for changes the same task returns as a new revision, until it is approved', async () => {
    const letter = (content: string) => ({ sections: [{ id: 'letter', type: 'editable', content }] }) as const
    const system = await startTestSystem(
      {
        name: 'rounds',
        functions: [
          fn('write', {}, async ({ step }) => {
            let text = 'Dear all'
            let answer = await step.human('review', {
              taskType: 'review',
              assign: 'group:editors',
              bundle: letter(text),
            })
            while (answer.status === 'revision_requested') {
              text = `${text}, ${answer.feedback}`
              const task = { taskType: 'review', assign: 'group:editors', bundle: letter(text) } as const
              answer = await step.human('review', task, { revises: answer })
            }
            return { text, revision: answer.revision, decision: answer.decision }
          }),
        ],
      },
      store(),
    )
    const inbox = new Inbox(system)
    const run = await system.start('write')
    await system.settle()
    const task = await inbox.only()
    const first = await inbox.hash(task)
    for (const reason of ['shorter', 'kinder']) {
      await inbox.decide(task, ana, { action: 'request_edit', reason })
      await system.settle()
      await system.crash()
      expect(await inbox.only()).toBe(task)
    }
    await expect(inbox.decide(task, ana, { action: 'approve', shownHash: first })).rejects.toMatchObject({
      code: 'STALE_VIEW',
    })
    await inbox.decide(task, ana, { action: 'approve' })
    await system.settle()
    const output = { text: 'Dear all, shorter, kinder', revision: 3, decision: 'approve' }
    expect(await system.look(run)).toMatchObject({ status: 'success', output })
    await system.close()
  })

  test('[C5] the person who decided the first step may not decide the second, if the author separates them', async () => {
    const system = await startTestSystem(
      {
        name: 'four-eyes',
        functions: [
          fn('pay', {}, async ({ step }) => {
            await step.human('first', { assign: 'group:editors' })
            await step.human('second', { assign: 'group:editors', separation: ['first'] })
            return 'paid'
          }),
        ],
      },
      store(),
    )
    const inbox = new Inbox(system)
    const run = await system.start('pay')
    await system.settle()
    await inbox.decide(await inbox.only(), ana, { action: 'approve' })
    await system.settle()
    const second = await inbox.only()
    await expect(inbox.decide(second, ana, { action: 'approve' })).rejects.toMatchObject({
      code: 'SEPARATION_OF_DUTIES',
    })
    await inbox.decide(second, bob, { action: 'approve' })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ output: 'paid' })
    await system.close()
  })

  test("[D4] a run may wait for events of other people's tasks", async () => {
    const system = await startTestSystem(
      {
        ...MAILING,
        functions: [
          fn('watch', {}, async ({ step }) => {
            const seen = await step.waitForEvent('seen', { event: 'human.viewed' })
            return seen.event?.data ?? null
          }),
        ],
      },
      store(),
    )
    const inbox = new Inbox(system)
    const watch = await system.start('watch')
    await system.send({ type: 'mailing.ready', data: { audience: 'all' } })
    await system.settle()
    const task = await inbox.only()
    await system.run(() => system.engine.tasks.view(task, bob))
    await system.settle()
    expect(await system.look(watch)).toMatchObject({ output: { by: 'bob', task_id: task } })
    await system.close()
  })
})
