/** The list of runs, newest first, with counts by status, a filter, and actions on many runs. */
import { Button, Group, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { RunCounts } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { runCountsQuery, runsQuery } from '../../api/queries.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { STATUSES, Status } from '../../parts/status.tsx'
import { letter } from '../../parts/typing.ts'
import { useFirstCommand } from '../../parts/use-first-command.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { ChosenRuns, FittingRuns } from './bulk.tsx'
import { filterOf, isFiltered } from './filter.ts'
import { FilterField } from './filter-field.tsx'
import { JobProgress } from './job-progress.tsx'
import { RunTable } from './run-table.tsx'
import { SavedFilters } from './saved-filters.tsx'
import { StartRun } from './start-run.tsx'
import { type Selection, useSelection } from './use-selection.ts'

const runsRoute = getRouteApi('/runs')

/** The count of a status. Above a limit the server only says “at least”: `1000+`. */
const numberOf = (counts: RunCounts | undefined, status: (typeof STATUSES)[number]): string =>
  counts === undefined ? '0' : `${counts[status]}${counts.more.includes(status) ? '+' : ''}`

const Counts = () => {
  const { data: counts } = useQuery(runCountsQuery)
  const { status: chosen, ...rest } = runsRoute.useSearch()
  const shown = STATUSES.filter((status) => numberOf(counts, status) !== '0' || status === chosen)
  return (
    <nav className="chips" aria-label="Statuses">
      <Link to="/runs" search={rest} className="chip" data-chosen={chosen === undefined}>
        All
      </Link>
      {shown.map((status) => (
        <Link key={status} to="/runs" search={{ ...rest, status }} className="chip" data-chosen={chosen === status}>
          <Status of={status} />
          <strong>{numberOf(counts, status)}</strong>
        </Link>
      ))}
    </nav>
  )
}

/** Selects the focused row. */
const chooseFocused = ({ toggle }: Selection): void => {
  const id = (document.activeElement as HTMLElement | null)?.dataset['id']
  if (id !== undefined) toggle(id)
}

const List = () => {
  const search = runsRoute.useSearch()
  const filter = filterOf(search)
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(
    runsQuery(filter),
  )
  const command = useFirstCommand()
  const runs = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  const selection = useSelection(useMemo(() => runs.map(({ id }) => id), [runs]))
  useKeys({ x: letter(() => chooseFocused(selection)) })
  const mayChoose = useMay('operator')
  if (isPending) return <Loading />
  if (error !== null && data === undefined) return <Failed error={error} again={() => void refetch()} />
  if (runs.length === 0)
    return isFiltered(filter) ? (
      <Empty>No runs match this filter.</Empty>
    ) : (
      <Empty command={command}>No runs yet. To start one, send an event:</Empty>
    )
  return (
    <>
      <ChosenRuns selection={selection} />
      <RunTable runs={runs} label="Runs" {...(mayChoose ? { selection } : {})} />
      {hasNextPage && (
        <Button m="md" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load older runs
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
        <Group align="flex-end" gap="xs">
          <FilterField />
          <SavedFilters />
          <FittingRuns />
          <StartRun />
        </Group>
      </Group>
      <JobProgress />
      <List />
    </>
  )
}
