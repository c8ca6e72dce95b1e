/** The tasks in each view of an inbox, and how they are counted. */
import { describe, expect, test } from 'vitest'
import { type TaskGlance, viewCounts, viewedTasks } from './inbox-view.ts'
import type { Identity } from './spec.ts'

const NOW = 1_000
const ana: Identity = { id: 'ana', kind: 'user', groups: ['editors'] }
const a = (task: Partial<TaskGlance> = {}): TaskGlance => ({
  addresses: ['user:ana'],
  isClaimed: false,
  isEscalated: false,
  putOff: {},
  ...task,
})

describe('[C2] a view', () => {
  test.each([
    ['mine', ['user:ana', 'group:editors'], 'ana', null],
    ['groups', ['group:editors'], 'ana', null],
    ['unassigned', ['user:ana', 'group:editors'], 'ana', 'unclaimed'],
    ['escalated', ['user:ana', 'group:editors'], 'ana', 'escalated'],
    ['later', ['user:ana', 'group:editors'], 'ana', 'later'],
    ['overdue', ['user:ana', 'group:editors'], null, 'overdue'],
  ] as const)("%s selects its inboxes, its viewer, and its tasks' trait", (view, addresses, user, trait) => {
    expect(viewedTasks(view, ana, NOW)).toEqual({
      addresses,
      viewer: user === null ? null : { user, now: NOW },
      only: trait === null ? null : { trait, now: NOW },
    })
  })

  test('without a viewer has the tasks of all inboxes, and nothing under later', () => {
    expect(viewedTasks('mine', null, NOW)).toEqual({ addresses: null, viewer: null, only: null })
    expect(viewedTasks('later', null, NOW).addresses).toEqual([])
  })
})

describe('[C2] counts', () => {
  const newest = [
    a(),
    a({ addresses: ['group:editors'], isClaimed: true }),
    a({ isEscalated: true, putOff: { bo: NOW + 1 } }),
    a({ isEscalated: true, putOff: { ana: NOW + 1 } }),
    a({ putOff: { ana: NOW } }),
  ]

  test('put snoozed tasks under later only, until their time has come', () => {
    expect(viewCounts({ newest, overdue: 7 }, ana, { now: NOW, most: 100 })).toEqual({
      counts: { mine: 4, groups: 1, unassigned: 3, overdue: 7, escalated: 1, later: 1 },
      more: [],
    })
  })

  test('say which views may have more tasks', () => {
    expect(viewCounts({ newest, overdue: 2 }, ana, { now: NOW, most: 5 }).more).not.toContain('overdue')
    expect(viewCounts({ newest, overdue: 5 }, ana, { now: NOW, most: 6 }).more).toEqual([])
    expect(viewCounts({ newest: [], overdue: 5 }, ana, { now: NOW, most: 5 }).more).toEqual(['overdue'])
  })
})
