/** The one submit: which action, with what reason and fields, and what it will set off. No way back after it. */
import { Alert, Button, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Problem, sendJson } from '../../api/client.ts'
import type { TaskAction, TaskDetail } from '../../api/documents.ts'
import { askAgain } from '../../api/news.ts'
import { focusAtOnce } from '../../parts/focus-at-once.ts'
import { say } from '../../parts/say.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { Difference } from './content.tsx'
import { changesOf } from './difference.ts'
import { choicesOf, isEdited, itemsOf, type Marks, markOf, progressOf } from './marks.ts'
import type { MarkBook } from './use-marks.ts'

interface Submission {
  readonly reason: string
  readonly fields: Readonly<Record<string, string>>
  readonly to: string
}

const EMPTY: Submission = { reason: '', fields: {}, to: '' }

const bodyOf = (task: TaskDetail, action: TaskAction, marks: Marks, { reason, fields, to }: Submission): object => ({
  action: action.name,
  shown_hash: task.shown_hash,
  items: action.is_terminal && action.name !== 'reject' ? choicesOf(itemsOf(task), marks) : {},
  ...(reason === '' ? {} : { reason }),
  ...(Object.keys(fields).length === 0 ? {} : { fields }),
  ...(to === '' ? {} : { to: [to] }),
})

const Summary = ({ task, marks }: { readonly task: TaskDetail; readonly marks: Marks }) => {
  const { total, rejected, edited } = progressOf(itemsOf(task), marks)
  if (total === 0) return null
  const changed = itemsOf(task).filter((item) => isEdited(item, markOf(marks, item.id)))
  return (
    <Stack gap="xs">
      <Text size="sm">
        {total - rejected} of {total} approved, {edited} of them edited, {rejected} rejected.
      </Text>
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

export const SubmitDialog = ({
  task,
  action,
  book: { marks, flush },
  close,
  done,
}: {
  readonly task: TaskDetail
  readonly action: TaskAction
  readonly book: MarkBook
  readonly close: () => void
  readonly done: () => void
}) => {
  const [form, setForm] = useState(EMPTY)
  // One key for all tries of this submit.
  const [key] = useState(() => crypto.randomUUID())
  const { mutate, isPending, error } = useMutation({
    // Marks first: what comes after the decision is refused.
    mutationFn: async () => {
      await flush()
      return sendJson(`/api/tasks/${task.id}/decision`, bodyOf(task, action, marks, form), { key })
    },
    onSuccess: () => {
      say('teal', action.label, task.title)
      close()
      done()
    },
    onSettled: () => {
      askAgain('tasks', new Set([task.id]))
      askAgain('runs', new Set([task.run_id]))
    },
  })
  const submit = (event: { preventDefault(): void }): void => {
    event.preventDefault()
    mutate()
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
          {action.is_terminal && action.name !== 'reject' && <Summary task={task} marks={marks} />}
          {action.name === 'reassign' && (
            <TextInput
              label="To"
              description="A person, or a group as group:name"
              required
              data-autofocus
              ref={focusAtOnce}
              value={form.to}
              onChange={(e) => setForm({ ...form, to: e.currentTarget.value })}
            />
          )}
          {action.required_fields.map((name) => (
            <TextInput
              key={name}
              label={name}
              required
              value={form.fields[name] ?? ''}
              onChange={(e) => setForm({ ...form, fields: { ...form.fields, [name]: e.currentTarget.value } })}
            />
          ))}
          <Textarea
            label="Reason"
            required={action.requires_reason}
            {...(action.name !== 'reassign' && { 'data-autofocus': true, ref: focusAtOnce })}
            autosize
            minRows={2}
            value={form.reason}
            onChange={(e) => setForm({ ...form, reason: e.currentTarget.value })}
          />
          {error !== null && (
            <Alert color="red" variant="outline" title={error instanceof Problem ? error.code : 'Not done'}>
              {error.message}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Back
            </Button>
            <Button type="submit" loading={isPending}>
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
