/** The one submit: which action, with what reason and fields, and what it will set off. No way back after it. */
import { Alert, Button, Group, JsonInput, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Problem, sendJson } from '../../api/client.ts'
import type { Json, TaskAction, TaskDetail } from '../../api/documents.ts'
import { askAgain } from '../../api/news.ts'
import { focusAtOnce } from '../../parts/focus-at-once.ts'
import { say } from '../../parts/say.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { Difference } from './content.tsx'
import { changesOf } from './difference.ts'
import { choicesOf, isEdited, itemsOf, type Marks, markOf, progressOf } from './marks.ts'
import { Reason, rememberReason } from './reason.tsx'
import { SetsOff } from './sets-off.tsx'
import type { MarkBook } from './use-marks.ts'

interface Submission {
  readonly reason: string
  readonly fields: Readonly<Record<string, Json>>
  readonly to: string
  /** How many items, typed by hand. */
  readonly typed: string
}

const EMPTY: Submission = { reason: '', fields: {}, to: '', typed: '' }
/** Beyond so many, one key too many would do too much. */
const MANY = 25
/** A doubt that is settled by "it happened" takes what the step would have answered. */
const RESULT = 'result'

/** It approves item by item what is marked so, and the rest with them. */
const goesByItem = ({ is_terminal, name }: TaskAction): boolean => is_terminal && name !== 'reject'

const bodyOf = (task: TaskDetail, action: TaskAction, marks: Marks, { reason, fields, to }: Submission): object => ({
  action: action.name,
  shown_hash: task.shown_hash,
  items: goesByItem(action) ? choicesOf(itemsOf(task), marks) : {},
  ...(reason === '' ? {} : { reason }),
  ...(Object.keys(fields).length === 0 ? {} : { fields }),
  ...(to === '' ? {} : { to: [to] }),
})

const Summary = ({ task, marks }: { readonly task: TaskDetail; readonly marks: Marks }) => {
  const { total, reviewed, rejected, edited } = progressOf(itemsOf(task), marks)
  if (total === 0) return null
  const changed = itemsOf(task).filter((item) => isEdited(item, markOf(marks, item.id)))
  return (
    <Stack gap="xs">
      <Text size="sm">
        {total - rejected} of {total} approved, {edited} of them edited, {rejected} rejected.
      </Text>
      {reviewed > 0 && reviewed < total && (
        <Text size="sm" fw={650}>
          {total - reviewed} of them you have not marked: they go by the action.
        </Text>
      )}
      {changed.map((item) => (
        <div key={item.id}>
          <Text size="sm" fw={650}>
            {item.title}
          </Text>
          <Difference changes={changesOf(item.content, markOf(marks, item.id).content)} />
        </div>
      ))}
    </Stack>
  )
}

const jsonOf = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

interface FieldsProps {
  readonly task: TaskDetail
  readonly action: TaskAction
  readonly form: Submission
  readonly change: (form: Submission) => void
}

const Fields = ({ task, action, form, change }: FieldsProps) => {
  const put = (name: string, value: Json): void => change({ ...form, fields: { ...form.fields, [name]: value } })
  return (
    <>
      {action.name === 'reassign' && (
        <TextInput
          label="To"
          description="A person, or a group as group:name"
          required
          data-autofocus
          ref={focusAtOnce}
          value={form.to}
          onChange={(e) => change({ ...form, to: e.currentTarget.value })}
        />
      )}
      {action.required_fields.map((name) => (
        <TextInput
          key={name}
          label={name}
          required
          value={String(form.fields[name] ?? '')}
          onChange={(e) => put(name, e.currentTarget.value)}
        />
      ))}
      {task.origin === 'uncertain' && action.name === 'it_happened' && (
        <JsonInput
          label="What the step answered"
          description="JSON, or empty: the run goes on with it."
          autosize
          minRows={2}
          onChange={(text) => put(RESULT, text === '' ? null : jsonOf(text))}
        />
      )}
    </>
  )
}

const Refused = ({ error }: { readonly error: Error }) => {
  const code = error instanceof Problem ? error.code : 'Not done'
  return (
    <Alert color="red" variant="outline" title={code === 'TASK_CLOSED' ? 'Somebody was faster' : code}>
      {error.message}
      {error instanceof Problem && error.hint !== null && <Text size="sm">{error.hint}</Text>}
    </Alert>
  )
}

/** What the answer of the server means for those who look at the task. */
const useSubmit = ({ task, action, book: { marks, flush }, close, done }: SubmitDialogProps, form: Submission) => {
  // One key for all tries of this submit.
  const [key] = useState(() => crypto.randomUUID())
  return useMutation({
    // Marks first: what comes after the decision is refused.
    mutationFn: async () => {
      await flush()
      return sendJson(`/api/tasks/${task.id}/decision`, bodyOf(task, action, marks, form), { key })
    },
    onSuccess: () => {
      rememberReason(form.reason)
      say('teal', action.label, task.title)
      close()
      done()
    },
    onError: (error) => {
      // The task itself shows what has changed, and the marks are kept.
      if (error instanceof Problem && error.code === 'STALE_VIEW') close()
    },
    onSettled: () => {
      askAgain('tasks', new Set([task.id]))
      askAgain('runs', new Set([task.run_id]))
    },
  })
}

interface SubmitDialogProps {
  readonly task: TaskDetail
  readonly action: TaskAction
  readonly book: MarkBook
  readonly close: () => void
  readonly done: () => void
}

export const SubmitDialog = (props: SubmitDialogProps) => {
  const { task, action, book, close } = props
  const { marks } = book
  const [form, setForm] = useState(EMPTY)
  const { mutate, isPending, error } = useSubmit(props, form)
  const { total, rejected } = progressOf(itemsOf(task), marks)
  const isMany = action.is_terminal && total > MANY
  const isOver = error instanceof Problem && error.code === 'TASK_CLOSED'
  const submit = (event: { preventDefault(): void }): void => {
    event.preventDefault()
    if (!isOver && !(isMany && form.typed.trim() !== String(total))) mutate()
  }
  const written = useRef<HTMLFormElement>(null)
  useKeys({ '$mod+Enter': () => written.current?.requestSubmit() })
  return (
    <Modal
      opened
      onClose={close}
      title={`${action.label}: ${task.title}`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form ref={written} onSubmit={submit}>
        <Stack gap="sm">
          {goesByItem(action) && <Summary task={task} marks={marks} />}
          <SetsOff action={action} approved={goesByItem(action) && total > 0 ? total - rejected : null} />
          <Fields task={task} action={action} form={form} change={setForm} />
          <Reason
            value={form.reason}
            change={(reason) => setForm({ ...form, reason })}
            label={goesByItem(action) && rejected > 0 ? 'Reason, also for what is rejected' : 'Reason'}
            required={action.requires_reason}
            isFirst={action.name !== 'reassign'}
          />
          {isMany && (
            <TextInput
              label={`These are ${total} items. Type the number to go on.`}
              required
              inputMode="numeric"
              pattern={String(total)}
              value={form.typed}
              onChange={(e) => setForm({ ...form, typed: e.currentTarget.value })}
            />
          )}
          {error !== null && <Refused error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Back
            </Button>
            <Button type="submit" loading={isPending} disabled={isOver}>
              {action.label}
            </Button>
          </Group>
          <Text size="sm" className="quiet">
            A decision is a fact: it cannot be taken back.
          </Text>
        </Stack>
      </form>
    </Modal>
  )
}
