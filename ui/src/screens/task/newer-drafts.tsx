/** Shows newer drafts of the same user from another tab or device, and lets them choose: at a submit, or on a conflict. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import type { TaskDetail, TaskItem } from '../../api/documents.ts'
import type { SeenMarks } from '../inbox/drafts.ts'
import { Difference } from './content.tsx'
import { changesOf } from './difference.ts'
import { MarkSign } from './item.tsx'
import { itemsOf, type Marks, markOf } from './marks.ts'
import type { MarkBook } from './use-marks.ts'

interface NewerDraftsProps {
  readonly items: readonly TaskItem[]
  readonly marks: Marks
  readonly newer: Marks
  readonly use: () => void
  readonly keep: () => void
}

export const NewerDrafts = ({ items, marks, newer, use, keep }: NewerDraftsProps) => (
  <Alert
    className="attention"
    color="yellow"
    variant="outline"
    role="alert"
    title="You have newer drafts in another tab or on another device"
  >
    <Stack gap="xs" align="flex-start">
      {items.map((item) => (
        <div key={item.id}>
          <Text size="sm" fw={650} component="span">
            {item.title}
          </Text>{' '}
          <MarkSign item={item} mark={markOf(newer, item.id)} />
          <Difference
            changes={changesOf(
              markOf(marks, item.id).content ?? item.content,
              markOf(newer, item.id).content ?? item.content,
            )}
          />
        </div>
      ))}
      <Group gap="xs">
        <Button size="xs" onClick={use}>
          Use newer drafts
        </Button>
        <Button size="xs" variant="default" onClick={keep}>
          Submit without them
        </Button>
      </Group>
    </Stack>
  </Alert>
)

/** A conflict: the user changed the same draft in two places and chooses one. Neither is overwritten before that. */
export const Contested = ({
  task,
  book,
  settled = () => {},
}: {
  readonly task: TaskDetail
  readonly book: MarkBook
  readonly settled?: (seen: SeenMarks) => void
}) =>
  book.contested.map((key) => {
    const item = itemsOf(task).find(({ id }) => id === key)
    const shown = (marks: Marks) => markOf(marks, key).content ?? item?.content ?? null
    return (
      <Alert
        key={key}
        className="attention"
        color="yellow"
        variant="outline"
        role="alert"
        title={`You also changed ${item === undefined ? 'this form' : item.title} in another tab or on another device`}
      >
        <Stack gap="xs" align="flex-start">
          <Text size="sm">What you typed here is not saved. The newer draft differs:</Text>
          {item !== undefined && <MarkSign item={item} mark={markOf(book.kept, key)} />}
          <Difference changes={changesOf(shown(book.marks), shown(book.kept))} />
          <Group gap="xs">
            <Button size="xs" onClick={() => settled(book.settle(key, 'newer'))}>
              Use newer draft
            </Button>
            <Button size="xs" variant="default" onClick={() => settled(book.settle(key, 'own'))}>
              Keep this one
            </Button>
          </Group>
        </Stack>
      </Alert>
    )
  })
