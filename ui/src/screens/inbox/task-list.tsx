/**
 * Tasks as a list of any length, of which only what is in sight, and a little more, is in the page.
 *
 * Owns which rows those are, and when to ask for more of them. Every row is as high as every other.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, useEffect, useRef } from 'react'
import type { TaskSummary } from '../../api/documents.ts'
import { TaskRow } from './task-row.tsx'

const ROW_HEIGHT = 72
/** Rows in the page that are not in sight yet: the keys reach them before they are. */
const OVERSCAN = 4
/** The next page is asked for so many rows before the end. */
const AHEAD = 60

export interface TaskListProps {
  readonly tasks: readonly TaskSummary[]
  readonly view: string
  readonly chosen: string | undefined
  readonly selected: ReadonlySet<string>
  readonly open: (id: string) => void
  readonly more: () => void
}

/** Whoever holds a key wants what the browser does with links. */
const isPlain = ({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean =>
  button === 0 && !(metaKey || ctrlKey || shiftKey || altKey)

export const TaskList = ({ tasks, view, chosen, selected, open, more }: TaskListProps) => {
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
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: it hears the clicks of the links in it, which Enter makes too */}
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
