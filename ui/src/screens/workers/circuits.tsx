/** Circuit breakers: status of each target, until when it is open, and a button to reset it. */
import { Button, Table } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { sendJson } from '../../api/client.ts'
import type { Circuit } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { circuitsQuery, queryClient } from '../../api/queries.ts'
import { complain } from '../../parts/say.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { Status } from '../../parts/status.tsx'
import { When } from '../../parts/when.tsx'

const LOOKS = { closed: 'success', open: 'failed', half_open: 'partial' } as const
const WORDS = { closed: 'closed', open: 'open', half_open: 'half open' } as const

const Reset = ({ circuit }: { readonly circuit: Circuit }) => {
  const { mutate, isPending } = useMutation({
    mutationFn: () => sendJson(`/api/circuits/${encodeURIComponent(circuit.key)}/reset`, {}),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['workers'] }),
    onError: complain,
  })
  if (!useMay('operator') || circuit.status === 'closed') return null
  return (
    <Button
      size="compact-xs"
      variant="default"
      loading={isPending}
      aria-label={`Reset ${circuit.key}`}
      onClick={() => mutate()}
    >
      Reset
    </Button>
  )
}

const Row = ({ circuit }: { readonly circuit: Circuit }) => (
  <Table.Tr>
    <Table.Td className="whole">{circuit.key}</Table.Td>
    <Table.Td>
      <Status of={WORDS[circuit.status]} look={LOOKS[circuit.status]} />
    </Table.Td>
    <Table.Td className="whole">{circuit.until === null ? '' : <When at={circuit.until} />}</Table.Td>
    <Table.Td>{circuit.openings}</Table.Td>
    <Table.Td>{circuit.handlers.join(', ')}</Table.Td>
    <Table.Td>
      <Reset circuit={circuit} />
    </Table.Td>
  </Table.Tr>
)

export const Circuits = () => {
  const { data, error, refetch } = useQuery(circuitsQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0)
    return <Empty command="circuit: { key: mail-service }">No circuit breakers. Add one:</Empty>
  return (
    <Table aria-label="Circuit breakers" className="rows">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Target</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th>Until</Table.Th>
          <Table.Th>Opened</Table.Th>
          <Table.Th>Functions</Table.Th>
          <Table.Th>
            <span className="unseen">Actions</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {data.items.map((circuit) => (
          <Row key={circuit.key} circuit={circuit} />
        ))}
      </Table.Tbody>
    </Table>
  )
}
