/** One item of a review: its content, an editor, the changes, its history, and the approve and reject buttons. */
import { Button, Group, JsonInput, Stack, Tabs, Text, Textarea } from '@mantine/core'
import { Check, CircleDashed, Pencil, X } from 'lucide-react'
import { useState } from 'react'
import { isRecord, type Json, type TaskDetail, type TaskItem } from '../../api/documents.ts'
import { Content, Difference } from './content.tsx'
import { changesOf } from './difference.ts'
import { History } from './history.tsx'
import { isEdited, type Mark } from './marks.ts'

// The editor: a text area for each text field, JSON for the rest. Invalid JSON is not saved.

const JsonField = ({
  label,
  value,
  change,
}: {
  readonly label: string
  readonly value: Json
  readonly change: (value: Json) => void
}) => {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const [shown, setShown] = useState(value)
  // The value was changed in another tab or device.
  if (JSON.stringify(value) !== JSON.stringify(shown)) {
    setShown(value)
    setText(JSON.stringify(value, null, 2))
  }
  return (
    <JsonInput
      label={label}
      value={text}
      autosize
      minRows={1}
      maxRows={16}
      validationError="Not valid JSON. Not saved."
      onChange={(next) => {
        setText(next)
        try {
          const parsed = JSON.parse(next) as Json
          setShown(parsed)
          change(parsed)
        } catch {
          // The field shows the error.
        }
      }}
    />
  )
}

const Editor = ({
  value,
  change,
  label,
}: {
  readonly value: Json
  readonly change: (value: Json) => void
  readonly label: string
}) => {
  if (typeof value === 'string')
    return <Textarea label={label} value={value} autosize minRows={2} onChange={(e) => change(e.currentTarget.value)} />
  if (!isRecord(value)) return <JsonField label={label} value={value} change={change} />
  return (
    <Stack gap="xs">
      {Object.entries(value).map(([name, field]) =>
        typeof field === 'string' ? (
          <Textarea
            key={name}
            label={name}
            value={field}
            autosize
            minRows={1}
            maxRows={20}
            onChange={(e) => change({ ...value, [name]: e.currentTarget.value })}
          />
        ) : (
          <JsonField key={name} label={name} value={field} change={(next) => change({ ...value, [name]: next })} />
        ),
      )}
    </Stack>
  )
}

const LOOKS = {
  open: { icon: CircleDashed, word: 'pending', tone: 'plain' },
  approve: { icon: Check, word: 'approve', tone: 'good' },
  reject: { icon: X, word: 'reject', tone: 'bad' },
  edit: { icon: Pencil, word: 'edited', tone: 'wait' },
} as const

/** For a closed task: the decision, regardless of drafts. */
const DECIDED = {
  pending_review: { icon: CircleDashed, word: 'not decided', tone: 'plain' },
  approved: { icon: Check, word: 'approved', tone: 'good' },
  rejected: { icon: X, word: 'rejected', tone: 'bad' },
  edited: { icon: Pencil, word: 'approved, edited', tone: 'good' },
} as const

const lookOf = (item: TaskItem, mark: Mark): (typeof LOOKS)[keyof typeof LOOKS] => {
  if (mark.verdict === 'reject') return LOOKS.reject
  if (isEdited(item, mark)) return LOOKS.edit
  return LOOKS[mark.verdict ?? 'open']
}

type Status = keyof typeof DECIDED

const isStatus = (status: string): status is Status => Object.hasOwn(DECIDED, status)

/** Shows the draft of an item. With `mark` null: its decision. */
export const MarkSign = ({ item, mark }: { readonly item: TaskItem; readonly mark: Mark | null }) => {
  const decided = DECIDED[isStatus(item.status) ? item.status : 'pending_review']
  const { icon: Icon, word, tone } = mark === null ? decided : lookOf(item, mark)
  return (
    <span className="status" data-tone={tone}>
      <Icon size={15} aria-hidden />
      {word}
    </span>
  )
}

export const ItemPanel = ({
  task,
  item,
  mark,
  editable,
  canMark,
  change,
}: {
  readonly task: TaskDetail
  readonly item: TaskItem
  readonly mark: Mark
  readonly editable: boolean
  readonly canMark: boolean
  readonly change: (mark: Mark) => void
}) => {
  const [tab, setTab] = useState<string | null>('preview')
  const content = mark.content ?? item.content
  const edited = isEdited(item, mark)
  // The task may have been decided in another tab during an edit.
  const isThere = tab === 'edit' ? editable && canMark : tab !== 'diff' || edited
  return (
    <section className="item" aria-label={item.title}>
      <Group justify="space-between">
        <Text fw={650}>{item.title}</Text>
        <MarkSign item={item} mark={task.is_open ? mark : null} />
      </Group>
      <Tabs value={isThere ? tab : 'preview'} onChange={setTab} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="preview">Preview</Tabs.Tab>
          {editable && canMark && (
            <Tabs.Tab value="edit" data-edit>
              Edit
            </Tabs.Tab>
          )}
          <Tabs.Tab value="diff" disabled={!edited} data-diff>
            Diff
          </Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="preview" pt="xs">
          <Content value={content} />
        </Tabs.Panel>
        <Tabs.Panel value="edit" pt="xs">
          <Editor
            label={item.title}
            value={content}
            change={(next) => change({ verdict: mark.verdict ?? 'approve', content: next })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="diff" pt="xs">
          <Difference changes={changesOf(item.content, content)} />
        </Tabs.Panel>
        <Tabs.Panel value="history" pt="xs">
          <History task={task.id} item={item.id} />
        </Tabs.Panel>
      </Tabs>
      {canMark && (
        <Group gap="xs">
          <Button
            size="xs"
            variant={mark.verdict === 'approve' ? 'filled' : 'default'}
            aria-pressed={mark.verdict === 'approve'}
            onClick={() => change({ ...mark, verdict: mark.verdict === 'approve' ? null : 'approve' })}
          >
            Approve
          </Button>
          <Button
            size="xs"
            variant={mark.verdict === 'reject' ? 'filled' : 'default'}
            aria-pressed={mark.verdict === 'reject'}
            onClick={() => change({ ...mark, verdict: mark.verdict === 'reject' ? null : 'reject' })}
          >
            Reject
          </Button>
          {edited && (
            <Button size="xs" variant="subtle" onClick={() => change({ verdict: mark.verdict })}>
              Undo edit
            </Button>
          )}
        </Group>
      )}
    </section>
  )
}
