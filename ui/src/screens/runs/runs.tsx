/** Every run, newest first: how many have which status, and which of them to look at. */
import { Button, Group, TextInput, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { RunCounts } from '../../api/documents.ts'
import { runCountsQuery, runsQuery } from '../../api/queries.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { STATUSES, Status } from '../../parts/status.tsx'
import { useFirstCommand } from '../../parts/use-first-command.ts'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { RunTable } from './run-table.tsx'

const runsRoute = getRouteApi('/runs')

/** Of very many runs it is told that there are at least so many. */
const numberOf = (counts: RunCounts | undefined, status: (typeof STATUSES)[number]): string =>
  counts === undefined ? '0' : `${counts[status]}${counts.more.includes(status) ? '+' : ''}`

const Counts = () => {
  const { data: counts } = useQuery(runCountsQuery)
  const { status: chosen, handler } = runsRoute.useSearch()
  const shown = STATUSES.filter((status) => numberOf(counts, status) !== '0' || status === chosen)
  return (
    <nav className="chips" aria-label="Statuses">
      <Link to="/runs" search={{ handler }} className="chip" data-chosen={chosen === undefined}>
        all
      </Link>
      {shown.map((status) => (
        <Link key={status} to="/runs" search={{ status, handler }} className="chip" data-chosen={chosen === status}>
          <Status of={status} />
          <strong>{numberOf(counts, status)}</strong>
        </Link>
      ))}
    </nav>
  )
}

const HandlerFilter = () => {
  const { handler } = runsRoute.useSearch()
  const navigate = runsRoute.useNavigate()
  return (
    <TextInput
      data-filter
      size="xs"
      label="Handler"
      placeholder="its exact name"
      defaultValue={handler ?? ''}
      onKeyDown={({ key, currentTarget: { value } }) => {
        if (key === 'Enter')
          void navigate({ search: ({ status }) => ({ status, handler: value === '' ? undefined : value }) })
      }}
    />
  )
}

const List = () => {
  const filter = runsRoute.useSearch()
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(
    runsQuery(filter),
  )
  const command = useFirstCommand()
  const runs = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  if (isPending) return <Loading />
  if (error !== null && data === undefined) return <Failed error={error} again={() => void refetch()} />
  if (runs.length === 0) {
    const isFiltered = filter.status !== undefined || filter.handler !== undefined
    return isFiltered ? (
      <Empty>No run fits the filter.</Empty>
    ) : (
      <Empty command={command}>No run yet. An event starts the first one:</Empty>
    )
  }
  return (
    <>
      <RunTable runs={runs} label="Runs" />
      {hasNextPage && (
        <Button m="md" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Older runs
        </Button>
      )}
    </>
  )
}

export const Runs = () => {
  useRowKeys()
  return (
    <>
      <Group justify="space-between" align="flex-end" className="head">
        <div>
          <Title order={1} size="h2">
            Runs
          </Title>
          <Counts />
        </div>
        <HandlerFilter />
      </Group>
      <List />
    </>
  )
}
