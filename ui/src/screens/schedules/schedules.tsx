/** What starts by time: when next, how the last one went, and the verbs of a schedule. */
import { Button, Group, Table, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { sendJson } from '../api/client.ts'
import type { Schedule } from '../api/documents.ts'
import { useMay } from '../api/me.ts'
import { queryClient, schedulesQuery } from '../api/queries.ts'
import { complain } from '../parts/say.ts'
import { Empty, Failed, Loading } from '../parts/state.tsx'
import { Status } from '../parts/status.tsx'
import { When } from '../parts/when.tsx'

const Verbs = ({ schedule }: { readonly schedule: Schedule }) => {
  const { mutate, isPending } = useMutation({
    mutationFn: (verb: string) => sendJson(`/api/schedules/${encodeURIComponent(schedule.name)}/${verb}`, {}),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['schedules'] }),
    onError: complain,
  })
  const mayOperate = useMay('operator')
  if (schedule.status === 'ended' || !mayOperate) return null
  const isPaused = schedule.status === 'paused'
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        loading={isPending}
        aria-label={`${isPaused ? 'Resume' : 'Pause'} ${schedule.name}`}
        onClick={() => mutate(isPaused ? 'resume' : 'pause')}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        loading={isPending}
        aria-label={`Run ${schedule.name} now`}
        onClick={() => mutate('run')}
      >
        Run now
      </Button>
    </Group>
  )
}

const Row = ({ schedule }: { readonly schedule: Schedule }) => (
  <Table.Tr>
    <Table.Td fw={600} className="whole">
      {schedule.name}
    </Table.Td>
    <Table.Td>
      {schedule.english !== null && <div>{schedule.english}</div>}
      <span className="quiet">
        <code>{schedule.timing}</code> {schedule.tz}
      </span>
    </Table.Td>
    <Table.Td>
      <span className="quiet">{schedule.target.kind === 'emit' ? 'event' : schedule.target.kind}</span>{' '}
      {schedule.target.name}
    </Table.Td>
    <Table.Td>{schedule.status}</Table.Td>
    <Table.Td className="whole">{schedule.next_at === null ? '' : <When at={schedule.next_at} />}</Table.Td>
    <Table.Td>
      {schedule.last !== null && (
        <Link to="/runs/$id" params={{ id: schedule.last.run_id }}>
          <Status of={schedule.last.status} />
        </Link>
      )}
    </Table.Td>
    <Table.Td>{schedule.fired}</Table.Td>
    <Table.Td>
      <Verbs schedule={schedule} />
    </Table.Td>
  </Table.Tr>
)

const List = () => {
  const { data, error, refetch } = useQuery(schedulesQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0)
    return (
      <Empty command={"schedules: { nightly: { cron: '0 2 * * *', tz: 'UTC', run: 'clean-up' } }"}>
        Nothing starts by time. In the system:
      </Empty>
    )
  return (
    <Table aria-label="Schedules" className="rows">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th>When</Table.Th>
          <Table.Th>Starts</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th>Next</Table.Th>
          <Table.Th className="whole">Last run</Table.Th>
          <Table.Th>Fired</Table.Th>
          <Table.Th>
            <span className="unseen">Verbs</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {data.items.map((schedule) => (
          <Row key={schedule.name} schedule={schedule} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

export const Schedules = () => (
  <>
    <Group className="head">
      <Title order={1} size="h2">
        Schedules
      </Title>
    </Group>
    <List />
  </>
)
