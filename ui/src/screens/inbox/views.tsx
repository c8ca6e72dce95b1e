/** Which tasks are looked at: the views of an inbox, each with how many it has. The chosen one is in the address. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  AlarmClock,
  ArrowUpNarrowWide,
  CalendarClock,
  CircleCheck,
  CircleDashed,
  Inbox as InboxSign,
  Layers,
  Users,
} from 'lucide-react'
import type { InboxViews } from '../../api/documents.ts'
import { useMe } from '../../api/me.ts'
import { viewsQuery } from '../../api/queries.ts'

type Counted = Exclude<keyof InboxViews, 'more'>

const VIEWS = [
  { view: 'mine', label: 'Mine', icon: InboxSign, empty: 'Nothing waits for you.' },
  { view: 'groups', label: 'My groups', icon: Users, empty: 'Nothing waits for your groups.' },
  { view: 'unassigned', label: 'Unassigned', icon: CircleDashed, empty: 'Somebody has claimed everything.' },
  { view: 'overdue', label: 'Overdue', icon: AlarmClock, empty: 'Nothing is late.' },
  { view: 'escalated', label: 'Escalated', icon: ArrowUpNarrowWide, empty: 'Nothing was escalated to you.' },
  { view: 'later', label: 'Later', icon: CalendarClock, empty: 'You have put nothing off.' },
  { view: 'open', label: 'All open', icon: Layers, empty: 'Nothing waits for anybody.' },
  { view: 'done', label: 'Done', icon: CircleCheck, empty: 'Nothing was decided yet.' },
] as const

export const emptyTextOf = (view: string): string => (VIEWS.find((one) => one.view === view) ?? VIEWS[0]).empty

const Count = ({ view, views }: { readonly view: string; readonly views: InboxViews | undefined }) => {
  const count = views?.[view as Counted]
  if (typeof count !== 'number' || count === 0) return null
  return (
    <span className="count">
      {count}
      {views?.more.some((one) => one === view) === true && '+'}
    </span>
  )
}

export const Views = ({ chosen }: { readonly chosen: string }) => {
  const { data } = useQuery(viewsQuery(useMe()))
  return (
    <nav className="views" aria-label="Views">
      {VIEWS.map(({ view, label, icon: Icon }) => (
        <Link
          key={view}
          to="/inbox"
          search={{ view }}
          className="view"
          activeProps={{}}
          data-chosen={chosen === view}
          aria-current={chosen === view ? 'page' : undefined}
        >
          <Icon size={15} aria-hidden />
          {label}
          <Count view={view} views={data} />
        </Link>
      ))}
    </nav>
  )
}
