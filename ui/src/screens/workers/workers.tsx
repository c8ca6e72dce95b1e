/** Who performs, in which pools, and what is held back. */
import { Group, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { workersQuery } from '../../api/queries.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { Circuits } from './circuits.tsx'
import { Pools } from './pools.tsx'
import { StopButton } from './stop-button.tsx'
import { WorkerTable } from './worker-table.tsx'

const List = () => {
  const { data, error, refetch } = useQuery(workersQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <Empty command="npx trihand worker">No process performs steps now.</Empty>
  return <WorkerTable workers={data.items} />
}

const Part = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className="part" aria-label={title}>
    <Title order={2} size="h3">
      {title}
    </Title>
    {children}
  </section>
)

export const Workers = () => (
  <>
    <Group className="head" justify="space-between">
      <Title order={1} size="h2">
        Workers
      </Title>
      <StopButton />
    </Group>
    <div>
      <List />
    </div>
    <Part title="Pools">
      <Pools />
    </Part>
    <Part title="Circuits">
      <Circuits />
    </Part>
  </>
)
