/** One task: what is asked, of whom, until when; the bundle as a review; the buttons. */

import { Alert, Badge, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { sendJson } from '../../api/client.ts'
import type { TaskAction, TaskDetail, TaskItem } from '../../api/documents.ts'
import { becomeMe, useLogin, useMay, useMe } from '../../api/me.ts'
import { askAgain } from '../../api/news.ts'
import { taskQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { isDialogOpen, letter } from '../../parts/typing.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { When } from '../../parts/when.tsx'
import { Content } from './content.tsx'
import { SubmitDialog } from './decide.tsx'
import { ItemPanel, MarkSign } from './item.tsx'
import { itemsOf, markOf, progressOf, restApproved } from './marks.ts'
import { type MarkBook, useMarks } from './use-marks.ts'

const SAVED = {
  saved: 'marks are saved',
  saving: 'saving',
  unsaved: 'marks are NOT saved: the server did not take them',
} as const

/** What is typed next is meant for the first field. */
const beginToEdit = (): void => {
  flushSync(() => document.querySelector<HTMLElement>('[data-edit]')?.click())
  document.querySelector<HTMLElement>('[role=tabpanel] textarea')?.focus()
}

/** The keys of a review: move, mark, edit, submit. */
const useReviewKeys = (
  task: TaskDetail,
  book: MarkBook,
  {
    at,
    go,
    submit,
  }: { readonly at: TaskItem | undefined; readonly go: (by: number) => void; readonly submit: () => void },
): void => {
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
}: {
  readonly items: readonly TaskItem[]
  readonly book: MarkBook
  readonly at: number
  readonly choose: (index: number) => void
}) => (
  <ol className="items" aria-label="Items">
    {items.map((item, i) => (
      <li key={item.id}>
        <button type="button" aria-current={i === at} onClick={() => choose(i)}>
          <span>{item.title}</span>
          <MarkSign item={item} mark={markOf(book.marks, item.id)} />
        </button>
      </li>
    ))}
  </ol>
)

const Review = ({
  task,
  book,
  submit,
}: {
  readonly task: TaskDetail
  readonly book: MarkBook
  readonly submit: () => void
}) => {
  const items = itemsOf(task)
  const [at, setAt] = useState(0)
  const item = items[at]
  const canMark = task.allowed_actions.length > 0
  const [go] = useState(() => (by: number) => setAt((now) => Math.max(0, Math.min(items.length - 1, now + by))))
  useReviewKeys(task, book, { at: canMark ? item : undefined, go, submit })
  const { total, reviewed } = progressOf(items, book.marks)
  if (item === undefined) return null
  const editable = task.sections.some(({ items: own, is_editable }) => is_editable && own.includes(item))
  return (
    <div className="review">
      <div>
        <Group justify="space-between" mb="xs">
          <Text size="sm" fw={650}>
            {reviewed}/{total} reviewed
          </Text>
          <Text size="sm" className="quiet" role="status">
            {SAVED[book.saved]}
          </Text>
        </Group>
        <ItemList items={items} book={book} at={at} choose={setAt} />
        {canMark && (
          <Button size="xs" variant="default" mt="xs" onClick={() => book.setAll(restApproved(items, book.marks))}>
            Mark the rest approved
          </Button>
        )}
      </div>
      <ItemPanel
        key={item.id}
        item={item}
        mark={markOf(book.marks, item.id)}
        editable={editable}
        canMark={canMark}
        change={(mark) => book.set(item.id, mark)}
      />
    </div>
  )
}

const Head = ({ task }: { readonly task: TaskDetail }) => (
  <div>
    <Group gap="xs">
      <Title order={2} size="h3" data-id={task.id}>
        {task.title}
      </Title>
      <Badge variant="outline" color="gray" tt="none" className="label">
        {task.type}
      </Badge>
      <Text className="quiet">{task.status.replaceAll('_', ' ')}</Text>
    </Group>
    <Group gap="xs" className="quiet">
      <Link to="/runs/$id" params={{ id: task.run_id }} className="id">
        {shortId(task.run_id)}
      </Link>
      {task.deadline !== null && (
        <span>
          due <When at={task.deadline} />
        </span>
      )}
      <span>for {[...task.assignees.users, ...task.assignees.groups].join(', ')}</span>
      {task.claimed_by !== null && <span>claimed by {task.claimed_by}</span>}
    </Group>
    {task.instructions !== '' && <Text mt="xs">{task.instructions}</Text>}
    {task.remarks !== null && (
      <Alert color="grape" variant="outline" mt="xs" title="From the agent, unchecked">
        <Content value={task.remarks} />
      </Alert>
    )}
  </div>
)

/** Why there is no button. */
const sayWhyNot = ({ end }: TaskDetail, name: string): string => {
  if (end !== null) return `${end.decision} by ${end.by ?? 'the system'}${end.reason === null ? '' : `: ${end.reason}`}`
  return `${name} may not decide this task.`
}

/** Nobody logs in on loopback: whoever decides says who they are, and is taken for one of those who are asked. */
const SayWho = ({ task }: { readonly task: TaskDetail }) => {
  const [name, setName] = useState('')
  const groups = task.assignees.groups.join(', ')
  const submit = (event: { preventDefault(): void }): void => {
    event.preventDefault()
    becomeMe({ name, groups })
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end" className="actions">
        <TextInput
          label={groups === '' ? 'Who are you?' : `Who are you, of ${groups}?`}
          placeholder="your name"
          required
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
        />
        <Button type="submit">Decide as this person</Button>
      </Group>
    </form>
  )
}

const Buttons = ({ task, choose }: { readonly task: TaskDetail; readonly choose: (action: TaskAction) => void }) => {
  const { name } = useMe()
  const login = useLogin()
  const actions = task.actions.filter((action) => task.allowed_actions.includes(action.name))
  if (login === null && name === '' && task.end === null) return <SayWho task={task} />
  if (actions.length === 0) return <Text className="quiet">{sayWhyNot(task, name)}</Text>
  return (
    <Group gap="xs" className="actions">
      {actions.map((action, i) => (
        <Button key={action.name} variant={i === 0 ? 'filled' : 'default'} onClick={() => choose(action)}>
          {action.label}
        </Button>
      ))}
    </Group>
  )
}

/** Whom else it goes to. */
const useActionKeys = (task: TaskDetail, choose: (action: TaskAction) => void): void => {
  const key = (name: string) =>
    letter(() => {
      const action = task.actions.find((one) => one.name === name && task.allowed_actions.includes(name))
      if (action !== undefined) choose(action)
    })
  const [reassign, escalate] = [key('reassign'), key('escalate')]
  useKeys({ s: reassign, '!': escalate, 'Shift+!': escalate })
}

const Opened = ({ task, done }: { readonly task: TaskDetail; readonly done: () => void }) => {
  const book = useMarks(task)
  const [action, setAction] = useState<TaskAction | null>(null)
  useActionKeys(task, setAction)
  const first = task.actions.find(({ name }) => task.allowed_actions.includes(name))
  const shown = task.sections.filter(({ type }) => type === 'summary' || type === 'preview')
  return (
    <Stack gap="md">
      <Head task={task} />
      {shown.map((section) => (
        <section key={section.id} aria-label={section.title} className="section">
          <Text fw={650} size="sm">
            {section.title}
          </Text>
          <Content value={section.content} />
        </section>
      ))}
      <Review task={task} book={book} submit={() => first !== undefined && setAction(first)} />
      <Buttons task={task} choose={setAction} />
      {action !== null && (
        <SubmitDialog task={task} action={action} book={book} close={() => setAction(null)} done={done} />
      )}
    </Stack>
  )
}

/** The first opening is recorded: others see that somebody looks at it. */
const useViewed = (id: string): void => {
  const { name } = useMe()
  const mayDecide = useMay('decider')
  const { mutate } = useMutation({
    mutationFn: () => sendJson(`/api/tasks/${id}/view`, {}),
    onSuccess: () => askAgain('tasks', new Set([id])),
  })
  useEffect(() => {
    if (name !== '' && mayDecide) mutate()
  }, [name, mayDecide, mutate])
}

export const Task = ({ id, done }: { readonly id: string; readonly done: () => void }) => {
  const me = useMe()
  useViewed(id)
  const { data: task, error, refetch } = useQuery(taskQuery(id, me))
  if (task === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return <Opened key={`${task.id} ${task.revision} ${me.name}`} task={task} done={done} />
}
