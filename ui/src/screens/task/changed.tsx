/** What is shown is no longer what was opened: which items have changed, come or gone since, and what became of the marks. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import type { TaskDetail } from '../../api/documents.ts'
import { Difference } from './content.tsx'
import { changesOf } from './difference.ts'
import { itemsOf } from './marks.ts'

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

export const Changed = ({
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
    <Alert
      className="attention"
      color="yellow"
      variant="outline"
      title="It has changed since you opened it"
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {isRevised ? `Revision ${after.revision} was brought.` : 'Somebody has edited it.'}{' '}
          {titles.length === 0 ? 'No item is different.' : 'This is different:'} A decision is on what is shown now.
        </Text>
        {titles.map((title) => (
          <ItemChange key={title} before={before} after={after} title={title} />
        ))}
        <Button size="xs" variant="default" onClick={seen}>
          I have seen it
        </Button>
      </Stack>
    </Alert>
  )
}
