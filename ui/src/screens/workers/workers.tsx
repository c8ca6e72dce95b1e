/** Workers, pools and circuit breakers, and the button that stops all workers. */
import { Badge, Button, Group, Table, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { OctagonX } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { Pool, Stop } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { poolsQuery, queryClient, stopQuery, workersQuery } from '../../api/queries.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { complain } from '../../parts/say.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { When } from '../../parts/when.tsx'
import { Circuits } from './circuits.tsx'
import { WorkerTable } from './worker-table.tsx'

// Pools: capacity, load, and waiting runs of each.

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
      {pool.workers < pool.min && <span className="quiet"> (minimum {pool.min})</span>}
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

const Pools = () => {
  const { data, error, refetch } = useQuery(poolsQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return (
    <Table aria-label="Pools" className="rows">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Pool</Table.Th>
          <Table.Th>Labels</Table.Th>
          <Table.Th>Active workers</Table.Th>
          <Table.Th>Used / slots</Table.Th>
          <Table.Th>Waiting runs</Table.Th>
          <Table.Th>Oldest</Table.Th>
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

// The button that stops all workers. The user must type a word first.

const WORD = 'stop'

const StopButton = () => {
  const [isAsked, setAsked] = useState(false)
  const [reason, setReason] = useState('')
  const { data } = useQuery(stopQuery)
  const { mutate } = useMutation({
    mutationFn: () => sendJson<Stop>('/api/stop', reason.trim() === '' ? {} : { reason: reason.trim() }),
    onSuccess: (stop) => queryClient.setQueryData(stopQuery.queryKey, stop),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['workers'] }),
    onError: complain,
  })
  if (!useMay('operator') || data === undefined || data.is_stopped) return null
  return (
    <>
      <Button
        size="xs"
        variant="outline"
        color="red"
        className="danger"
        leftSection={<OctagonX size={16} aria-hidden />}
        onClick={() => setAsked(true)}
      >
        Stop all workers
      </Button>
      {isAsked && (
        <ConfirmDialog
          title="Stop all workers"
          text="No worker starts a step until someone resumes them; new workers wait, too. Steps in progress finish. People can still decide, and events still arrive."
          label="Stop all workers"
          word={WORD}
          close={() => setAsked(false)}
          act={() => mutate()}
        >
          <TextInput
            label="Reason"
            description="Shown to everyone while workers are stopped"
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        </ConfirmDialog>
      )}
    </>
  )
}

const List = () => {
  const { data, error, refetch } = useQuery(workersQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <Empty command="npx trihand worker">No workers are running. Start one:</Empty>
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
    <Part title="Circuit breakers">
      <Circuits />
    </Part>
  </>
)
