/** Reviews a bundle: the list of items with their drafts, the current item, and the keyboard shortcuts. */
import { Alert, Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import type { TaskDetail, TaskItem } from '../../api/documents.ts'
import { isDialogOpen, letter } from '../../parts/typing.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { MarkByRule } from '../inbox/rule.tsx'
import { ItemPanel, MarkSign } from './item.tsx'
import { itemsOf, markOf, progressOf, restApproved, staleMarksOf, UNMARKED } from './marks.ts'
import type { MarkBook } from './use-marks.ts'

const SAVED = {
  saved: 'Draft saved',
  saving: 'Saving',
  unsaved: 'Draft NOT saved: the server did not accept it',
  contested: 'Draft NOT saved: choose a version',
} as const

/** Opens the editor and focuses its first field. */
const beginToEdit = (): void => {
  flushSync(() => document.querySelector<HTMLElement>('[data-edit]')?.click())
  document.querySelector<HTMLElement>('[role=tabpanel] textarea')?.focus()
}

interface Place {
  readonly at: TaskItem | undefined
  readonly go: (by: number) => void
  readonly submit: () => void
}

/** Keyboard shortcuts of a review: move, approve, reject, edit, submit. */
const useReviewKeys = (task: TaskDetail, book: MarkBook, { at, go, submit }: Place): void => {
  const onItem = (act: (item: TaskItem) => void) => letter(() => at !== undefined && act(at))
  const mark = (verdict: 'approve' | 'reject') =>
    onItem((item) => book.set(item.id, { ...markOf(book.marks, item.id), verdict }))
  useKeys({
    n: onItem(() => go(1)),
    p: onItem(() => go(-1)),
    a: mark('approve'),
    r: mark('reject'),
    e: onItem(beginToEdit),
    d: onItem(() => document.querySelector<HTMLElement>('[data-diff]')?.click()),
    u: onItem(() => book.undo()),
    'Shift+A': onItem(() => book.setAll(restApproved(itemsOf(task), book.marks))),
    '$mod+Enter': (event: KeyboardEvent) => {
      event.preventDefault()
      if (!isDialogOpen()) submit()
    },
  })
}

const ItemList = ({
  items,
  book,
  at,
  choose,
  isOpen,
}: {
  readonly items: readonly TaskItem[]
  readonly book: MarkBook
  readonly isOpen: boolean
  readonly at: number
  readonly choose: (index: number) => void
}) => (
  <ol className="items" aria-label="Items">
    {items.map((item, i) => (
      <li key={item.id}>
        <button type="button" aria-current={i === at} onClick={() => choose(i)}>
          <span>{item.title}</span>
          <MarkSign item={item} mark={isOpen ? markOf(book.marks, item.id) : null} />
        </button>
      </li>
    ))}
  </ol>
)

/** Drafts of an earlier revision. They apply only after the user restores them. */
const StaleMarks = ({ task, book }: { readonly task: TaskDetail; readonly book: MarkBook }) => {
  const stale = staleMarksOf(task)
  const left = [...stale.keys()].filter((id) => !book.marks.has(id))
  if (left.length === 0) return null
  return (
    <Alert className="attention" color="yellow" variant="outline" mb="xs" title="Drafts from an earlier revision">
      <Text size="sm">You reviewed {left.length} of these items before they were revised.</Text>
      <Button
        size="compact-xs"
        variant="default"
        mt="xs"
        onClick={() => book.setAll(new Map([...stale, ...book.marks]))}
      >
        Restore drafts
      </Button>
    </Alert>
  )
}

const Progress = ({ reviewed, total }: { readonly reviewed: number; readonly total: number }) => (
  <span className="progress" aria-hidden>
    <span style={{ width: `${(100 * reviewed) / total}%` }} />
  </span>
)

interface ReviewProps {
  readonly task: TaskDetail
  readonly book: MarkBook
  readonly submit: () => void
}

export const Review = ({ task, book, submit }: ReviewProps) => {
  const items = itemsOf(task)
  const [at, setAt] = useState(0)
  const item = items[at]
  const canMark = task.allowed_actions.length > 0
  const [go] = useState(() => (by: number) => setAt((now) => Math.max(0, Math.min(items.length - 1, now + by))))
  useReviewKeys(task, book, { at: canMark ? item : undefined, go, submit })
  const { total, reviewed } = progressOf(items, book.marks)
  if (item === undefined) return null
  const section = task.sections.find(({ items: own }) => own.includes(item))
  return (
    <div className="review">
      <div>
        <Group justify="space-between" mb={4}>
          <Text size="sm" fw={650}>
            {task.is_open ? `${reviewed}/${total} reviewed` : `${total} items`}
          </Text>
          {task.is_open && (
            <Text size="sm" className="quiet" role="status">
              {SAVED[book.saved]}
            </Text>
          )}
        </Group>
        {task.is_open && <Progress reviewed={reviewed} total={total} />}
        {canMark && <StaleMarks task={task} book={book} />}
        <ItemList items={items} book={book} at={at} choose={setAt} isOpen={task.is_open} />
        {canMark && (
          <Button size="xs" variant="default" mt="xs" onClick={() => book.setAll(restApproved(items, book.marks))}>
            Approve remaining
          </Button>
        )}
        {canMark && items.length > 1 && <MarkByRule task={task.id} book={book} />}
      </div>
      <ItemPanel
        key={item.id}
        task={task}
        item={item}
        mark={task.is_open ? markOf(book.marks, item.id) : UNMARKED}
        editable={section?.is_editable === true}
        canMark={canMark}
        change={(mark) => book.set(item.id, mark)}
      />
    </div>
  )
}
