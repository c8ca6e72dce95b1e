/** Approves or rejects all items that match an expression. The server evaluates it. Saves drafts only; never submits. */
import { Button, Group, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem, sendJson } from '../../api/client.ts'
import type { TaskMarks } from '../../api/documents.ts'
import { Fold } from '../../parts/fold.tsx'
import type { MarkBook } from '../task/use-marks.ts'

const toldOf = ({ marked, unclear }: TaskMarks): string => {
  const found = marked.length === 1 ? '1 item matches.' : `${marked.length} items match.`
  const [first] = unclear
  return first === undefined ? found : `${found} Could not check ${unclear.length}: ${first.detail}.`
}

export const MarkByRule = ({ task, book }: { readonly task: string; readonly book: MarkBook }) => {
  const [where, setWhere] = useState('')
  const { mutate, isPending, data, error } = useMutation({
    // Save drafts first, so that the rule runs on top of them.
    mutationFn: async (status: 'approved' | 'rejected') => {
      await book.flush()
      return sendJson<TaskMarks>(`/api/tasks/${task}/marks`, { where, status })
    },
    onSuccess: (marks) => book.adopt(marks.task),
  })
  const apply = (status: 'approved' | 'rejected') => () => mutate(status)
  return (
    <Fold name="Select by rule">
      <form
        className="rule"
        onSubmit={(event) => {
          event.preventDefault()
          mutate('approved')
        }}
      >
        <TextInput
          size="xs"
          label="Condition"
          placeholder="item.confidence >= 0.9"
          required
          value={where}
          onChange={(e) => setWhere(e.currentTarget.value)}
          error={error === null ? undefined : error instanceof Problem ? error.message : 'Something went wrong'}
        />
        <Group gap="xs" mt="xs">
          <Button type="submit" size="compact-xs" variant="default" loading={isPending}>
            Approve matching
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            disabled={where === ''}
            loading={isPending}
            onClick={apply('rejected')}
          >
            Reject matching
          </Button>
        </Group>
        <Text size="xs" className="quiet" role="status" mt={4}>
          {data === undefined ? '' : toldOf(data)}
        </Text>
      </form>
    </Fold>
  )
}
