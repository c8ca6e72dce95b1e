/** Webhook deliveries that did not become an event: body, problem, and a button to replay them. */
import { Button, Code, Table } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { sendJson } from '../../api/client.ts'
import type { DeadLetter, Receipt } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { deadLettersQuery, queryClient } from '../../api/queries.ts'
import { complain, say } from '../../parts/say.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { When } from '../../parts/when.tsx'
import { outcome } from './send-form.tsx'

const Row = ({ letter }: { readonly letter: DeadLetter }) => {
  const mayOperate = useMay('operator')
  const { mutate, isPending } = useMutation({
    mutationFn: () => {
      const path = `/api/webhooks/${encodeURIComponent(letter.webhook)}/replay`
      return sendJson<Receipt>(path, { delivery: letter.delivery })
    },
    onSuccess: (receipt) => say('teal', 'Event created', outcome(receipt)),
    onError: complain,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['events'] }),
  })
  return (
    <Table.Tr>
      <Table.Td>
        <strong>{letter.webhook}</strong>
        <div className="quiet breaks">{letter.delivery}</div>
        <div className="quiet">
          <When at={letter.received_at} />
        </div>
      </Table.Td>
      <Table.Td>
        <div className="breaks">{letter.detail}</div>
        {letter.code !== null && <code>{letter.code}</code>}
      </Table.Td>
      <Table.Td>
        <Code block className="data" tabIndex={0}>
          {letter.body}
        </Code>
        <span className="quiet">{letter.media}</span>
      </Table.Td>
      <Table.Td ta="right">
        {mayOperate && (
          <Button
            size="compact-xs"
            variant="default"
            loading={isPending}
            aria-label={`Replay ${letter.delivery}`}
            onClick={() => mutate()}
          >
            Replay
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

export const DeadLetters = () => {
  const { data, error, refetch } = useQuery(deadLettersQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0)
    return <Empty command="npx trihand triggers test <webhook> '{}'">No dead letters. To test a webhook:</Empty>
  return (
    <Table aria-label="Dead letters" className="rows">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Delivery</Table.Th>
          <Table.Th>Problem</Table.Th>
          <Table.Th>Body</Table.Th>
          <Table.Th>
            <span className="unseen">Replay</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {data.items.map((letter) => (
          <Row key={`${letter.webhook} ${letter.delivery}`} letter={letter} />
        ))}
      </Table.Tbody>
    </Table>
  )
}
