/** Reader suite, chapter on tasks: the rows that appends write with a task's facts, and the inboxes that are read from them (ledger-9). */
import { expect, test } from 'vitest'
import { LOCAL_TENANT, type TaskId, type TenantId } from '#model/kernel/ids.ts'
import type { TaskTrait } from '#model/task/inbox-view.ts'
import type { StreamWrite, TaskRow } from '#ports/ledger.ts'
import type { GlanceQuery, Reader, TaskQuery } from '#ports/reader.ts'
import { aCreation, anAppend, aTask, aWrite, newRun, newTask, newWorker, START } from '#testing/ledger/builders.ts'
import type { LedgerHarness } from '#testing/ledger/harness.ts'

const OTHER_TENANT = 'other' as TenantId
const WAITING = { status: 'waiting', wakeAt: null } as const

export const tasksSuite = (harness: LedgerHarness, reader: () => Reader): void => {
  const birth = (id: TaskId, task: TaskRow): StreamWrite =>
    aCreation(id, { tenant: task.tenant, parent: task.run }, { ...WAITING, task })
  const asked = async (task: Partial<TaskRow> = {}): Promise<TaskId> => {
    const id = newTask()
    await harness.written({ writes: [birth(id, aTask(task))] })
    return id
  }
  const change = (id: TaskId, task: TaskRow, write: Partial<StreamWrite> = {}): StreamWrite =>
    aWrite(id, { ...WAITING, epoch: null, task, ...write })
  const listed = async (query: Partial<TaskQuery> = {}): Promise<readonly TaskId[]> => {
    const page = await reader().tasks({
      tenant: LOCAL_TENANT,
      isOpen: true,
      addresses: null,
      viewer: null,
      status: null,
      type: null,
      claimedBy: null,
      run: null,
      order: 'newest',
      after: null,
      limit: 100,
      ...query,
    })
    return page.map(({ id }) => id)
  }

  const counted = async (addresses: readonly string[] | null, tenant = LOCAL_TENANT) =>
    Object.fromEntries((await reader().taskCounts(tenant, addresses, 100)).counts)

  test('[C2] ledger-9: a task is read as its last append left it', async () => {
    const row = aTask({
      title: 'Pay "ü"?',
      addresses: ['user:ana', 'group:editors'],
      deadlineAt: START + 5,
      priority: 3,
      putOff: { ana: START + 9 },
      summary: { items: 2, tags: ['\u0000'] },
    })
    const id = newTask()
    await harness.written({ writes: [birth(id, row)] })
    expect(await reader().task(LOCAL_TENANT, id)).toEqual({ ...row, id })
    const next = { ...row, status: 'in_review', claimedBy: 'ana', updatedAt: START + 3 }
    await harness.written({ writes: [change(id, next)] })
    expect(await reader().task(LOCAL_TENANT, id)).toEqual({ ...next, id })
  })

  test('ledger-9: a task is created with the run that asks, and a refused append leaves its row unchanged', async () => {
    const [run, id] = [newRun(), newTask()]
    await harness.written({ writes: [aCreation(run, { lease: newWorker() }, { wakeAt: null })] })
    const row = aTask({ run })
    await harness.written({ writes: [aWrite(run, { release: true, status: 'waiting' }), birth(id, row)] })
    const late = anAppend({
      writes: [change(id, { ...row, status: 'approved', isOpen: false }, { expectedVersion: 9 })],
    })
    expect(await harness.ledger.append([late])).toMatchObject([{ kind: 'conflict', reason: 'version' }])
    expect(await reader().task(LOCAL_TENANT, id)).toEqual({ ...row, id })
    expect(await listed({ addresses: ['user:ana'] })).toEqual([id])
  })

  test('ledger-9: a repeated append does not bring an old row back', async () => {
    const id = await asked()
    const first = anAppend({ writes: [change(id, aTask({ title: 'first' }))] })
    await harness.ledger.append([first])
    await harness.written({ writes: [change(id, aTask({ title: 'second', isOpen: false }), { expectedVersion: 2 })] })
    expect(await harness.ledger.append([first])).toMatchObject([{ kind: 'already_written' }])
    expect(await reader().task(LOCAL_TENANT, id)).toMatchObject({ title: 'second', isOpen: false })
    expect(await listed()).toEqual([])
  })

  test('ledger-9: the holder of a task also writes its row, with and without a release', async () => {
    const row = aTask()
    const id = newTask()
    await harness.written({
      writes: [aCreation(id, { parent: row.run }, { status: 'waiting', wakeAt: START, task: row })],
    })
    await harness.ledger.claim({ worker: newWorker(), now: START, limit: 1, only: [id] })
    await harness.written({ writes: [change(id, { ...row, status: 'in_review' }, { epoch: 1 })] })
    expect(await reader().task(LOCAL_TENANT, id)).toMatchObject({ status: 'in_review' })
    const last = { ...row, status: 'expired', isOpen: false }
    await harness.written({
      writes: [change(id, last, { epoch: 1, expectedVersion: 2, release: true, status: 'expired' })],
    })
    expect(await reader().task(LOCAL_TENANT, id)).toMatchObject({ status: 'expired', isOpen: false })
  })

  test('[C2] an inbox contains the tasks of a person or of their groups, each once', async () => {
    const ana = await asked({ addresses: ['user:ana'] })
    const group = await asked({ addresses: ['group:editors'] })
    const both = await asked({ addresses: ['group:editors', 'user:ana'] })
    const bo = await asked({ addresses: ['user:bo'] })
    expect(await listed({ addresses: ['user:ana', 'group:editors'] })).toEqual([both, group, ana])
    expect(await listed({ addresses: ['group:editors'] })).toEqual([both, group])
    expect(await listed({ addresses: ['user:nobody'] })).toEqual([])
    expect(await listed({ addresses: [] })).toEqual([])
    expect(await listed()).toEqual([bo, both, group, ana])
  })

  test('[C7] a task leaves the inboxes that it is no longer addressed to', async () => {
    const row = aTask({ addresses: ['user:ana', 'group:editors'] })
    const id = await asked(row)
    await harness.written({ writes: [change(id, { ...row, addresses: ['group:editors', 'user:bo'] })] })
    expect(await listed({ addresses: ['user:ana'] })).toEqual([])
    expect(await listed({ addresses: ['user:bo'] })).toEqual([id])
    expect(await listed({ addresses: ['group:editors'] })).toEqual([id])
  })

  test('[C2] pages follow each other in every order, also over several inboxes', async () => {
    const deadlines = [START + 30, null, START + 10, START + 30, null]
    const made: TaskId[] = []
    for (const [i, deadlineAt] of deadlines.entries())
      made.push(await asked({ deadlineAt, addresses: [i % 2 === 0 ? 'user:ana' : 'group:editors'] }))
    const [a, b, c, d, e] = made as [TaskId, TaskId, TaskId, TaskId, TaskId]
    const all = { newest: [e, d, c, b, a], oldest: [a, b, c, d, e], deadline: [c, a, d, b, e] } as const
    for (const order of ['newest', 'oldest', 'deadline'] as const)
      for (const addresses of [null, ['user:ana', 'group:editors']]) {
        const pages: TaskId[] = []
        for (let after: TaskId | null = null, full = true; full; after = pages.at(-1) ?? null) {
          const page = await listed({ order, addresses, after, limit: 2 })
          pages.push(...page)
          full = page.length === 2
        }
        expect({ order, pages }).toEqual({ order, pages: all[order] })
      }
  })

  test('tasks are filtered by status, type, claimant, and run', async () => {
    const run = newRun()
    const plain = await asked({ run })
    const input = await asked({ type: 'input' })
    const mine = await asked({ claimedBy: 'ana', status: 'in_review', run })
    expect(await listed({ type: 'input' })).toEqual([input])
    expect(await listed({ status: 'in_review' })).toEqual([mine])
    expect(await listed({ claimedBy: 'ana', addresses: ['user:ana'] })).toEqual([mine])
    expect(await listed({ run })).toEqual([mine, plain])
    expect(await listed({ run, after: mine })).toEqual([plain])
    expect(await listed({ run, addresses: ['user:bo'] })).toEqual([])
    expect(await listed({ run, isOpen: false })).toEqual([])
  })

  test('[C17] a task snoozed by a person is hidden from that person until then', async () => {
    const id = await asked({ putOff: { "o'hara": START + 10, 'a.b"c': START + 20 } })
    const seen = (user: string, now: number) => listed({ viewer: { user, now } })
    expect(await seen("o'hara", START + 9)).toEqual([])
    expect(await seen("o'hara", START + 10)).toEqual([id])
    expect(await seen('a.b"c', START + 19)).toEqual([])
    expect(await seen('bo', START)).toEqual([id])
  })

  test('closed tasks are separate from open ones, newest first', async () => {
    const rows = [aTask(), aTask({ addresses: ['user:bo'] }), aTask()]
    const ids: TaskId[] = []
    for (const row of rows) {
      const id = await asked(row)
      ids.push(id)
      await harness.written({
        writes: [change(id, { ...row, status: 'approved', isOpen: false }, { status: 'success' })],
      })
    }
    const [a, b, c] = ids as [TaskId, TaskId, TaskId]
    expect(await listed()).toEqual([])
    expect(await listed({ isOpen: false })).toEqual([c, b, a])
    expect(await listed({ isOpen: false, after: c, limit: 1 })).toEqual([b])
    expect(await listed({ isOpen: false, addresses: ['user:bo', 'group:none'] })).toEqual([b])
    expect(await listed({ isOpen: false, status: 'rejected' })).toEqual([])
  })

  test('open tasks are counted by status, for some inboxes or for all', async () => {
    await asked({ addresses: ['user:ana', 'group:editors'] })
    await asked({ status: 'in_review', addresses: ['user:bo'] })
    await asked({ isOpen: false, status: 'approved' })
    expect(await counted(null)).toEqual({ in_review: 1, pending: 1 })
    expect(await counted(['user:ana', 'group:editors'])).toEqual({ pending: 1 })
    expect(await counted(['user:bo'])).toEqual({ in_review: 1 })
    expect(await counted([])).toEqual({})
  })

  test('[C2] of very many open tasks a limited number per status is counted, and the count says that there may be more', async () => {
    await asked({ addresses: ['user:ana', 'group:editors'] })
    await asked({ addresses: ['group:editors'] })
    await asked({ status: 'in_review', addresses: ['group:editors'] })
    const of = async (addresses: readonly string[] | null, most: number) => {
      const { counts, more } = await reader().taskCounts(LOCAL_TENANT, addresses, most)
      return { ...Object.fromEntries(counts), more: [...more] }
    }
    expect(await of(null, 3)).toEqual({ pending: 2, in_review: 1, more: [] })
    expect(await of(null, 2)).toEqual({ pending: 2, in_review: 1, more: ['pending'] })
    expect(await of(null, 1)).toEqual({ pending: 1, in_review: 1, more: ['pending', 'in_review'] })
    // One of them is in both inboxes.
    expect(await of(['user:ana', 'group:editors'], 4)).toEqual({ pending: 2, in_review: 1, more: [] })
    expect(await of(['user:ana', 'group:editors'], 1)).toMatchObject({ pending: 1, more: ['pending', 'in_review'] })
  })

  test('[C2] a page contains the tasks of its view, in every order', async () => {
    const all = ['user:ana', 'group:editors']
    const plain = await asked({ addresses: ['user:ana'] })
    const late = await asked({ deadlineAt: START - 1, claimedBy: 'bo', addresses: all })
    const next = await asked({ deadlineAt: START + 1, addresses: ['group:editors'] })
    const handedOn = await asked({ summary: { escalationReason: 'confidence 0.42 < 0.6', odd: '\u0000' } })
    const forLater = await asked({ putOff: { ana: START + 1, bo: START - 1 }, summary: { escalationReason: null } })
    const viewer = { user: 'ana', now: START }
    const only = (trait: TaskTrait) => ({ trait, now: START })
    for (const order of ['newest', 'oldest', 'deadline'] as const) {
      const found = async (query: Partial<TaskQuery>) => new Set(await listed({ addresses: all, order, ...query }))
      expect(await found({ viewer, only: only('unclaimed') })).toEqual(new Set([plain, next, handedOn]))
      expect(await found({ only: only('overdue') })).toEqual(new Set([late]))
      expect(await found({ viewer, only: only('escalated') })).toEqual(new Set([handedOn]))
      expect(await found({ viewer, only: only('later') })).toEqual(new Set([forLater]))
      expect(await found({ viewer: { user: 'bo', now: START }, only: only('later') })).toEqual(new Set())
      expect(await found({ addresses: null, only: only('escalated') })).toEqual(new Set([handedOn]))
      expect(await found({ claimedBy: 'bo', only: only('overdue') })).toEqual(new Set([late]))
      expect(await found({ type: 'approval', addresses: null, only: only('overdue') })).toEqual(new Set([late]))
    }
  })

  test('[C2] a glance lists the newest tasks of some inboxes, each once, and counts overdue ones', async () => {
    const glance = (query: Partial<GlanceQuery> = {}) =>
      reader().inboxGlance({ tenant: LOCAL_TENANT, addresses: null, now: START, most: 10, ...query })
    await asked({ addresses: ['user:bo'], deadlineAt: START })
    await asked({ addresses: ['user:ana', 'group:editors'], deadlineAt: START - 5, claimedBy: 'bo' })
    await asked({ addresses: ['group:editors'], summary: { escalationReason: 'why' }, putOff: { ana: START + 9 } })
    await asked({ addresses: ['group:editors'], isOpen: false, status: 'approved' })
    await asked({ tenant: OTHER_TENANT })
    const plain = { isClaimed: false, isEscalated: false, putOff: {} }
    const mine = [
      { ...plain, addresses: ['group:editors'], isEscalated: true, putOff: { ana: START + 9 } },
      { ...plain, addresses: ['user:ana', 'group:editors'], isClaimed: true },
    ]
    expect(await glance({ addresses: ['user:ana', 'group:editors'] })).toEqual({ newest: mine, overdue: 1 })
    expect(await glance()).toEqual({ newest: [...mine, { ...plain, addresses: ['user:bo'] }], overdue: 2 })
    expect(await glance({ most: 1 })).toEqual({ newest: mine.slice(0, 1), overdue: 1 })
    expect(await glance({ addresses: [] })).toEqual({ newest: [], overdue: 0 })
  })

  test('open tasks are counted by type and by whether they are overdue', async () => {
    await asked({ type: 'approval', deadlineAt: START })
    await asked({ type: 'approval', deadlineAt: START + 1 })
    await asked({ type: 'approval', deadlineAt: null })
    await asked({ type: 'review', deadlineAt: null })
    await asked({ type: 'review', isOpen: false, status: 'approved' })
    await asked({ type: 'review', tenant: OTHER_TENANT })
    const counted = await reader().openTasks(LOCAL_TENANT, START)
    expect(counted.toSorted((a, b) => a.type.localeCompare(b.type) || a.count - b.count)).toEqual([
      { type: 'approval', isOverdue: true, count: 1 },
      { type: 'approval', isOverdue: false, count: 2 },
      { type: 'review', isOverdue: false, count: 1 },
    ])
  })

  test('[S9] another tenant sees no task', async () => {
    const id = await asked()
    expect(await listed({ tenant: OTHER_TENANT })).toEqual([])
    expect(await reader().task(OTHER_TENANT, id)).toBeNull()
    expect(await counted(null, OTHER_TENANT)).toEqual({})
    const foreign = await asked({ tenant: OTHER_TENANT })
    expect(await listed()).toEqual([id])
    expect(await listed({ tenant: OTHER_TENANT })).toEqual([foreign])
  })

  test('a task is neither a run nor a child run', async () => {
    const run = await harness.createRun()
    await asked({ run })
    expect(await reader().children(LOCAL_TENANT, run)).toEqual([])
    expect([...(await reader().counts(LOCAL_TENANT))]).toEqual([['queued', 1]])
  })
}
