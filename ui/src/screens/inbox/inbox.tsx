/** What waits for people: views on the left of the list, the open task beside it. */
import { Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { CircleHelp, ClipboardCheck, Eye, Inbox as InboxSign, PenLine, Split } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import type { TaskSummary } from '../../api/documents.ts'
import { useMe } from '../../api/me.ts'
import { tasksQuery } from '../../api/queries.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { When } from '../../parts/when.tsx'
import { Task } from './task.tsx'

const route = getRouteApi('/inbox')
const VIEWS = [
  { view: 'mine', label: 'Mine' },
  { view: 'open', label: 'All open' },
  { view: 'done', label: 'Done' },
] as const
const SIGNS = { approval: ClipboardCheck, review: Eye, input: PenLine, decision: Split } as const
const ROW_HEIGHT = 72
const OVERSCAN = 8

const Views = () => {
  const { view = 'mine' } = route.useSearch()
  return (
    <nav className="chips" aria-label="Views">
      {VIEWS.map(({ view: name, label }) => (
        <Link key={name} to="/inbox" search={{ view: name }} className="chip" data-chosen={view === name}>
          {label}
        </Link>
      ))}
    </nav>
  )
}

const Row = ({ task, chosen }: { readonly task: TaskSummary; readonly chosen: boolean }) => {
  const { view } = route.useSearch()
  const Sign = SIGNS[task.type as keyof typeof SIGNS] ?? CircleHelp
  return (
    <Link to="/inbox" search={{ view, task: task.id }} data-row className="task-row" aria-current={chosen}>
      <span className="task-title">
        <Sign size={15} aria-hidden />
        <strong>{task.title}</strong>
      </span>
      <span className="quiet">
        {task.type} · {task.claimed_by ?? task.assignees.map((address) => address.replace(/^\w+:/, '')).join(', ')}
        {task.items > 0 && ` · ${task.items === 1 ? '1 item' : `${task.items} items`}`}
      </span>
      <span className="quiet">
        asked <When at={task.created_at} />
        {task.deadline !== null && (
          <span className="due" data-overdue={task.is_overdue}>
            {task.is_overdue ? 'overdue since ' : 'due '}
            <When at={task.deadline} />
          </span>
        )}
      </span>
    </Link>
  )
}

const Rows = ({ tasks, more }: { readonly tasks: readonly TaskSummary[]; readonly more: () => void }) => {
  const { task: chosen } = route.useSearch()
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  })
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= tasks.length - OVERSCAN) more()
  }, [last, tasks.length, more])
  return (
    <div ref={box} className="task-list">
      <ul aria-label="Tasks" style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const task = tasks[index]
          if (task === undefined) return null
          return (
            <li
              key={task.id}
              aria-posinset={index + 1}
              aria-setsize={tasks.length}
              className="task-place"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Row task={task} chosen={task.id === chosen} />
            </li>
          )
        })}
      </ul>
    </div>
  )
}

const List = () => {
  const { view = 'mine' } = route.useSearch()
  const me = useMe()
  const { data, error, isPending, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery(tasksQuery(view, me))
  const tasks = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  if (isPending) return <Loading />
  if (error !== null && data === undefined) return <Failed error={error} again={() => void refetch()} />
  if (tasks.length === 0)
    return view === 'done' ? <Empty>Nothing was decided yet.</Empty> : <Empty>Nothing waits for you.</Empty>
  return <Rows tasks={tasks} more={() => void (hasNextPage && fetchNextPage())} />
}

export const Inbox = () => {
  useRowKeys()
  const { task, view } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <div className="inbox">
      <div className="inbox-list">
        <div className="inbox-head">
          <Title order={1} size="h2">
            Inbox
          </Title>
          <Views />
        </div>
        <List />
      </div>
      <div className="inbox-task">
        {task === undefined ? (
          <div className="blank">
            <InboxSign size={32} aria-hidden />
            <Text>Choose a task.</Text>
            <Text className="quiet">j and k move, Enter opens, ? shows all keys</Text>
          </div>
        ) : (
          <Task key={task} id={task} done={() => void navigate({ search: { view } })} />
        )}
      </div>
    </div>
  )
}
