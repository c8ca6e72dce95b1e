/** One session: checkpoints, memory, differences between two checkpoints, forks and runs. */
import { Badge, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { SessionDetail, SessionMemory } from '../../api/documents.ts'
import { sessionQuery, sessionRunsQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { ObjectMenu } from '../../parts/object-menu.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { When } from '../../parts/when.tsx'
import { RunTable } from '../runs/run-table.tsx'
import { Difference } from './difference.tsx'
import { History } from './history.tsx'
import { SessionLink } from './sessions.tsx'
import { StateTree } from './state-tree.tsx'

const route = getRouteApi('/sessions/$id')
const KILO = 1024

const Value = ({ entry }: { readonly entry: SessionMemory }) => {
  if (entry.bytes !== null) return <span className="quiet">{Math.round(entry.bytes / KILO)} kB, too large to show</span>
  return <StateTree value={entry.value} />
}

const Memory = ({ session }: { readonly session: SessionDetail }) =>
  session.memory.length === 0 ? (
    <Text className="quiet">No memory yet.</Text>
  ) : (
    <Table aria-label="Memory" className="rows" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="12rem">Key</Table.Th>
          <Table.Th>Value</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {session.memory.map((entry) => (
          <Table.Tr key={entry.key}>
            <Table.Td valign="top">
              <span className="breaks">{entry.key}</span> {entry.is_changed && <span className="tag">changed</span>}
            </Table.Td>
            <Table.Td>
              <Value entry={entry} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )

const Forks = ({ session }: { readonly session: SessionDetail }) =>
  session.forks.length === 0 ? null : (
    <section className="panel" aria-labelledby="forks">
      <Title order={2} size="h3" id="forks">
        Forks
      </Title>
      <ul className="plain-list">
        {session.forks.map((fork) => (
          <li key={fork.id}>
            <SessionLink id={fork.id} />{' '}
            <span className="quiet">
              forked <When at={fork.created_at} />, {fork.version} entries
            </span>
          </li>
        ))}
      </ul>
    </section>
  )

const Runs = ({ id }: { readonly id: string }) => {
  const { data } = useQuery(sessionRunsQuery(id))
  if (data === undefined) return <Loading />
  if (data.items.length === 0) return <Text className="quiet">No runs yet.</Text>
  return <RunTable runs={data.items} label="Runs of this session" />
}

const Head = ({ session }: { readonly session: SessionDetail }) => (
  <div>
    <Group gap="xs">
      <Title order={1} size="h2">
        Session{' '}
        <span className="id" data-id={session.id}>
          {shortId(session.id)}
        </span>
      </Title>
      <ObjectMenu
        what="session"
        id={session.id}
        path={`/api/sessions/${session.id}`}
        cli={`sessions show ${session.id}`}
      />
      <Badge variant="outline" color="gray" tt="none" className="label">
        {session.mode}
      </Badge>
      {session.status === 'ended' && <Text className="quiet">ended</Text>}
    </Group>
    <Text className="quiet">
      started <When at={session.created_at} /> · {session.version} entries
      {session.forked_from !== null && (
        <>
          {' '}
          · fork of <SessionLink id={session.forked_from} />
        </>
      )}
    </Text>
  </div>
)

export const Session = () => {
  useRowKeys()
  const { id } = route.useParams()
  const { data: session, error, refetch } = useQuery(sessionQuery(id))
  if (session === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return (
    <Stack gap="lg" className="screen-body">
      <Head session={session} />
      <div className="session">
        <section className="panel" aria-labelledby="history">
          <Title order={2} size="h3" id="history">
            Checkpoints
          </Title>
          <History session={session} />
        </section>
        <Stack gap="lg">
          <Difference id={session.id} />
          <section className="panel" aria-labelledby="memory">
            <Title order={2} size="h3" id="memory">
              Memory
            </Title>
            <Memory session={session} />
          </section>
          <Forks session={session} />
          <section className="panel" aria-labelledby="runs">
            <Title order={2} size="h3" id="runs">
              Runs
            </Title>
            <Runs id={session.id} />
          </section>
        </Stack>
      </div>
    </Stack>
  )
}
