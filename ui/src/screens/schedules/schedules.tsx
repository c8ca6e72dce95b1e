/** The list of schedules: next run, last run, and actions. An open one shows its details. */
import { Group, Table, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Schedule } from '../../api/documents.ts'
import { schedulesQuery } from '../../api/queries.ts'
import { shellWord } from '../../parts/curl.ts'
import { ObjectMenu } from '../../parts/object-menu.tsx'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { Status } from '../../parts/status.tsx'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { When } from '../../parts/when.tsx'
import { ScheduleDetail } from './detail.tsx'
import { Verbs } from './verbs.tsx'

const route = getRouteApi('/schedules')
const COLUMNS = 8

const Opened = ({ schedule }: { readonly schedule: Schedule }) => (
  <Table.Tr>
    <Table.Td colSpan={COLUMNS}>
      <ScheduleDetail schedule={schedule} />
    </Table.Td>
  </Table.Tr>
)

const Row = ({ schedule, isOpen }: { readonly schedule: Schedule; readonly isOpen: boolean }) => {
  const navigate = route.useNavigate()
  const toggle = (): void => void navigate({ search: isOpen ? {} : { name: schedule.name } })
  return (
    <>
      <Table.Tr>
        <Table.Td fw={600} className="whole">
          <button type="button" className="link" data-row aria-expanded={isOpen} onClick={toggle}>
            {schedule.name}
          </button>
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
        <Table.Td>
          {schedule.status}
          {schedule.paused_by !== null && (
            <div className="quiet">
              by {schedule.paused_by}
              {schedule.paused_reason !== null && `: ${schedule.paused_reason}`}
            </div>
          )}
        </Table.Td>
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
          <Group gap="xs" wrap="nowrap" justify="flex-end">
            <Verbs schedule={schedule} />
            <ObjectMenu
              what={`schedule ${schedule.name}`}
              id={schedule.name}
              path={`/api/schedules/${encodeURIComponent(schedule.name)}`}
              cli={`schedules show ${shellWord(schedule.name)}`}
            />
          </Group>
        </Table.Td>
      </Table.Tr>
      {isOpen && <Opened schedule={schedule} />}
    </>
  )
}

const List = () => {
  const { name } = route.useSearch()
  const { data, error, refetch } = useQuery(schedulesQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0)
    return (
      <Empty command={"schedules: { nightly: { cron: '0 2 * * *', tz: 'UTC', run: 'clean-up' } }"}>
        No schedules. Add one:
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
          <Table.Th>Runs</Table.Th>
          <Table.Th>
            <span className="unseen">Actions</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {data.items.map((schedule) => (
          <Row key={schedule.name} schedule={schedule} isOpen={schedule.name === name} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

export const Schedules = () => {
  useRowKeys()
  return (
    <>
      <Group className="head">
        <Title order={1} size="h2">
          Schedules
        </Title>
      </Group>
      <List />
    </>
  )
}
