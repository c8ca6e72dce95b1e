/** The list of sessions, newest first. */
import { Button, Group, Table, Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Session } from '../../api/documents.ts'
import { sessionsQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { When } from '../../parts/when.tsx'

export const SessionLink = ({ id }: { readonly id: string }) => (
  <Link to="/sessions/$id" params={{ id }} className="id" data-row>
    {shortId(id)}
  </Link>
)

const Row = ({ session }: { readonly session: Session }) => (
  <Table.Tr>
    <Table.Td>
      <SessionLink id={session.id} />
    </Table.Td>
    <Table.Td>{session.forked_from === null ? 'New' : `Fork of ${shortId(session.forked_from)}`}</Table.Td>
    <Table.Td>{session.version}</Table.Td>
    <Table.Td>
      <When at={session.created_at} />
    </Table.Td>
  </Table.Tr>
)

const List = () => {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } =
    useInfiniteQuery(sessionsQuery)
  const sessions = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  if (isPending) return <Loading />
  if (error !== null && data === undefined) return <Failed error={error} again={() => void refetch()} />
  if (sessions.length === 0)
    return (
      <Empty command="const session = await app.sessions.create()">
        No sessions yet. A session keeps memory between runs. Create one in your code:
      </Empty>
    )
  return (
    <>
      <Table aria-label="Sessions" className="rows" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Session</Table.Th>
            <Table.Th>Origin</Table.Th>
            <Table.Th>Entries</Table.Th>
            <Table.Th>Started</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map((session) => (
            <Row key={session.id} session={session} />
          ))}
        </Table.Tbody>
      </Table>
      {hasNextPage && (
        <Button m="md" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load older sessions
        </Button>
      )}
    </>
  )
}

export const Sessions = () => {
  useRowKeys()
  return (
    <>
      <Group className="head">
        <div>
          <Title order={1} size="h2">
            Sessions
          </Title>
          <Text className="quiet">Memory shared between runs, with checkpoints and forks</Text>
        </div>
      </Group>
      <List />
    </>
  )
}
