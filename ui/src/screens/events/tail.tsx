/** The live list of events, newest first. Live updates can be paused. An open event shows its causes and effects, its data and a replay button. */
import { Button, Group, Table, Text } from '@mantine/core'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pause, Play } from 'lucide-react'
import { Fragment, useMemo, useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { Receipt, StoredEvent } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { eventsQuery, queryClient } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { Data } from '../../parts/data.tsx'
import { ObjectMenu } from '../../parts/object-menu.tsx'
import { complain, say } from '../../parts/say.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { useFirstCommand } from '../../parts/use-first-command.ts'
import { When } from '../../parts/when.tsx'
import { type EventFilter, isNarrowed, narrowed } from './narrow.ts'
import { outcome } from './send-form.tsx'
import { EventTree } from './tree.tsx'

const LONG_ID = /^[a-z]{2,3}_[0-9a-f]{32}$/
const route = getRouteApi('/events')

/** Sends the same event again, with a new id. */
const Replay = ({ event: { type, source, subject, data } }: { readonly event: StoredEvent }) => {
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      sendJson<Receipt>('/api/events', { type, source, data, ...(subject === null ? {} : { subject }) }),
    onSuccess: (receipt) => say('teal', 'Replayed', outcome(receipt)),
    onError: complain,
    onSettled: () => queryClient.invalidateQueries(),
  })
  return (
    <Button size="compact-xs" variant="default" loading={isPending} onClick={() => mutate()}>
      Replay
    </Button>
  )
}

const Opened = ({ event }: { readonly event: StoredEvent }) => {
  const mayOperate = useMay('operator')
  return (
    <Table.Tr>
      <Table.Td />
      <Table.Td colSpan={4}>
        <EventTree sequence={event.sequence} />
        <Group gap="xs" mb="xs">
          {mayOperate && <Replay event={event} />}
          <ObjectMenu
            what={`event ${event.sequence}`}
            id={event.id}
            path={`/api/events/${event.sequence}`}
            cli={`events show ${event.sequence}`}
          />
        </Group>
        <Data value={JSON.parse(JSON.stringify(event))} />
      </Table.Td>
    </Table.Tr>
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
      {open && <Opened event={event} />}
    </Fragment>
  )
}

const Rows = ({ events }: { readonly events: readonly StoredEvent[] }) => (
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
)

/** `heldAt` is the newest shown event while paused. Null: live. */
const Bar = ({
  events,
  filter,
  shown,
  heldAt,
  hold,
}: {
  readonly events: readonly StoredEvent[]
  readonly filter: EventFilter
  readonly shown: number
  readonly heldAt: number | null
  readonly hold: (at: number | null) => void
}) => {
  const fresh = heldAt === null ? 0 : events.filter(({ sequence }) => sequence > heldAt).length
  return (
    <Group gap="sm" px="md" pb="xs">
      <Button
        size="compact-xs"
        variant="default"
        leftSection={heldAt === null ? <Pause size={13} aria-hidden /> : <Play size={13} aria-hidden />}
        onClick={() => hold(heldAt === null ? (events[0]?.sequence ?? 0) : null)}
      >
        {heldAt === null ? 'Pause live updates' : 'Resume live updates'}
      </Button>
      <Text className="quiet" role="status">
        {heldAt !== null && `Paused, ${fresh} new ${fresh === 1 ? 'event' : 'events'}. `}
        {isNarrowed(filter) && `Showing ${shown} of the ${events.length} newest events.`}
      </Text>
    </Group>
  )
}

export const Tail = () => {
  const { type, ...filter } = route.useSearch()
  const [heldAt, hold] = useState<number | null>(null)
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(
    eventsQuery(type),
  )
  const command = useFirstCommand()
  const events = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  if (isPending) return <Loading />
  if (error !== null && data === undefined) return <Failed error={error} again={() => void refetch()} />
  if (events.length === 0)
    return <Empty command={command}>{type === undefined ? 'No events yet. Send one:' : `No ${type} events yet.`}</Empty>
  const shown = narrowed(events, filter).filter(({ sequence }) => heldAt === null || sequence <= heldAt)
  return (
    <>
      <Bar events={events} filter={filter} shown={shown.length} heldAt={heldAt} hold={hold} />
      <Rows events={shown} />
      {hasNextPage && (
        <Button m="md" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load older events
        </Button>
      )}
    </>
  )
}
