/** Events as they come, newest first, each with what led to it and what it led to, and a form to send one. */
import { Button, Group, Stack, Table, Textarea, TextInput, Title } from '@mantine/core'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, Fragment, useMemo, useState } from 'react'
import { Problem, sendJson } from '../api/client.ts'
import type { Receipt, StoredEvent } from '../api/documents.ts'
import { useMay } from '../api/me.ts'
import { eventsQuery, queryClient } from '../api/queries.ts'
import { shortId } from '../parts/copy.tsx'
import { Data } from '../parts/data.tsx'
import { complain, say } from '../parts/say.ts'
import { Empty, Failed, Loading } from '../parts/state.tsx'
import { useFirstCommand } from '../parts/use-first-command.ts'
import { useRowKeys } from '../parts/use-row-keys.ts'
import { When } from '../parts/when.tsx'
import { EventLineage } from './event-lineage.tsx'

const LONG_ID = /^[a-z]{2,3}_[0-9a-f]{32}$/
const eventsRoute = getRouteApi('/events')

const parsed = (text: string): unknown => {
  try {
    return text.trim() === '' ? {} : (JSON.parse(text) as unknown)
  } catch (error) {
    throw new Problem('NOT_JSON', 0, `The data is not JSON: ${(error as Error).message}`, null)
  }
}

const outcome = ({ runs, suppressed, duplicate }: Receipt): string => {
  if (duplicate) return 'It was there already.'
  const started =
    runs.length === 0 ? 'It started no run.' : `It started ${runs.length === 1 ? 'a run' : `${runs.length} runs`}.`
  return [started, ...suppressed.map(({ trigger, reason }) => `${trigger}: ${reason}`)].join(' ')
}

const SendForm = () => {
  const [type, setType] = useState('')
  const [data, setData] = useState('{}')
  const { mutate, isPending } = useMutation({
    mutationFn: async () => sendJson<Receipt>('/api/events', { type, data: parsed(data) }),
    onSuccess: (receipt) => say('teal', 'The event is on disk', outcome(receipt)),
    onError: complain,
    onSettled: () => queryClient.invalidateQueries(),
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    mutate()
  }
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <TextInput
          label="Send an event"
          placeholder="order.paid"
          size="xs"
          required
          value={type}
          onChange={(e) => setType(e.currentTarget.value)}
        />
        <Textarea
          label="Data (JSON)"
          size="xs"
          autosize
          minRows={1}
          maxRows={8}
          w={320}
          value={data}
          onChange={(e) => setData(e.currentTarget.value)}
        />
        <Button type="submit" size="xs" loading={isPending}>
          Send
        </Button>
      </Group>
    </form>
  )
}

const Row = ({ event }: { readonly event: StoredEvent }) => {
  const [open, setOpen] = useState(false)
  return (
    <Fragment>
      <Table.Tr>
        <Table.Td>{event.sequence}</Table.Td>
        <Table.Td>
          <button type="button" className="link id" data-row aria-expanded={open} onClick={() => setOpen(!open)}>
            {event.type}
          </button>
        </Table.Td>
        <Table.Td>{event.source}</Table.Td>
        <Table.Td className="quiet" title={event.subject ?? ''}>
          {event.subject === null ? '' : LONG_ID.test(event.subject) ? shortId(event.subject) : event.subject}
        </Table.Td>
        <Table.Td>
          <When at={event.time} />
        </Table.Td>
      </Table.Tr>
      {open && (
        <Table.Tr>
          <Table.Td />
          <Table.Td colSpan={4}>
            <EventLineage sequence={event.sequence} />
            <Data value={JSON.parse(JSON.stringify(event))} />
          </Table.Td>
        </Table.Tr>
      )}
    </Fragment>
  )
}

const List = () => {
  const { type } = eventsRoute.useSearch()
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(
    eventsQuery(type),
  )
  const command = useFirstCommand()
  const events = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  if (isPending) return <Loading />
  if (error !== null && data === undefined) return <Failed error={error} again={() => void refetch()} />
  if (events.length === 0)
    return <Empty command={command}>{type === undefined ? 'No event yet.' : `No event ${type} yet.`}</Empty>
  return (
    <>
      <Table aria-label="Events" className="rows">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>#</Table.Th>
            <Table.Th>Type</Table.Th>
            <Table.Th>Source</Table.Th>
            <Table.Th>Subject</Table.Th>
            <Table.Th>Time</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {events.map((event) => (
            <Row key={event.sequence} event={event} />
          ))}
        </Table.Tbody>
      </Table>
      {hasNextPage && (
        <Button m="md" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Older events
        </Button>
      )}
    </>
  )
}

const TypeFilter = () => {
  const { type } = eventsRoute.useSearch()
  const navigate = eventsRoute.useNavigate()
  return (
    <TextInput
      data-filter
      size="xs"
      label="Type"
      placeholder="its exact name"
      defaultValue={type ?? ''}
      onKeyDown={({ key, currentTarget: { value } }) => {
        if (key === 'Enter') void navigate({ search: { type: value === '' ? undefined : value } })
      }}
    />
  )
}

export const Events = () => {
  const maySend = useMay('operator')
  useRowKeys()
  return (
    <Stack gap={0}>
      <Group justify="space-between" align="flex-start" className="head">
        <Title order={1} size="h2">
          Events
        </Title>
        <TypeFilter />
      </Group>
      <div className="bar-form">{maySend && <SendForm />}</div>
      <List />
    </Stack>
  )
}
