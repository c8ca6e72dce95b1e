/** What waits for people: views on the left of the list, the open task beside it. */
import { Button, Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Inbox as InboxSign } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import { useMe } from '../../api/me.ts'
import { tasksQuery } from '../../api/queries.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { isDialogOpen } from '../../parts/typing.ts'
import { useFirstCommand } from '../../parts/use-first-command.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { Task } from './task.tsx'
import { TaskList } from './task-list.tsx'

const route = getRouteApi('/inbox')
const VIEWS = [
  { view: 'mine', label: 'Mine' },
  { view: 'open', label: 'All open' },
  { view: 'done', label: 'Done' },
] as const

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

const Nothing = ({ view }: { readonly view: string }) => {
  const command = useFirstCommand()
  const { name } = useMe()
  if (view === 'done') return <Empty>Nothing was decided yet.</Empty>
  return (
    <Empty command={command}>
      Nothing waits for {view === 'mine' && name !== '' ? name : 'anybody'}. An event starts what asks people:
    </Empty>
  )
}

/** Out of a field first, then out of the task. A dialog takes the key for itself. */
const useBackKey = (back: () => void): void => {
  const leave = (): void => {
    if (isDialogOpen()) return
    const at = document.activeElement
    if (at instanceof HTMLElement && /^(INPUT|TEXTAREA)$/.test(at.tagName)) at.blur()
    else back()
  }
  // Asked before the dialog is: after it has closed, nobody would know of it.
  useKeys({ Escape: leave }, { capture: true })
}

const List = () => {
  const { view = 'mine', task: chosen } = route.useSearch()
  const navigate = route.useNavigate()
  const me = useMe()
  const { data, error, isPending, isFetching, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery(
    tasksQuery(view, me),
  )
  const tasks = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  // A question that is under way would be given up by the next one, and asked again from the beginning.
  const canAsk = hasNextPage && !isFetching
  const more = useCallback(() => void (canAsk && fetchNextPage()), [canAsk, fetchNextPage])
  const open = useCallback((id: string) => void navigate({ search: { view, task: id } }), [navigate, view])
  if (isPending) return <Loading />
  if (error !== null && data === undefined) return <Failed error={error} again={() => void refetch()} />
  if (tasks.length === 0) return <Nothing view={view} />
  return <TaskList tasks={tasks} view={view} chosen={chosen} open={open} more={more} />
}

export const Inbox = () => {
  useRowKeys()
  const { task, view } = route.useSearch()
  const navigate = route.useNavigate()
  const back = useCallback(() => void navigate({ search: { view } }), [navigate, view])
  useBackKey(back)
  return (
    <div className="inbox" data-open={task !== undefined}>
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
        {task !== undefined && (
          <Button className="only-narrow" variant="default" size="xs" mb="sm" onClick={back}>
            All tasks
          </Button>
        )}
        {task === undefined ? (
          <div className="blank">
            <InboxSign size={32} aria-hidden />
            <Text>Choose a task.</Text>
            <Text className="quiet">j and k move, Enter opens, ? shows all keys</Text>
          </div>
        ) : (
          <Task key={task} id={task} done={back} />
        )}
      </div>
    </div>
  )
}
