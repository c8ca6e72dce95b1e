/** Webhook endpoints: health, deliveries with their attempts, and a button to redeliver a failed one. */
import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, CircleOff } from 'lucide-react'
import { useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { WebhookDelivery, WebhookEndpoint } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { deliveriesQuery, endpointsQuery, queryClient } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { complain, say } from '../../parts/say.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { Status } from '../../parts/status.tsx'
import { When } from '../../parts/when.tsx'
import { WideTable } from '../../parts/wide-table.tsx'

const EXAMPLE = 'endpoints: [{ name: books, url: https://books.example/in, events: [order.paid] }]'

/** Statuses of a delivery that can be redelivered. */
const GIVEN_UP = new Set(['failed', 'cancelled', 'expired', 'quarantined'])

const Health = ({ endpoint: { off, failing_since } }: { readonly endpoint: WebhookEndpoint }) => {
  if (off !== null)
    return (
      <span className="status" data-tone="bad">
        <CircleOff size={15} aria-hidden /> off: {off}
      </span>
    )
  if (failing_since === null)
    return (
      <span className="status" data-tone="good">
        <CircleCheck size={15} aria-hidden /> on
      </span>
    )
  return (
    <span className="status" data-tone="wait">
      <CircleAlert size={15} aria-hidden /> failing since <When at={failing_since} />
    </span>
  )
}

const Tries = ({ delivery: { tries, next_at } }: { readonly delivery: WebhookDelivery }) => {
  const last = tries.at(-1)
  return (
    <>
      {last === undefined ? 'not sent yet' : `${last.kind}: ${last.detail}`}
      <div className="quiet">
        {tries.length} {tries.length === 1 ? 'attempt' : 'attempts'}
        {next_at !== null && (
          <>
            , next <When at={next_at} />
          </>
        )}
      </div>
    </>
  )
}

const DeliveryRow = ({ endpoint, delivery }: { readonly endpoint: string; readonly delivery: WebhookDelivery }) => {
  const mayOperate = useMay('operator')
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      sendJson(`/api/webhook-endpoints/${encodeURIComponent(endpoint)}/deliveries/${delivery.id}/redeliver`, {}),
    onSuccess: () => say('teal', 'Redelivering', 'The delivery starts again.'),
    onError: complain,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['runs'] }),
  })
  return (
    <Table.Tr>
      <Table.Td>
        <Link to="/runs/$id" params={{ id: delivery.id }} className="id">
          {shortId(delivery.id)}
        </Link>
        <div className="quiet">
          {delivery.event !== null && `event #${delivery.event}, `}
          <When at={delivery.created_at} />
        </div>
      </Table.Td>
      <Table.Td>
        <Status of={delivery.status} />
      </Table.Td>
      <Table.Td>
        <Tries delivery={delivery} />
      </Table.Td>
      <Table.Td ta="right">
        {mayOperate && GIVEN_UP.has(delivery.status) && (
          <Button
            size="compact-xs"
            variant="default"
            loading={isPending}
            aria-label={`Redeliver ${shortId(delivery.id)}`}
            onClick={() => mutate()}
          >
            Redeliver
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

const Deliveries = ({ name }: { readonly name: string }) => {
  const { data, error, refetch } = useQuery(deliveriesQuery(name))
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <Text className="quiet">No deliveries yet.</Text>
  return (
    <WideTable label={`Deliveries to ${name}, scrollable`}>
      <Table aria-label={`Deliveries to ${name}`} className="rows">
        <Table.Tbody>
          {data.items.map((delivery) => (
            <DeliveryRow key={delivery.id} endpoint={name} delivery={delivery} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  )
}

const Endpoint = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="endpoint">
      <Group justify="space-between" gap="xs">
        <div>
          <strong>{endpoint.name}</strong> <Health endpoint={endpoint} />
          <div className="quiet breaks">
            {endpoint.url} · {endpoint.events.join(', ')} · {endpoint.is_signed ? 'signed' : 'not signed'}
          </div>
        </div>
        <Button
          size="compact-xs"
          variant="default"
          aria-expanded={isOpen}
          aria-label={`Deliveries to ${endpoint.name}`}
          onClick={() => setOpen(!isOpen)}
        >
          Deliveries
        </Button>
      </Group>
      {isOpen && <Deliveries name={endpoint.name} />}
    </div>
  )
}

export const Endpoints = () => {
  const { data, error, refetch } = useQuery(endpointsQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <Empty command={EXAMPLE}>No webhook endpoints. Add one to the manifest:</Empty>
  return (
    <Stack gap="sm">
      {data.items.map((endpoint) => (
        <Endpoint key={endpoint.name} endpoint={endpoint} />
      ))}
    </Stack>
  )
}
