/** One run: why it waits, its timeline, one step of it in full, and what a person may do to it. What is chosen is in the address. */
import { Group, Stack, Title } from '@mantine/core'
import { usePrefetchQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { RunDetail } from '../../api/documents.ts'
import { runQuery, timelineQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { Status } from '../../parts/status.tsx'
import { When } from '../../parts/when.tsx'
import { Panel } from './panel.tsx'
import { hasEnded } from './run-state.ts'
import { type Chosen, Timeline } from './timeline.tsx'
import { Verbs } from './verbs.tsx'
import { Why } from './why.tsx'

const runRoute = getRouteApi('/runs/$id')

const Head = ({ run }: { readonly run: RunDetail }) => (
  <Group justify="space-between" align="flex-start">
    <div>
      <Group gap="xs">
        <Title order={1} size="h2">
          {run.handler}
        </Title>
        <Status of={run.status} />
      </Group>
      <Group gap="xs" className="quiet">
        <span className="id" data-id={run.id}>
          {shortId(run.id)}
        </span>
        <span>
          began <When at={run.created_at} />
        </span>
        <CopyAs id={run.id} document={run} command={`npx trihand runs show ${run.id}`} path={`/api/runs/${run.id}`} />
      </Group>
    </div>
    <Verbs run={run} />
  </Group>
)

const Body = ({ run }: { readonly run: RunDetail }) => {
  const { step, of, tab, view } = runRoute.useSearch()
  const navigate = runRoute.useNavigate()
  const chosen: Chosen = { run: of ?? run.id, step: step ?? null }
  const go = (change: object) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false })
  const choose = (next: Chosen) =>
    go({ step: next.step ?? undefined, of: next.run === run.id ? undefined : next.run, tab: undefined })
  return (
    <>
      <Timeline
        run={run.id}
        isOver={hasEnded(run)}
        chosen={chosen}
        choose={choose}
        isTable={view === 'table'}
        showTable={(isTable) => go({ view: isTable ? 'table' : undefined })}
      />
      <Panel run={run} chosen={chosen} tab={tab} open={(name) => go({ tab: name })} />
    </>
  )
}

export const Run = () => {
  const { id } = runRoute.useParams()
  // Together with the run, not after it.
  usePrefetchQuery(timelineQuery(id))
  const { data: run, error, refetch } = useQuery(runQuery(id))
  if (run === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return (
    <Stack gap="md" className="screen-body">
      <Head run={run} />
      <Why run={run} />
      <Body key={run.id} run={run} />
    </Stack>
  )
}
