/**
 * One task in the list, at its place.
 *
 * Drawn once for what it shows: a row that stays while the list is scrolled is not drawn again. It is a plain link, since a router's
 * link per row costs more than all the rest of it; the list opens what was clicked.
 */
import { CircleHelp, ClipboardCheck, Eye, PenLine, Split } from 'lucide-react'
import { memo } from 'react'
import { mountPath } from '../../api/client.ts'
import type { TaskSummary } from '../../api/documents.ts'
import { When } from '../../parts/when.tsx'

const SIGNS = { approval: ClipboardCheck, review: Eye, input: PenLine, decision: Split } as const

export interface TaskRowProps {
  readonly task: TaskSummary
  readonly view: string
  readonly isChosen: boolean
  readonly index: number
  readonly count: number
  /** Distance from the top of the list, in pixels. */
  readonly top: number
}

const Due = ({ deadline, isOverdue }: { readonly deadline: string; readonly isOverdue: boolean }) => (
  <span className="due" data-overdue={isOverdue}>
    {isOverdue ? 'overdue since ' : 'due '}
    <When at={deadline} />
  </span>
)

const Content = ({ task }: { readonly task: TaskSummary }) => {
  const Sign = SIGNS[task.type as keyof typeof SIGNS] ?? CircleHelp
  return (
    <>
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
        {task.deadline !== null && <Due deadline={task.deadline} isOverdue={task.is_overdue} />}
      </span>
    </>
  )
}

export const TaskRow = memo(({ task, view, isChosen, index, count, top }: TaskRowProps) => (
  <li
    aria-posinset={index + 1}
    aria-setsize={count}
    className="task-place"
    style={{ transform: `translateY(${top}px)` }}
  >
    <a
      href={`${mountPath()}/inbox?view=${view}&task=${task.id}`}
      data-row
      data-id={task.id}
      className="task-row"
      aria-current={isChosen}
    >
      <Content task={task} />
    </a>
  </li>
))
