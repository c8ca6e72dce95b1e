/** What led to an event and what it led to, in a line each; ids in it are links. */
import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { EventCause } from '../api/documents.ts'
import { eventQuery } from '../api/queries.ts'
import { Linked } from '../parts/linked.tsx'

const causeText = ({ kind, name, id, sequence }: EventCause): string => {
  if (kind === 'event') return `${name} (#${sequence})`
  return kind === 'schedule' ? 'a schedule' : `${name} ${id}`
}

const Line = ({ label, texts }: { readonly label: string; readonly texts: readonly string[] }) =>
  texts.length === 0 ? null : (
    <Text size="sm">
      {label}: <Linked text={texts.join(', ')} />
    </Text>
  )

export const EventLineage = ({ sequence }: { readonly sequence: number }) => {
  const { data } = useQuery(eventQuery(sequence))
  if (data === undefined) return null
  const { causes, runs, events, suppressed } = data
  return (
    <Stack gap={2} mb="xs">
      <Line label="Because of" texts={causes.length === 0 ? ['somebody outside'] : causes.map(causeText)} />
      <Line label="Started" texts={runs.map(({ handler, id, status }) => `${handler} ${id} (${status})`)} />
      <Line label="Led to" texts={events.map((event) => `${event.type} (#${event.sequence})`)} />
      <Line label="Not started" texts={suppressed.map(({ trigger, reason }) => `${trigger} (${reason})`)} />
    </Stack>
  )
}
