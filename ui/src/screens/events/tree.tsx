/**
 * The causes and effects of an event as a tree: from its first cause down to the runs it started and the events they sent.
 *
 * Each sent event can be expanded. The server computes both directions.
 */
import { Button, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { EventCause, EventDetail, StoredEvent } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { eventQuery, queryClient } from '../../api/queries.ts'
import { Linked } from '../../parts/linked.tsx'
import { complain, say } from '../../parts/say.ts'
import { Status } from '../../parts/status.tsx'

type Suppression = EventDetail['suppressed'][number]
type StartedRun = EventDetail['runs'][number]

const REASONS: Readonly<Record<Suppression['reason'], string>> = {
  filter: 'filter did not match',
  error: 'rule failed',
  hop_limit: 'event chain too long',
  reentry: 'would trigger itself',
  duplicate: 'duplicate key',
  paused: 'handler paused',
  rate_limit: 'rate limit reached',
  debounced: 'replaced by a newer event',
  overlap: 'another run in progress',
  fan_in: 'another event was used',
  cancelled: 'cancelled before start',
  joined: 'batched with other events',
}

const causeText = ({ kind, name, id, sequence }: EventCause): string => {
  if (kind === 'event') return `${name} (#${sequence})`
  return kind === 'schedule' ? 'a schedule' : `${name} ${id}`
}

const Suppressed = ({ event, suppression }: { readonly event: StoredEvent; readonly suppression: Suppression }) => {
  const mayOperate = useMay('operator')
  const { trigger, reason, detail, run } = suppression
  const { mutate, isPending } = useMutation({
    mutationFn: () => sendJson<{ readonly id: string }>('/api/runs', { name: trigger, input: event.data }),
    onSuccess: ({ id }) => say('teal', 'Started anyway', `${trigger} started with the data of this event: ${id}`),
    onError: complain,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['runs'] }),
  })
  return (
    <li data-kind="suppressed">
      not started: <strong>{trigger}</strong>, {REASONS[reason]}
      {detail !== '' && <code> {detail}</code>} {run !== null && <Linked text={run} />}{' '}
      {mayOperate && (
        <Button
          size="compact-xs"
          variant="default"
          loading={isPending}
          aria-label={`Start ${trigger} anyway`}
          onClick={() => mutate()}
        >
          Start anyway
        </Button>
      )}
    </li>
  )
}

const Sent = ({ event }: { readonly event: StoredEvent }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <li data-kind="event">
      <button type="button" className="link id" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {event.type}
      </button>{' '}
      <span className="quiet">#{event.sequence}</span>
      {isOpen && <Effects sequence={event.sequence} />}
    </li>
  )
}

const Started = ({ run, events }: { readonly run: StartedRun; readonly events: readonly StoredEvent[] }) => (
  <li data-kind="run">
    started <strong>{run.handler}</strong> <Linked text={run.id} /> <Status of={run.status} />
    {events.length > 0 && (
      <ul>
        {events.map((event) => (
          <Sent key={event.sequence} event={event} />
        ))}
      </ul>
    )}
  </li>
)

const Effects = ({ sequence }: { readonly sequence: number }) => {
  const { data } = useQuery(eventQuery(sequence))
  if (data === undefined) return null
  return <EffectLines detail={data} />
}

const EffectLines = ({ detail: { event, runs, events, pending, suppressed } }: { readonly detail: EventDetail }) => {
  if (runs.length + suppressed.length + pending.length === 0) return <Text className="quiet">Nothing started.</Text>
  const known = new Set(runs.map(({ id }) => id))
  return (
    <ul>
      {runs.map((run) => (
        <Started key={run.id} run={run} events={events.filter(({ causation_id }) => causation_id === run.id)} />
      ))}
      {events
        .filter(({ causation_id }) => causation_id === null || !known.has(causation_id))
        .map((sent) => (
          <Sent key={sent.sequence} event={sent} />
        ))}
      {pending.map((handler) => (
        <li key={handler} data-kind="pending">
          waiting: <strong>{handler}</strong> starts when its limits allow
        </li>
      ))}
      {suppressed.map((suppression) => (
        <Suppressed key={suppression.trigger} event={event} suppression={suppression} />
      ))}
    </ul>
  )
}

/** Nests the causes: each below the one before. */
const Nested = ({ causes, children }: { readonly causes: readonly EventCause[]; readonly children: ReactNode }) => {
  const [first, ...rest] = causes
  if (first === undefined) return children
  return (
    <ul>
      <li data-kind={first.kind}>
        <Linked text={causeText(first)} />
        <Nested causes={rest}>{children}</Nested>
      </li>
    </ul>
  )
}

export const EventTree = ({ sequence }: { readonly sequence: number }) => {
  const { data } = useQuery(eventQuery(sequence))
  if (data === undefined) return null
  const { event, causes } = data
  return (
    <section className="tree" aria-label="Causes and effects">
      {causes.length === 0 && <Text className="quiet">Sent from outside.</Text>}
      <Nested causes={[...causes].reverse()}>
        <ul>
          <li data-kind="this">
            <strong>{event.type}</strong> <span className="quiet">#{event.sequence}, this event</span>
            <EffectLines detail={data} />
          </li>
        </ul>
      </Nested>
    </section>
  )
}
