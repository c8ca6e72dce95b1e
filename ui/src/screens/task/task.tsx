/** One task: head, context, items, history and action buttons. Warns if the task changed after it was opened. */
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { askAgain } from '../../api/changes.ts'
import { sendJson } from '../../api/client.ts'
import { isRecord, type Json, type TaskAction, type TaskDetail } from '../../api/documents.ts'
import { becomeMe, useLogin, useMay, useMe } from '../../api/me.ts'
import { taskQuery } from '../../api/queries.ts'
import { Fold } from '../../parts/fold.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { letter } from '../../parts/typing.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { When } from '../../parts/when.tsx'
import { AtIt } from '../inbox/later.tsx'
import { planIn } from '../plans/steps.tsx'
import { Content, Difference } from './content.tsx'
import { SubmitDialog } from './decide.tsx'
import { changesOf } from './difference.ts'
import { endSentence } from './ends.ts'
import { Head, mayVoteText } from './head.tsx'
import { History } from './history.tsx'
import { isAnyMarked, itemsOf, leftOut } from './marks.ts'
import { Contested } from './newer-drafts.tsx'
import { Review } from './review.tsx'
import { type MarkBook, useMarks } from './use-marks.ts'

// The notice that the task has changed since it was opened, with the changed items.

const ItemChange = ({
  before,
  after,
  title,
}: {
  readonly before: TaskDetail
  readonly after: TaskDetail
  readonly title: string
}) => {
  const find = (task: TaskDetail) => itemsOf(task).find((item) => item.title === title)?.content
  return (
    <div>
      <Text size="sm" fw={650}>
        {title}
      </Text>
      <Difference changes={changesOf(find(before), find(after))} />
    </div>
  )
}

const changedTitles = (before: TaskDetail, after: TaskDetail): readonly string[] => {
  const textOf = (task: TaskDetail) =>
    new Map(itemsOf(task).map(({ title, content }) => [title, JSON.stringify(content)]))
  const [old, now] = [textOf(before), textOf(after)]
  return [...new Set([...old.keys(), ...now.keys()])].filter((title) => old.get(title) !== now.get(title))
}

const Changed = ({
  before,
  after,
  seen,
}: {
  readonly before: TaskDetail
  readonly after: TaskDetail
  readonly seen: () => void
}) => {
  const titles = changedTitles(before, after)
  const isRevised = after.revision !== before.revision
  return (
    <Alert className="attention" color="yellow" variant="outline" title="Changed since you opened it" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {isRevised ? `There is a new revision (${after.revision}).` : 'Someone edited it.'} Your decision applies to
          what is shown now. {titles.length === 0 ? 'No item changed.' : 'Changed items:'}
        </Text>
        {titles.map((title) => (
          <ItemChange key={title} before={before} after={after} title={title} />
        ))}
        <Button size="xs" variant="default" onClick={seen}>
          Dismiss
        </Button>
      </Stack>
    </Alert>
  )
}

// The context of a task, always above its buttons: people need it to decide.

const isEmpty = (value: Json): boolean =>
  value === null || value === '' || (isRecord(value) && Object.keys(value).length === 0)

const Context = ({ value }: { readonly value: Json }) =>
  isEmpty(value) ? null : (
    <section aria-label="Context" className="section">
      <Text fw={650} size="sm">
        Context
      </Text>
      <Content value={value} />
    </section>
  )

/** How the task ended. Warns the user if someone else decided first and their draft was not submitted. */
const Ended = ({ task, book }: { readonly task: TaskDetail; readonly book: MarkBook }) => {
  const { name } = useMe()
  const { end } = task
  if (end === null) return null
  const wasFaster = end.decided_by !== name && isAnyMarked(book.marks)
  const left = wasFaster ? [] : leftOut(itemsOf(task), book.marks)
  return (
    <Alert
      variant="outline"
      color={wasFaster ? 'yellow' : 'gray'}
      className={wasFaster ? 'attention' : undefined}
      title={endSentence(task)}
      role={wasFaster ? 'alert' : undefined}
    >
      <When at={end.decided_at} />
      {end.feedback !== null && `: ${end.feedback}`}
      {wasFaster && (
        <Text size="sm">{end.decided_by ?? 'The system'} decided first. Your draft was not submitted.</Text>
      )}
      {left.length > 0 && (
        <Text size="sm">Your drafts of {left.map(({ title }) => title).join(', ')} are not part of this decision.</Text>
      )}
      {Object.keys(end.fields).length > 0 && <Content value={end.fields} />}
    </Alert>
  )
}

/** Without a login the user types a name to decide, and gets the groups of the assignees. */
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
          label="Who are you?"
          description={groups === '' ? undefined : `You decide as a member of ${groups}.`}
          placeholder="Your name"
          required
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
        />
        <Button type="submit">Continue</Button>
      </Group>
    </form>
  )
}

/** Why the user sees no buttons. */
const whoDecides = ({ may_vote, assignees, status }: TaskDetail, mayDecide: boolean): string => {
  if (!mayDecide) return "Your role can't decide tasks."
  if (status === 'revision_requested') return 'Waiting for a new revision.'
  const people = mayVoteText(may_vote) || [...assignees.users, ...assignees.groups].join(', ')
  return people === '' ? "You can't decide this." : `Only ${people} can decide this.`
}

const Buttons = ({ task, choose }: { readonly task: TaskDetail; readonly choose: (action: TaskAction) => void }) => {
  const { name } = useMe()
  const login = useLogin()
  const mayDecide = useMay('decider')
  if (task.end !== null) return null
  if (login === null && name === '') return <SayWho task={task} />
  const actions = task.actions.filter((action) => task.allowed_actions.includes(action.name))
  if (actions.length === 0) return <Text className="quiet">{whoDecides(task, mayDecide)}</Text>
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

/** Keyboard shortcuts to reassign and escalate. */
const useActionKeys = (task: TaskDetail, choose: (action: TaskAction) => void): void => {
  const key = (name: string) =>
    letter(() => {
      const action = task.actions.find((one) => one.name === name && task.allowed_actions.includes(name))
      if (action !== undefined) choose(action)
    })
  const [reassign, escalate] = [key('reassign'), key('escalate')]
  useKeys({ s: reassign, '!': escalate, 'Shift+!': escalate })
}

const Sections = ({ task }: { readonly task: TaskDetail }) =>
  task.sections
    .filter(({ type }) => type === 'summary' || type === 'preview')
    .map((section) => (
      <section key={section.id} aria-label={section.title} className="section">
        <Text fw={650} size="sm">
          {section.title}
        </Text>
        {planIn(section.content) ?? <Content value={section.content} />}
      </section>
    ))

interface OpenedProps {
  readonly task: TaskDetail
  /** Called after a submit. */
  readonly done: () => void
}

const Opened = ({ task, done }: OpenedProps) => {
  const book = useMarks(task)
  const [action, setAction] = useState<TaskAction | null>(null)
  useActionKeys(task, setAction)
  const first = task.actions.find(({ name }) => task.allowed_actions.includes(name))
  return (
    <Stack gap="md" data-uncertain={task.origin === 'uncertain'} className="task">
      <Head task={task}>
        <AtIt task={task} done={done} />
      </Head>
      <Ended task={task} book={book} />
      <Context value={task.context} />
      <Sections task={task} />
      {task.is_open && action === null && <Contested task={task} book={book} />}
      <Review task={task} book={book} submit={() => first !== undefined && setAction(first)} />
      <Fold name="History">
        <History task={task.id} />
      </Fold>
      <Buttons task={task} choose={setAction} />
      {action !== null && (
        <SubmitDialog task={task} action={action} book={book} close={() => setAction(null)} done={done} />
      )}
    </Stack>
  )
}

/** Records that the user has opened the task, so that others see it. */
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

/** Keeps the task as it was when opened, and shows what has changed since. */
const Watched = ({ task, done }: OpenedProps) => {
  const { name } = useMe()
  const [seen, setSeen] = useState(task)
  const isChanged = task.is_open && seen.shown_hash !== task.shown_hash
  return (
    <Stack gap="md">
      {isChanged && <Changed before={seen} after={task} seen={() => setSeen(task)} />}
      <Opened key={`${task.revision} ${name}`} task={task} done={done} />
    </Stack>
  )
}

export const Task = ({ id, done }: { readonly id: string; readonly done: () => void }) => {
  const me = useMe()
  useViewed(id)
  const { data: task, error, refetch } = useQuery(taskQuery(id, me))
  if (task === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return <Watched key={task.id} task={task} done={done} />
}
