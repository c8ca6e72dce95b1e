/**
 * The views of an inbox: which tasks each of them has for a person, and how many.
 *
 * Owns what the views mean. Pure: the tasks and the viewer are arguments. A late task is overdue even for a person who has snoozed it.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { Identity } from './spec.ts'

export const INBOX_VIEWS = ['mine', 'groups', 'unassigned', 'overdue', 'escalated', 'later'] as const
export type InboxView = (typeof INBOX_VIEWS)[number]

/** What the tasks of a page have in common, apart from their inboxes. `later`: the viewer has snoozed them beyond now. */
export type TaskTrait = 'unclaimed' | 'overdue' | 'escalated' | 'later'

/** The inboxes of a person: their own, and those of their groups. */
export const inboxesOf = ({ id, groups }: Identity): readonly string[] => [`user:${id}`, ...groupInboxes(groups)]

const groupInboxes = (groups: readonly string[]): readonly string[] => groups.map((group) => `group:${group}`)

export interface ViewedTasks {
  /** Null: all inboxes. */
  readonly addresses: readonly string[] | null
  readonly viewer: { readonly user: string; readonly now: Instant } | null
  readonly only: { readonly trait: TaskTrait; readonly now: Instant } | null
}

const TRAITS: Readonly<Record<InboxView, TaskTrait | null>> = {
  mine: null,
  groups: null,
  unassigned: 'unclaimed',
  overdue: 'overdue',
  escalated: 'escalated',
  later: 'later',
}

/** Without a person the views cover all inboxes, and no task is snoozed. */
export const viewedTasks = (view: InboxView, who: Identity | null, now: Instant): ViewedTasks => {
  const trait = TRAITS[view]
  const only = trait === null ? null : { trait, now }
  if (who === null) return { addresses: view === 'later' ? [] : null, viewer: null, only }
  return {
    addresses: view === 'groups' ? groupInboxes(who.groups) : inboxesOf(who),
    viewer: view === 'overdue' ? null : { user: who.id, now },
    only,
  }
}

/** The parts of a task that the views need. */
export interface TaskGlance {
  readonly addresses: readonly string[]
  readonly isClaimed: boolean
  readonly isEscalated: boolean
  /** The people who have snoozed it, each with the instant until which they have. */
  readonly putOff: Readonly<Record<string, Instant>>
}

/** The newest tasks of some inboxes, and the number of overdue ones; both are bounded by the limit of the query. */
export interface InboxGlance {
  readonly newest: readonly TaskGlance[]
  readonly overdue: number
}

export interface ViewCounts {
  readonly counts: Readonly<Record<InboxView, number>>
  /** Views whose count is a lower bound. */
  readonly more: readonly InboxView[]
}

export const viewCounts = (
  { newest, overdue }: InboxGlance,
  who: Identity | null,
  { now, most }: { readonly now: Instant; readonly most: number },
): ViewCounts => {
  const isLater = ({ putOff }: TaskGlance): boolean => who !== null && (putOff[who.id] ?? 0) > now
  const groups = who === null ? null : groupInboxes(who.groups)
  const isOfGroup = ({ addresses }: TaskGlance): boolean =>
    groups === null || addresses.some((address) => groups.includes(address))
  const here = newest.filter((task) => !isLater(task))
  const counts = {
    mine: here.length,
    groups: here.filter(isOfGroup).length,
    unassigned: here.filter(({ isClaimed }) => !isClaimed).length,
    overdue,
    escalated: here.filter(({ isEscalated }) => isEscalated).length,
    later: newest.length - here.length,
  }
  const isOpenEnded = (view: InboxView): boolean => (view === 'overdue' ? overdue : newest.length) >= most
  return { counts, more: INBOX_VIEWS.filter(isOpenEnded) }
}
