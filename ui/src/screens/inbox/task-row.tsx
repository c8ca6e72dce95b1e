/**
 * One row of the task list.
 *
 * Memoised: a row is not rendered again while the list scrolls. Uses a plain link, because a router link per row costs more than the
 * rest of the row. The list handles the click.
 */
import { Flag, SquareCheck } from 'lucide-react'
import { memo } from 'react'
import { mountPath } from '../../api/client.ts'
import type { TaskSummary } from '../../api/documents.ts'
import { When } from '../../parts/when.tsx'
import { decisionLabel } from '../task/ends.ts'
import { originOf } from '../task/origin.tsx'
import { Due } from './due.tsx'

export interface TaskRowProps {
  readonly task: TaskSummary
  readonly view: string
  readonly isChosen: boolean
  readonly isSelected: boolean
  readonly index: number
  readonly count: number
  /** Distance from the top of the list, in pixels. */
  readonly top: number
}

const itemsText = ({ items, edited }: TaskSummary): string => {
  if (items === 0) return ''
  return ` · ${items === 1 ? '1 item' : `${items} items`}${edited === 0 ? '' : ` · ${edited} edited`}`
}

const who = ({ claimed_by, assignees }: TaskSummary): string =>
  claimed_by === null ? assignees.map((address) => address.replace(/^\w+:/, '')).join(', ') : `claimed by ${claimed_by}`

const Content = ({ task, isSelected }: Pick<TaskRowProps, 'task' | 'isSelected'>) => {
  const { icon: Sign, word } = originOf(task)
  return (
    <>
      <span className="task-title">
        {isSelected ? <SquareCheck size={15} role="img" aria-label="selected" /> : <Sign size={15} aria-hidden />}
        <strong>{task.title}</strong>
        {task.priority > 0 && (
          <span className="priority">
            <Flag size={12} aria-hidden />
            <span className="unseen">priority </span>
            {task.priority}
          </span>
        )}
      </span>
      <span className="quiet">
        {word} · {who(task)}
        {itemsText(task)}
        {task.viewing !== null && ` · ${task.viewing} is viewing`}
      </span>
      <span className="quiet">
        asked <When at={task.created_at} />
        {task.is_open && task.deadline !== null && <Due asked={task.created_at} deadline={task.deadline} />}
        {task.decision !== null &&
          ` · ${decisionLabel(task.decision)}${task.decided_by === null ? '' : ` by ${task.decided_by}`}`}
        {task.is_open && task.escalation_reason !== null && <span className="reason">{task.escalation_reason}</span>}
      </span>
    </>
  )
}

export const TaskRow = memo(({ task, view, isChosen, isSelected, index, count, top }: TaskRowProps) => (
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
      data-selected={isSelected}
    >
      <Content task={task} isSelected={isSelected} />
    </a>
  </li>
))
