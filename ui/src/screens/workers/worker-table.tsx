/** The table of workers: status, pool, load, last heartbeat, and buttons to pause, resume or drain one. */
import { Badge, Button, Group, Progress, Table } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { Worker } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { queryClient } from '../../api/queries.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { complain } from '../../parts/say.ts'
import { Status } from '../../parts/status.tsx'
import { When } from '../../parts/when.tsx'

const LOOKS = { working: 'running', paused: 'paused', stopped: 'cancelled', draining: 'cancelling' } as const

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

const Verbs = ({ worker }: { readonly worker: Worker }) => {
  const [isLeaving, setLeaving] = useState(false)
  const { mutate, isPending } = useMutation({
    mutationFn: (order: string) => sendJson(`/api/workers/${encodeURIComponent(worker.id)}/${order}`, {}),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['workers'] }),
    onError: complain,
  })
  if (!useMay('operator') || worker.status === 'draining') return null
  const name = worker.name ?? worker.id
  const order = worker.status === 'paused' ? 'resume' : 'pause'
  const label = order === 'resume' ? 'Resume' : 'Pause'
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        loading={isPending}
        aria-label={`${label} ${name}`}
        onClick={() => mutate(order)}
      >
        {label}
      </Button>
      <Button size="compact-xs" variant="default" aria-label={`Drain ${name}`} onClick={() => setLeaving(true)}>
        Drain
      </Button>
      {isLeaving && (
        <ConfirmDialog
          title={`Drain ${name}`}
          text="The worker finishes its current steps, takes no new ones, and exits. Start a new process to replace it."
          label="Drain"
          close={() => setLeaving(false)}
          act={() => mutate('drain')}
        />
      )}
    </Group>
  )
}

const Row = ({ worker }: { readonly worker: Worker }) => (
  <Table.Tr data-id={worker.id}>
    <Table.Td className="whole">{worker.name ?? worker.id}</Table.Td>
    <Table.Td>
      <Status of={worker.status} look={LOOKS[worker.status]} />
    </Table.Td>
    <Table.Td>{worker.pool ?? <span className="quiet">none</span>}</Table.Td>
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
    <Table.Td className="whole">{worker.started_at === null ? '' : <When at={worker.started_at} />}</Table.Td>
    <Table.Td className="whole">
      <When at={worker.beat_at} />
    </Table.Td>
    <Table.Td>
      <Verbs worker={worker} />
    </Table.Td>
  </Table.Tr>
)

export const WorkerTable = ({ workers }: { readonly workers: readonly Worker[] }) => (
  <Table aria-label="Workers" className="rows">
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Name</Table.Th>
        <Table.Th>Status</Table.Th>
        <Table.Th>Pool</Table.Th>
        <Table.Th>Labels</Table.Th>
        <Table.Th>Used / slots</Table.Th>
        <Table.Th>Started</Table.Th>
        <Table.Th>Last heartbeat</Table.Th>
        <Table.Th>
          <span className="unseen">Actions</span>
        </Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {workers.map((worker) => (
        <Row key={worker.id} worker={worker} />
      ))}
    </Table.Tbody>
  </Table>
)
