/** An inbox in use: overdue, postponed and reassigned tasks, and marks by a rule that only a submit turns into a decision. */
import { expect, test } from 'vitest'
import { human } from '#manifest/human/humans.ts'
import { LOCAL_TENANT, type TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { type InboxView, inboxesOf, type ViewCounts, viewCounts, viewedTasks } from '#model/task/inbox-view.ts'
import { ana, bob, eve, Inbox } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore, type TestSystem } from '#testing/system.ts'

const MAILS = [
  { id: 'm1', title: 'Ada', text: 'Dear Ada', confidence: 0.97 },
  { id: 'm2', title: 'Bo', text: 'Dear Bo', confidence: 0.91 },
  { id: 'm3', title: 'Cy', text: 'Dear Cy', confidence: 0.3 },
]
const SYSTEM = {
  name: 'mailing',
  events: { 'mails.ready': null },
  humans: [
    human('review', {
      trigger: 'mails.ready',
      assign: 'group:editors',
      deadline: '4h',
      autoActionOnTimeout: 'escalate',
      escalation: [{ to: ['group:editors', 'user:cfo'], deadline: '1d' }],
      bundle: { sections: [{ id: 'mails', type: 'review_items', items: { expr: 'payload.mails' }, editable: true }] },
    }),
  ],
}

const MOST = 100

class Desk extends Inbox {
  private readonly test: TestSystem

  constructor(system: TestSystem) {
    super(system)
    this.test = system
  }

  async asked(): Promise<TaskId> {
    const before = new Set((await this.list()).map(({ id }) => id))
    await this.test.send({ type: 'mails.ready', data: { mails: MAILS } })
    await this.test.settle()
    const fresh = (await this.list()).find(({ id }) => !before.has(id))
    if (fresh === undefined) throw new Error('nobody was asked')
    return fresh.id
  }

  async in(view: InboxView): Promise<readonly TaskId[]> {
    return (await this.list(viewedTasks(view, ana, this.test.clock.now()))).map(({ id }) => id)
  }

  async counted(): Promise<ViewCounts['counts']> {
    const now = this.test.clock.now()
    const query = { tenant: LOCAL_TENANT, addresses: inboxesOf(ana), now, most: MOST }
    const seen = await this.test.run(() => this.test.store.reader.inboxGlance(query))
    return viewCounts(seen, ana, { now, most: MOST }).counts
  }
}

const begin = async (place: TestStore): Promise<{ system: TestSystem; desk: Desk }> => {
  const system = await startTestSystem(SYSTEM, place)
  return { system, desk: new Desk(system) }
}

onEveryStore('an inbox', (store) => {
  test('[C2][C8][C11] a postponed task returns at its time, an overdue task escalates, and each view counts its tasks', async () => {
    const { system, desk } = await begin(store())
    const { tasks } = system.engine
    const [one, two] = [await desk.asked(), await desk.asked()]
    await system.run(() => tasks.followUp(two, ana, system.clock.now() + 2 * 3_600_000))
    await system.run(() => tasks.claim(one, bob))
    expect(await desk.counted()).toEqual({ mine: 1, groups: 1, unassigned: 0, overdue: 0, escalated: 0, later: 1 })
    expect([await desk.in('mine'), await desk.in('later'), await desk.in('unassigned')]).toEqual([[one], [two], []])
    await system.advance('3h')
    expect(await desk.counted()).toMatchObject({ mine: 2, unassigned: 1, later: 0 })
    await system.advance('2h')
    await system.settle()
    expect(await desk.counted()).toMatchObject({ mine: 2, overdue: 0, escalated: 2, unassigned: 2 })
    await system.advance('2d')
    expect(await desk.counted()).toMatchObject({ overdue: 2 })
    expect(await desk.in('overdue')).toEqual([one, two])
    await desk.decide(one, ana, { action: 'approve' })
    expect(await desk.in('escalated')).toEqual([two])
    expect(await desk.counted()).toMatchObject({ mine: 1, overdue: 1, escalated: 1 })
    await system.close()
  })

  test('[C13][C17] a rule marks drafts of one person and keeps their edits; nothing is decided until they submit', async () => {
    const { system, desk } = await begin(store())
    const { tasks } = system.engine
    const task = await desk.asked()
    const edited = { ...MAILS[1], text: 'Dear Bo!' } as Json
    await system.run(() => tasks.saveDraft(task, ana, { item: 'm2', content: { verdict: null, content: edited } }))
    const where = 'item.confidence >= 0.9'
    const { found } = await system.run(() => tasks.markWhere(task, ana, { where, verdict: 'approve' }))
    expect(found).toEqual({ items: ['m1', 'm2'], unclear: [] })
    const { state } = await system.run(() => tasks.show(task))
    expect(state).toMatchObject({ kind: 'open', votes: [] })
    expect(state.kind === 'open' && state.drafts.map(({ item, content }) => [item, content])).toEqual([
      ['m1', { verdict: 'approve' }],
      ['m2', { verdict: 'approve', content: edited }],
    ])
    const again = await system.run(() => tasks.markWhere(task, ana, { where, verdict: 'approve' }))
    expect(again.isRepeated).toBe(true)
    await expect(system.run(() => tasks.markWhere(task, eve, { where, verdict: 'approve' }))).rejects.toMatchObject({
      code: 'TASK_FORBIDDEN',
    })
    // The edit of m2 is not overwritten; a decision equal to the drafts is accepted.
    const old = desk.decide(task, ana, { action: 'approve', items: { m3: { status: 'rejected' } } })
    await expect(old).rejects.toMatchObject({ code: 'DRAFTS_NEWER' })
    const items = { m2: { status: 'edited', modifications: edited }, m3: { status: 'rejected' } } as const
    await desk.decide(task, ana, { action: 'approve', items })
    await expect(system.run(() => tasks.markWhere(task, ana, { where, verdict: 'reject' }))).rejects.toMatchObject({
      code: 'TASK_CLOSED',
    })
    await system.close()
  })
})
