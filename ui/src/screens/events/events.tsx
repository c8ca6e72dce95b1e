/** Received events, scheduled events, dead letters, and a form to send an event. */
import { Button, Group, Stack, Table, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { sendJson } from '../../api/client.ts'
import type { DelayedEvent } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { delayedQuery, queryClient } from '../../api/queries.ts'
import { Data } from '../../parts/data.tsx'
import { complain, say } from '../../parts/say.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { When } from '../../parts/when.tsx'
import { DeadLetters } from './dead-letters.tsx'
import { SendForm } from './send-form.tsx'
import { Tail } from './tail.tsx'

// Scheduled events, with a button to cancel each.

const Row = ({ event }: { readonly event: DelayedEvent }) => {
  const mayOperate = useMay('operator')
  const { mutate, isPending } = useMutation({
    mutationFn: () => sendJson(`/api/events/${event.id}`, {}, { method: 'DELETE' }),
    onSuccess: () => say('teal', 'Cancelled', `${event.type} will not be sent.`),
    onError: complain,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['runs'] }),
  })
  return (
    <Table.Tr>
      <Table.Td fw={600}>{event.type}</Table.Td>
      <Table.Td>{event.due_at === null ? 'now' : <When at={event.due_at} />}</Table.Td>
      <Table.Td>{event.subject ?? ''}</Table.Td>
      <Table.Td>
        <Data value={event.data} />
      </Table.Td>
      <Table.Td ta="right">
        {mayOperate && (
          <Button
            size="compact-xs"
            variant="default"
            loading={isPending}
            aria-label={`Cancel ${event.type}`}
            onClick={() => mutate()}
          >
            Cancel
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

const Delayed = () => {
  const { data, error, refetch } = useQuery(delayedQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0)
    return (
      <Empty command="emit('order.reminded', { order }, { delay: '1d' })">
        No scheduled events. To schedule one, in a function:
      </Empty>
    )
  return (
    <Table aria-label="Scheduled events" className="rows">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Type</Table.Th>
          <Table.Th>Due</Table.Th>
          <Table.Th>Subject</Table.Th>
          <Table.Th>Data</Table.Th>
          <Table.Th>
            <span className="unseen">Actions</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {data.items.map((event) => (
          <Row key={event.id} event={event} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

const route = getRouteApi('/events')

const FIELDS = [
  ['type', 'Type', 'exact name'],
  ['source', 'Source', 'contains'],
  ['subject', 'Subject', 'contains'],
  ['correlation', 'Correlation', 'contains'],
] as const

const Filters = () => {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Group gap="xs" wrap="wrap">
      {FIELDS.map(([name, label, hint]) => (
        <TextInput
          key={name}
          {...(name === 'type' && { 'data-filter': true })}
          size="xs"
          w="9rem"
          label={label}
          placeholder={hint}
          defaultValue={search[name] ?? ''}
          onKeyDown={({ key, currentTarget: { value } }) => {
            if (key === 'Enter') void navigate({ search: { ...search, [name]: value === '' ? undefined : value } })
          }}
        />
      ))}
    </Group>
  )
}

const VIEWS = [
  [undefined, 'Received'],
  ['delayed', 'Scheduled'],
  ['dead', 'Dead letters'],
] as const

const Views = () => {
  const { view } = route.useSearch()
  return (
    <nav className="chips" aria-label="Views">
      {VIEWS.map(([name, label]) => (
        <Link key={label} to="/events" search={{ view: name }} className="chip" data-chosen={view === name}>
          {label}
        </Link>
      ))}
    </nav>
  )
}

export const Events = () => {
  const { view, send } = route.useSearch()
  const maySend = useMay('operator')
  useRowKeys()
  return (
    <Stack gap={0}>
      <Group justify="space-between" align="flex-start" className="head">
        <div>
          <Title order={1} size="h2">
            Events
          </Title>
          <Views />
        </div>
        {view === undefined && <Filters />}
      </Group>
      {view === 'delayed' && <Delayed />}
      {view === 'dead' && <DeadLetters />}
      {view === undefined && (
        <>
          <div className="bar-form">{maySend && <SendForm key={send ?? ''} first={send ?? ''} />}</div>
          <Tail />
        </>
      )}
    </Stack>
  )
}
