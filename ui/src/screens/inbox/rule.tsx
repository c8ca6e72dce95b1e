/** Marks by a rule: an expression over the item, which the server judges. It marks, and never submits. */
import { Button, Group, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem, sendJson } from '../../api/client.ts'
import type { TaskMarks } from '../../api/documents.ts'
import { Fold } from '../../parts/fold.tsx'
import type { MarkBook } from '../task/use-marks.ts'

const toldOf = ({ marked, unclear }: TaskMarks): string => {
  const found = marked.length === 1 ? '1 item is marked.' : `${marked.length} items are marked.`
  const [first] = unclear
  return first === undefined ? found : `${found} Of ${unclear.length} it cannot say: ${first.detail}.`
}

export const MarkByRule = ({ task, book }: { readonly task: string; readonly book: MarkBook }) => {
  const [where, setWhere] = useState('')
  const { mutate, isPending, data, error } = useMutation({
    // What was marked by hand is there first: the rule comes after it.
    mutationFn: async (status: 'approved' | 'rejected') => {
      await book.flush()
      return sendJson<TaskMarks>(`/api/tasks/${task}/marks`, { where, status })
    },
    onSuccess: (marks) => book.adopt(marks.task),
  })
  const apply = (status: 'approved' | 'rejected') => () => mutate(status)
  return (
    <Fold name="Mark by rule">
      <form
        className="rule"
        onSubmit={(event) => {
          event.preventDefault()
          mutate('approved')
        }}
      >
        <TextInput
          size="xs"
          label="Items for which this is true"
          placeholder="item.confidence >= 0.9"
          required
          value={where}
          onChange={(e) => setWhere(e.currentTarget.value)}
          error={error === null ? undefined : error instanceof Problem ? error.message : 'Not done'}
        />
        <Group gap="xs" mt="xs">
          <Button type="submit" size="compact-xs" variant="default" loading={isPending}>
            Mark approve
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            disabled={where === ''}
            loading={isPending}
            onClick={apply('rejected')}
          >
            Mark reject
          </Button>
        </Group>
        <Text size="xs" className="quiet" role="status" mt={4}>
          {data === undefined ? '' : toldOf(data)}
        </Text>
      </form>
    </Fold>
  )
}
