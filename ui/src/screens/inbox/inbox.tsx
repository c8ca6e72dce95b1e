/** What waits for people: views on the left, the tasks of the chosen one, and the open task beside them. */
import { Button, Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Inbox as InboxSign } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import type { TaskSummary } from '../../api/documents.ts'
import { useMe } from '../../api/me.ts'
import { queryClient, tasksQuery } from '../../api/queries.ts'
import { opensNext } from '../../parts/inbox-settings.tsx'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { isDialogOpen } from '../../parts/typing.ts'
import { useFirstCommand } from '../../parts/use-first-command.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { Task } from '../task/task.tsx'
import { BulkBar } from './bulk.tsx'
import { TaskList } from './task-list.tsx'
import { type Selection, useSelection } from './use-selection.ts'
import { emptyTextOf, Views } from './views.tsx'

const route = getRouteApi('/inbox')

const Nothing = ({ view }: { readonly view: string }) => {
  const command = useFirstCommand()
  if (view !== 'mine' && view !== 'open') return <Empty>{emptyTextOf(view)}</Empty>
  return <Empty command={command}>{emptyTextOf(view)} An event starts what asks people:</Empty>
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

const List = ({ view, selection }: { readonly view: string; readonly selection: Selection }) => {
  const { task: chosen } = route.useSearch()
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
  return <TaskList tasks={tasks} view={view} chosen={chosen} selected={selection.ids} open={open} more={more} />
}

/** The one below, else the one above; undefined: it was the last. */
const neighbourOf = (tasks: readonly TaskSummary[], id: string): string | undefined => {
  const at = tasks.findIndex((task) => task.id === id)
  return (tasks[at + 1] ?? tasks[at - 1])?.id
}

/** Where a person is after a submit: at the next task of the list they came from, unless they want to choose it themselves. */
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
            <Text className="quiet">j and k move, Enter opens, x selects, ? shows all keys</Text>
          </div>
        ) : (
          <Task key={task} id={task} done={next} />
        )}
      </div>
    </div>
  )
}
