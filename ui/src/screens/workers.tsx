/** The processes that perform: where they stand, what they hold, when they were last heard of. */
import { Badge, Group, Progress, Table, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Worker } from '../api/documents.ts'
import { workersQuery } from '../api/queries.ts'
import { Empty, Failed, Loading } from '../parts/state.tsx'
import { When } from '../parts/when.tsx'

const Load = ({ worker }: { readonly worker: Worker }) => {
  if (worker.slots === null) return <>{worker.leases}</>
  const share = (worker.leases / Math.max(1, worker.slots)) * 100
  return (
    <Group gap="xs" wrap="nowrap">
      <Progress value={share} w={90} aria-label={`${worker.leases} of ${worker.slots} slots`} />
      <span>
        {worker.leases} / {worker.slots}
      </span>
    </Group>
  )
}

const Row = ({ worker }: { readonly worker: Worker }) => (
  <Table.Tr>
    <Table.Td>{worker.name ?? worker.id}</Table.Td>
    <Table.Td>{worker.status}</Table.Td>
    <Table.Td>{worker.pool ?? 'default'}</Table.Td>
    <Table.Td>
      <Group gap={4}>
        {Object.entries(worker.labels).map(([label, value]) => (
          <Badge key={label} variant="outline" tt="none" color="gray" className="label">
            {label}={value}
          </Badge>
        ))}
      </Group>
    </Table.Td>
    <Table.Td>
      <Load worker={worker} />
    </Table.Td>
    <Table.Td>{worker.started_at === null ? '' : <When at={worker.started_at} />}</Table.Td>
    <Table.Td>
      <When at={worker.beat_at} />
    </Table.Td>
  </Table.Tr>
)

const List = () => {
  const { data, error, refetch } = useQuery(workersQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <Empty command="npx trihand worker">No process performs steps now.</Empty>
  return (
    <Table aria-label="Workers" className="rows">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th>Pool</Table.Th>
          <Table.Th>Labels</Table.Th>
          <Table.Th>Slots</Table.Th>
          <Table.Th>Since</Table.Th>
          <Table.Th>Last beat</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {data.items.map((worker) => (
          <Row key={worker.id} worker={worker} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

export const Workers = () => (
  <>
    <Group className="head">
      <Title order={1} size="h2">
        Workers
      </Title>
    </Group>
    <List />
  </>
)
