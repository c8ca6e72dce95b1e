/** The same person has changed drafts in another tab or on another device: what is newer, and a choice. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import type { TaskItem } from '../../api/documents.ts'
import { Difference } from './content.tsx'
import { changesOf } from './difference.ts'
import { MarkSign } from './item.tsx'
import { type Marks, markOf } from './marks.ts'

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
          Use the newer drafts
        </Button>
        <Button size="xs" variant="default" onClick={keep}>
          Submit without them
        </Button>
      </Group>
    </Stack>
  </Alert>
)
