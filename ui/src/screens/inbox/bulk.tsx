/** Applies one action to several tasks and shows the result of each. Offers only actions that every task allows. */
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Check, X } from 'lucide-react'
import { useState } from 'react'
import { askAgain } from '../../api/changes.ts'
import { sendJson } from '../../api/client.ts'
import type { TaskAction, TaskDetail, TaskVerdict } from '../../api/documents.ts'
import { useMe } from '../../api/me.ts'
import { bulkQuery } from '../../api/queries.ts'
import { complain } from '../../parts/say.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { Confirmation, type Confirmed, confirmedBody, isConfirmed, NOT_CONFIRMED } from '../task/confirmation.tsx'
import { Reason, rememberReason } from '../task/reason.tsx'
import type { Selection } from './use-selection.ts'

export const MOST = 100

/** Actions that all tasks have in common. Excludes actions that need a field or another person: those are taken task by task. */
const commonActions = (tasks: readonly TaskDetail[]): readonly TaskAction[] =>
  (tasks[0]?.actions ?? []).flatMap((action) => {
    const { name, required_fields, confirm } = action
    const isCommon =
      required_fields.length === 0 && name !== 'reassign' && tasks.every((task) => task.allowed_actions.includes(name))
    const same = tasks.flatMap(({ actions }) => actions.find((one) => one.name === name) ?? [])
    // The confirmation is typed once for all tasks, so it must be the same text.
    if (!isCommon || same.some((one) => one.confirm !== confirm)) return []
    return [{ ...action, warning: same.find(({ warning }) => warning !== null)?.warning ?? null }]
  })

/** The confirmation and warning for all offered actions. */
const askedOf = (actions: readonly TaskAction[]): Pick<TaskAction, 'confirm' | 'warning'> => ({
  confirm: actions.find(({ confirm }) => confirm !== null)?.confirm ?? null,
  warning: actions.find(({ warning }) => warning !== null)?.warning ?? null,
})

const Verdicts = ({
  tasks,
  verdicts,
}: {
  readonly tasks: readonly TaskDetail[]
  readonly verdicts: readonly TaskVerdict[]
}) => (
  <ul className="plain-list" aria-label="Results">
    {verdicts.map(({ task, status, state, problem }) => (
      <li key={task}>
        <span className="status" data-tone={status === 200 ? 'good' : 'bad'}>
          {status === 200 ? <Check size={15} aria-hidden /> : <X size={15} aria-hidden />}
          {status === 200 ? state : 'not decided'}
        </span>{' '}
        {tasks.find(({ id }) => id === task)?.title}
        {problem !== undefined && (
          <Text className="quiet">
            {problem.detail} <span className="id">{problem.code}</span>
          </Text>
        )}
      </li>
    ))}
  </ul>
)

interface Answer {
  readonly action: string
  readonly reason: string
  readonly confirmed: Confirmed
}

const useDecideAll = (tasks: readonly TaskDetail[], keep: Selection['keep']) => {
  const [key] = useState(() => crypto.randomUUID())
  return useMutation({
    mutationFn: ({ action, reason, confirmed }: Answer) => {
      const decisions = tasks.map(({ id, shown_hash }) => ({
        task: id,
        action,
        shown_hash,
        ...(reason === '' ? {} : { reason }),
        ...confirmedBody(confirmed),
      }))
      return sendJson<{ readonly items: readonly TaskVerdict[] }>('/api/tasks/decisions', { decisions }, { key })
    },
    onSuccess: ({ items }, { reason }) => {
      rememberReason(reason)
      keep(items.flatMap(({ task, status }) => (status === 200 ? [] : [task])))
    },
    onError: complain,
    onSettled: () => askAgain('tasks', new Set(tasks.map(({ id }) => id))),
  })
}

const Decide = ({ tasks, keep }: { readonly tasks: readonly TaskDetail[]; readonly keep: Selection['keep'] }) => {
  const [reason, setReason] = useState('')
  const [confirmed, setConfirmed] = useState(NOT_CONFIRMED)
  const { mutate, isPending, data } = useDecideAll(tasks, keep)
  const actions = commonActions(tasks)
  if (data !== undefined) return <Verdicts tasks={tasks} verdicts={data.items} />
  if (actions.length === 0)
    return <Alert variant="outline">These tasks have no action in common. Decide them one by one.</Alert>
  return (
    <Stack gap="sm">
      <ul className="plain-list">
        {tasks.map(({ id, title, sections }) => (
          <li key={id}>
            {title} <span className="quiet">{sections.flatMap(({ items }) => items).length || 'no'} items</span>
          </li>
        ))}
      </ul>
      <Reason value={reason} change={setReason} />
      <Confirmation action={askedOf(actions)} given={confirmed} change={setConfirmed} />
      <Group gap="xs">
        {actions.map((action) => (
          <Button
            key={action.name}
            variant="default"
            loading={isPending}
            disabled={(action.requires_reason && reason.trim() === '') || !isConfirmed(action, confirmed)}
            onClick={() => mutate({ action: action.name, reason, confirmed })}
          >
            {action.label} {tasks.length}
          </Button>
        ))}
      </Group>
      <Text className="quiet">The action applies to every item; your drafts are ignored. This can't be undone.</Text>
    </Stack>
  )
}

export const BulkDialog = ({
  ids,
  keep,
  close,
}: {
  readonly ids: readonly string[]
  readonly keep: Selection['keep']
  readonly close: () => void
}) => {
  // Decide exactly the tasks selected when the dialog opened, with the content they had then.
  const [chosen] = useState(ids)
  const { data: tasks, error, refetch } = useQuery(bulkQuery(chosen, useMe()))
  return (
    <Modal
      opened
      onClose={close}
      title={`Decide ${chosen.length} tasks`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {tasks !== undefined && <Decide tasks={tasks} keep={keep} />}
      {tasks === undefined && (error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />)}
    </Modal>
  )
}

/** The bar with actions for the selected tasks. Hidden while none is selected. */
export const BulkBar = ({ selection: { ids, keep } }: { readonly selection: Selection }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      {ids.size > 0 && (
        <Group className="bulk" gap="xs">
          <Text size="sm" fw={650} role="status">
            {ids.size} selected
          </Text>
          <Button size="compact-sm" disabled={ids.size > MOST} onClick={() => setOpen(true)}>
            Decide
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => keep([])}>
            Clear
          </Button>
          {ids.size > MOST && <Text className="quiet">Select at most {MOST}.</Text>}
        </Group>
      )}
      {isOpen && <BulkDialog ids={[...ids]} keep={keep} close={() => setOpen(false)} />}
    </>
  )
}
