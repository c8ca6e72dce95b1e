/** The dialog that submits a decision: summary, form fields, reason and what the decision triggers. It can't be undone. */
import { Alert, Button, Group, JsonInput, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import {
  type Field,
  type Filled,
  fieldsOf,
  filledRecord,
  initiallyFilled,
  problemsOf,
} from '#model/kernel/form-fields.ts'
import { askAgain } from '../../api/changes.ts'
import { Problem, sendJson } from '../../api/client.ts'
import type { Json, TaskAction, TaskDetail } from '../../api/documents.ts'
import { focusAtOnce } from '../../parts/focus-at-once.ts'
import { say } from '../../parts/say.ts'
import { SchemaForm } from '../../parts/schema-form.tsx'
import { ErrorBox, shownError } from '../../parts/state.tsx'
import { useKeys } from '../../parts/use-keys.ts'
import type { SeenMarks } from '../inbox/drafts.ts'
import { Confirmation, type Confirmed, confirmedBody, isConfirmed, NOT_CONFIRMED } from './confirmation.tsx'
import { Difference } from './content.tsx'
import { changesOf } from './difference.ts'
import { endSentence } from './ends.ts'
import { choicesOf, differing, formIn, isEdited, itemsOf, type Marks, markOf, progressOf } from './marks.ts'
import { Contested, NewerDrafts } from './newer-drafts.tsx'
import { Reason, rememberReason } from './reason.tsx'
import { SetsOff } from './sets-off.tsx'
import type { MarkBook } from './use-marks.ts'

interface Submission {
  readonly reason: string
  readonly fields: Readonly<Record<string, Json>>
  /** Validation errors by field. */
  readonly problems: Readonly<Record<string, string>>
  readonly to: string
  /** The number of items, typed as confirmation. */
  readonly typed: string
  readonly confirmed: Confirmed
}

const EMPTY: Submission = { reason: '', fields: {}, problems: {}, to: '', typed: '', confirmed: NOT_CONFIRMED }
/** From this many items on, the user must type the number to confirm. */
const MANY = 25
/** The field for the result of an uncertain step that did happen. */
const RESULT = 'result'

const DONE: Readonly<Record<string, string>> = {
  approve: 'Approved',
  edit: 'Approved',
  reject: 'Rejected',
  respond: 'Answered',
  request_edit: 'Changes requested',
  reassign: 'Reassigned',
  escalate: 'Escalated',
  it_happened: 'Answered',
  run_again: 'Running again',
  abort: 'Aborted',
}

/** Whether the action takes the draft of each item into account. A rejection applies to all items. */
const goesByItem = ({ is_terminal, name }: TaskAction): boolean => is_terminal && name !== 'reject'

const bodyOf = (
  task: TaskDetail,
  action: TaskAction,
  { marks, revision }: SeenMarks,
  filled: Filled,
  { reason, fields: own, to, confirmed }: Submission,
): object => {
  const fields = { ...own, ...filledRecord(formOf(action), filled) }
  return {
    action: action.name,
    shown_hash: task.shown_hash,
    draft_revision: revision,
    items: goesByItem(action) ? choicesOf(itemsOf(task), marks) : {},
    ...(reason === '' ? {} : { reason }),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
    ...(to === '' ? {} : { to: [to] }),
    ...confirmedBody(confirmed),
  }
}

/** The form fields of the action, from its schema. Required fields without a schema are text fields. */
const formOf = ({ fields_schema, required_fields }: TaskAction): readonly Field[] =>
  fieldsOf(fields_schema, required_fields) ?? []

/** The form values: what the user has typed in any tab, else the defaults. */
const filledOf = (marks: Marks, action: TaskAction): Filled =>
  formIn(marks, action.name) ?? initiallyFilled(formOf(action))

const isSameFilled = (one: Filled, other: Filled): boolean =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => one[name] === other[name])

const Summary = ({ task, marks }: { readonly task: TaskDetail; readonly marks: Marks }) => {
  const { total, reviewed, rejected, edited } = progressOf(itemsOf(task), marks)
  if (total === 0) return null
  const changed = itemsOf(task).filter((item) => isEdited(item, markOf(marks, item.id)))
  return (
    <Stack gap="xs">
      <Text size="sm">
        {total - rejected} of {total} approved, {edited} edited, {rejected} rejected.
      </Text>
      {reviewed > 0 && reviewed < total && (
        <Text size="sm" fw={650}>
          {total - reviewed} not reviewed: this action applies to them.
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
  readonly book: MarkBook
  readonly form: Submission
  readonly change: (form: Submission) => void
}

const Fields = ({ task, action, book, form, change }: FieldsProps) => {
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
      <SchemaForm
        fields={formOf(action)}
        filled={filledOf(book.marks, action)}
        problems={form.problems}
        isFirst={action.name !== 'reassign'}
        change={(filled) => {
          book.write(action.name, filled)
          change({ ...form, problems: {} })
        }}
      />
      {task.origin === 'uncertain' && action.name === 'it_happened' && (
        <JsonInput
          label="Step result"
          description="JSON. The run continues with this result. Leave empty if there is none."
          autosize
          minRows={2}
          onChange={(text) => put(RESULT, text === '' ? null : jsonOf(text))}
        />
      )}
    </>
  )
}

const TITLES: Readonly<Record<string, string>> = {
  TASK_CLOSED: 'Already decided',
  DRAFTS_NEWER: 'You have newer changes in another tab or on another device',
}

const Refused = ({ error }: { readonly error: Error }) => {
  const shown = shownError(error)
  const title = TITLES[shown.code ?? '']
  return <ErrorBox {...shown} {...(title !== undefined && { title, text: error.message })} />
}

/** Shown if the task was decided while the user was typing. Submitting is disabled; the text stays readable. */
const Over = ({ task }: { readonly task: TaskDetail }) => (
  <Alert className="attention" color="yellow" variant="outline" role="alert" title={endSentence(task)}>
    {task.end !== null && task.end.feedback !== null && <Text size="sm">{task.end.feedback}</Text>}
    <Text size="sm">What you typed was not submitted.</Text>
  </Alert>
)

/** What the user agreed to: the marks that the dialog showed, and the form values. */
interface Agreed extends SeenMarks {
  readonly filled: Filled
}

const newerForm = (): Problem =>
  new Problem('DRAFTS_NEWER', 409, 'The form shows them now. Check it, then submit again.', null)

/** Submits the decision and handles the response. */
const useSubmit = ({ task, action, book, close, done }: SubmitDialogProps, form: Submission) => {
  const { flush, learn, write } = book
  // One idempotency key for all attempts of this submit.
  const [key] = useState(() => crypto.randomUUID())
  return useMutation({
    // Save drafts first: the server refuses them after the decision. Newer drafts from other tabs are not part of what the user agreed to.
    mutationFn: async (agreed: Agreed) => {
      const now = await flush()
      if (now.isContested || !isSameFilled(filledOf(now.marks, action), agreed.filled)) throw newerForm()
      const isSame = differing(itemsOf(task), now.marks, agreed.marks).length === 0
      const seen = isSame ? { marks: agreed.marks, revision: now.revision } : agreed
      return sendJson(`/api/tasks/${task.id}/decision`, bodyOf(task, action, seen, agreed.filled, form), { key })
    },
    onSuccess: () => {
      rememberReason(form.reason)
      if (!action.is_terminal) write(action.name, null)
      say('teal', DONE[action.name] ?? `${action.label}: done`, task.title)
      close()
      done()
    },
    onError: (error) => {
      // The task shows what has changed, and the drafts are kept.
      if (error instanceof Problem && error.code === 'STALE_VIEW') close()
      if (error instanceof Problem && error.code === 'DRAFTS_NEWER' && error.task !== null) learn(error.task)
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
  // The user agrees to what the dialog showed when it opened, until they choose newer drafts.
  const [agreed, agree] = useState<SeenMarks>({ marks: book.marks, revision: book.revision })
  const { marks } = agreed
  const [form, setForm] = useState(EMPTY)
  const { mutate, reset, isPending, error } = useSubmit(props, form)
  const newer = goesByItem(action) ? differing(itemsOf(task), marks, book.marks) : []
  const { total, rejected } = progressOf(itemsOf(task), marks)
  const isMany = action.is_terminal && total > MANY
  const isClosed = task.end !== null && !isPending
  const isOver = isClosed || (error instanceof Problem && error.code === 'TASK_CLOSED')
  const isContested = book.contested.length > 0
  const filled = filledOf(book.marks, action)
  const mayNot = isOver || isContested || newer.length > 0
  const written = useRef<HTMLFormElement>(null)
  const submit = (event: { preventDefault(): void }): void => {
    event.preventDefault()
    const problems = problemsOf(formOf(action), filled)
    if (Object.keys(problems).length > 0) {
      flushSync(() => setForm({ ...form, problems }))
      written.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
      return
    }
    if (!isConfirmed(action, form.confirmed)) return
    if (!mayNot && !(isMany && form.typed.trim() !== String(total))) mutate({ ...agreed, filled })
  }
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
          <Fields task={task} action={action} book={book} form={form} change={setForm} />
          <Reason
            value={form.reason}
            change={(reason) => setForm({ ...form, reason })}
            label={goesByItem(action) && rejected > 0 ? 'Comment (shared with the author)' : 'Reason'}
            required={action.requires_reason}
            isFirst={action.name !== 'reassign' && formOf(action).length === 0}
          />
          <Confirmation
            action={action}
            given={form.confirmed}
            change={(confirmed) => setForm({ ...form, confirmed })}
          />
          {isMany && (
            <TextInput
              label={`You are submitting ${total} items. Type the number to confirm.`}
              required
              inputMode="numeric"
              pattern={String(total)}
              value={form.typed}
              onChange={(e) => setForm({ ...form, typed: e.currentTarget.value })}
            />
          )}
          {newer.length > 0 && (
            <NewerDrafts
              items={newer}
              marks={marks}
              newer={book.marks}
              use={() => {
                reset()
                agree({ marks: book.marks, revision: book.revision })
              }}
              keep={() => {
                const mine = { marks, revision: book.revision }
                agree(mine)
                mutate({ ...mine, filled })
              }}
            />
          )}
          {isContested && !isOver && <Contested task={task} book={book} settled={agree} />}
          {error !== null && newer.length === 0 && !isContested && !isClosed && <Refused error={error} />}
          {isClosed && <Over task={task} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Back
            </Button>
            <Button type="submit" loading={isPending} disabled={mayNot}>
              {action.label}
            </Button>
          </Group>
          <Text size="sm" className="quiet">
            This can't be undone.
          </Text>
        </Stack>
      </form>
    </Modal>
  )
}
