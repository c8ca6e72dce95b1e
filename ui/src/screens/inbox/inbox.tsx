/** The inbox: views on top, the tasks of the chosen view, and the open task next to them. */
import { Button, Text, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
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
import { type MouseEvent, useCallback, useEffect, useMemo, useRef } from 'react'
import type { InboxViews, TaskSummary } from '../../api/documents.ts'
import { useMe } from '../../api/me.ts'
import { queryClient, tasksQuery, viewsQuery } from '../../api/queries.ts'
import { opensNext } from '../../parts/inbox-settings.tsx'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { isDialogOpen } from '../../parts/typing.ts'
import { useFirstCommand } from '../../parts/use-first-command.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { Task } from '../task/task.tsx'
import { BulkBar } from './bulk.tsx'
import { TaskRow } from './task-row.tsx'
import { type Selection, useSelection } from './use-selection.ts'

/*
 * A virtual list of tasks: only the visible rows and a few more are in the DOM. All rows have the same height.
 * Loads the next page before the user reaches the end.
 */

const ROW_HEIGHT = 72
/** Extra rows in the DOM above and below, so that keyboard focus can move to them. */
const OVERSCAN = 4
/** Loads the next page this many rows before the end. */
const AHEAD = 60

interface TaskListProps {
  readonly tasks: readonly TaskSummary[]
  readonly view: string
  readonly chosen: string | undefined
  readonly selected: ReadonlySet<string>
  readonly open: (id: string) => void
  readonly more: () => void
}

/** A plain click. With a modifier key the browser handles the link itself. */
const isPlain = ({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean =>
  button === 0 && !(metaKey || ctrlKey || shiftKey || altKey)

const TaskList = ({ tasks, view, chosen, selected, open, more }: TaskListProps) => {
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  })
  const shown = rows.getVirtualItems()
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= tasks.length - AHEAD
  useEffect(() => {
    if (isNearEnd) more()
  }, [isNearEnd, more])
  const onClick = (event: MouseEvent): void => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-id]') : null
    const id = row?.dataset['id']
    if (id === undefined || !isPlain(event)) return
    event.preventDefault()
    open(id)
  }
  return (
    <div ref={box} className="task-list">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: it handles clicks on the links inside, which Enter triggers too */}
      <ul aria-label="Tasks" style={{ height: rows.getTotalSize() }} onClick={onClick}>
        {shown.map(({ index, start }) => {
          const task = tasks[index]
          if (task === undefined) return null
          return (
            <TaskRow
              key={task.id}
              task={task}
              view={view}
              isChosen={task.id === chosen}
              isSelected={selected.has(task.id)}
              index={index}
              count={tasks.length}
              top={start}
            />
          )
        })}
      </ul>
    </div>
  )
}

// The views of the inbox, each with its count. The URL holds the chosen one.

type Counted = Exclude<keyof InboxViews, 'more'>

const VIEWS = [
  { view: 'mine', label: 'Mine', icon: InboxSign, empty: "You're all caught up." },
  { view: 'groups', label: 'My groups', icon: Users, empty: 'No tasks for your groups.' },
  { view: 'unassigned', label: 'Unassigned', icon: CircleDashed, empty: 'All tasks are claimed.' },
  { view: 'overdue', label: 'Overdue', icon: AlarmClock, empty: 'Nothing is overdue.' },
  { view: 'escalated', label: 'Escalated', icon: ArrowUpNarrowWide, empty: 'No escalated tasks.' },
  { view: 'later', label: 'Postponed', icon: CalendarClock, empty: 'No postponed tasks.' },
  { view: 'open', label: 'All open', icon: Layers, empty: 'No open tasks.' },
  { view: 'done', label: 'Done', icon: CircleCheck, empty: 'No decisions yet.' },
] as const

const emptyTextOf = (view: string): string => (VIEWS.find((one) => one.view === view) ?? VIEWS[0]).empty

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

const Views = ({ chosen }: { readonly chosen: string }) => {
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

const route = getRouteApi('/inbox')

const Nothing = ({ view }: { readonly view: string }) => {
  const command = useFirstCommand()
  if (view !== 'mine' && view !== 'open') return <Empty>{emptyTextOf(view)}</Empty>
  return <Empty command={command}>{emptyTextOf(view)} To create a task, send an event:</Empty>
}

/** Escape leaves a text field first, then the task. An open dialog handles the key itself. */
const useBackKey = (back: () => void): void => {
  const leave = (): void => {
    if (isDialogOpen()) return
    const at = document.activeElement
    if (at instanceof HTMLElement && /^(INPUT|TEXTAREA)$/.test(at.tagName)) at.blur()
    else back()
  }
  // Capture: this must run before the dialog closes and removes itself.
  useKeys({ Escape: leave }, { capture: true })
}

const List = ({ view, selection }: { readonly view: string; readonly selection: Selection }) => {
  const { task: chosen } = route.useSearch()
  const navigate = route.useNavigate()
  const me = useMe()
  const { data, error, isPending, isFetching, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery(
    tasksQuery(view, me),
  )
  const tasks = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  // A new fetch would cancel one in progress and start again.
  const canAsk = hasNextPage && !isFetching
  const more = useCallback(() => void (canAsk && fetchNextPage()), [canAsk, fetchNextPage])
  const open = useCallback((id: string) => void navigate({ search: { view, task: id } }), [navigate, view])
  if (isPending) return <Loading />
  if (error !== null && data === undefined) return <Failed error={error} again={() => void refetch()} />
  if (tasks.length === 0) return <Nothing view={view} />
  return <TaskList tasks={tasks} view={view} chosen={chosen} selected={selection.ids} open={open} more={more} />
}

/** The task below, else the one above. Undefined: there is no other. */
const neighbourOf = (tasks: readonly TaskSummary[], id: string): string | undefined => {
  const at = tasks.findIndex((task) => task.id === id)
  return (tasks[at + 1] ?? tasks[at - 1])?.id
}

/** Opens the next task of the list after a submit, if the user has that setting on. */
const useNext = (view: string): (() => void) => {
  const { task } = route.useSearch()
  const navigate = route.useNavigate()
  const me = useMe()
  return () => {
    const listed = queryClient.getQueryData(tasksQuery(view, me).queryKey)
    const tasks = listed?.pages.flatMap(({ items }) => items) ?? []
    const next = opensNext.isOn() && task !== undefined ? neighbourOf(tasks, task) : undefined
    void navigate({ search: { view, task: next } })
  }
}

export const Inbox = () => {
  useRowKeys()
  const { task, view = 'mine' } = route.useSearch()
  const navigate = route.useNavigate()
  const back = useCallback(() => void navigate({ search: { view } }), [navigate, view])
  useBackKey(back)
  const selection = useSelection(task)
  const next = useNext(view)
  return (
    <div className="inbox" data-open={task !== undefined}>
      <div className="inbox-head">
        <Title order={1} size="h2">
          Inbox
        </Title>
        <Views chosen={view} />
      </div>
      <div className="inbox-list">
        <List view={view} selection={selection} />
        <BulkBar selection={selection} />
      </div>
      <div className="inbox-task">
        {task !== undefined && (
          <Button className="only-narrow" variant="default" size="xs" mb="sm" onClick={back}>
            All tasks
          </Button>
        )}
        {task === undefined ? (
          <div className="blank">
            <InboxSign size={32} aria-hidden />
            <Text>Choose a task.</Text>
            <Text className="quiet">j and k move, Enter opens, x selects, ? shows all shortcuts</Text>
          </div>
        ) : (
          <Task key={task} id={task} done={next} />
        )}
      </div>
    </div>
  )
}
