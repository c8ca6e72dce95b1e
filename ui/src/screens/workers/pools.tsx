/** Pools: what each can hold and holds, what waits for it and since when. */
import { Badge, Group, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Pool } from '../../api/documents.ts'
import { poolsQuery } from '../../api/queries.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { When } from '../../parts/when.tsx'

const Row = ({ pool }: { readonly pool: Pool }) => (
  <Table.Tr>
    <Table.Td className="whole">{pool.name ?? <span className="quiet">no pool</span>}</Table.Td>
    <Table.Td>
      <Group gap={4}>
        {Object.entries(pool.labels).map(([label, value]) => (
          <Badge key={label} variant="outline" tt="none" color="gray" className="label">
            {label}={value}
          </Badge>
        ))}
      </Group>
    </Table.Td>
    <Table.Td className="whole">
      {pool.taking}
      {pool.taking !== pool.workers && <span className="quiet"> of {pool.workers}</span>}
      {pool.workers < pool.min && <span className="quiet"> (should be {pool.min})</span>}
    </Table.Td>
    <Table.Td className="whole">
      {pool.used} / {pool.capacity}
    </Table.Td>
    <Table.Td className="whole">
      {pool.queued}
      {pool.more && '+'}
    </Table.Td>
    <Table.Td className="whole">{pool.oldest_at === null ? '' : <When at={pool.oldest_at} />}</Table.Td>
  </Table.Tr>
)

export const Pools = () => {
  const { data, error, refetch } = useQuery(poolsQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return (
    <Table aria-label="Pools" className="rows">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Pool</Table.Th>
          <Table.Th>Labels</Table.Th>
          <Table.Th>Workers that take runs</Table.Th>
          <Table.Th>Leases / slots</Table.Th>
          <Table.Th>Runs that wait</Table.Th>
          <Table.Th>Oldest due</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {data.items.map((pool) => (
          <Row key={pool.name ?? ''} pool={pool} />
        ))}
      </Table.Tbody>
    </Table>
  )
}
