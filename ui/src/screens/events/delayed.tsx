/** Events that are to be sent later: when, and a way to take one back. */
import { Button, Table } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { sendJson } from '../../api/client.ts'
import type { DelayedEvent } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { delayedQuery, queryClient } from '../../api/queries.ts'
import { Data } from '../../parts/data.tsx'
import { complain, say } from '../../parts/say.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { When } from '../../parts/when.tsx'

const Row = ({ event }: { readonly event: DelayedEvent }) => {
  const mayOperate = useMay('operator')
  const { mutate, isPending } = useMutation({
    mutationFn: () => sendJson(`/api/events/${event.id}`, {}, { method: 'DELETE' }),
    onSuccess: () => say('teal', 'Taken back', `${event.type} is not sent.`),
    onError: complain,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['runs'] }),
  })
  return (
    <Table.Tr>
      <Table.Td fw={600}>{event.type}</Table.Td>
      <Table.Td>{event.due_at === null ? 'now' : <When at={event.due_at} />}</Table.Td>
      <Table.Td>{event.subject ?? ''}</Table.Td>
      <Table.Td>
        <Data value={event.data} />
      </Table.Td>
      <Table.Td ta="right">
        {mayOperate && (
          <Button
            size="compact-xs"
            variant="default"
            loading={isPending}
            aria-label={`Take back ${event.type}`}
            onClick={() => mutate()}
          >
            Take back
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

export const Delayed = () => {
  const { data, error, refetch } = useQuery(delayedQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0)
    return (
      <Empty command="emit('order.reminded', { order }, { delay: '1d' })">
        Nothing is to be sent later. In a function:
      </Empty>
    )
  return (
    <Table aria-label="Delayed events" className="rows">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Type</Table.Th>
          <Table.Th>Due</Table.Th>
          <Table.Th>Subject</Table.Th>
          <Table.Th>Data</Table.Th>
          <Table.Th>
            <span className="unseen">Take back</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {data.items.map((event) => (
          <Row key={event.id} event={event} />
        ))}
      </Table.Tbody>
    </Table>
  )
}
