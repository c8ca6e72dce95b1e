/**
 * The views of an inbox: which tasks each of them has for a person, and how many.
 *
 * Owns what the views mean. Pure: what is read comes in, and who looks. A task that is late is overdue for whoever put it off, too.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { Identity } from './spec.ts'

export const INBOX_VIEWS = ['mine', 'groups', 'unassigned', 'overdue', 'escalated', 'later'] as const
export type InboxView = (typeof INBOX_VIEWS)[number]

/** What the tasks of a page have in common, beside their inboxes. `later`: the viewer has put them off beyond now. */
export type TaskTrait = 'unclaimed' | 'overdue' | 'escalated' | 'later'

/** The inboxes of a person: their own, and those of their groups. */
export const inboxesOf = ({ id, groups }: Identity): readonly string[] => [`user:${id}`, ...groupInboxes(groups)]

const groupInboxes = (groups: readonly string[]): readonly string[] => groups.map((group) => `group:${group}`)

export interface ViewedTasks {
  /** Null: everybody's. */
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

/** Who is nobody looks at everybody's tasks, and has put off none. */
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

/** What the views ask of a task. */
export interface TaskGlance {
  readonly addresses: readonly string[]
  readonly isClaimed: boolean
  readonly isEscalated: boolean
  /** By whom, until when. */
  readonly putOff: Readonly<Record<string, Instant>>
}

/** The newest tasks of some inboxes, and how many are overdue; of each at most so many were looked at. */
export interface InboxGlance {
  readonly newest: readonly TaskGlance[]
  readonly overdue: number
}

export interface ViewCounts {
  readonly counts: Readonly<Record<InboxView, number>>
  /** Of these there are at least so many. */
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
