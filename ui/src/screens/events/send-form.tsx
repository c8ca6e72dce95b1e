/** A form to send an event. Suggests declared types, and can check the data before sending. */
import { Autocomplete, Button, Group, Text, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Problem, sendJson } from '../../api/client.ts'
import type { Receipt, Rehearsal } from '../../api/documents.ts'
import { graphQuery, queryClient } from '../../api/queries.ts'
import { complain, say } from '../../parts/say.ts'

const parsed = (text: string): unknown => {
  try {
    return text.trim() === '' ? {} : (JSON.parse(text) as unknown)
  } catch (error) {
    throw new Problem('NOT_JSON', 0, `The data is not valid JSON: ${(error as Error).message}`, null)
  }
}

export const outcome = ({ runs, pending, suppressed, duplicate }: Receipt): string => {
  if (duplicate) return 'Already received.'
  const started =
    runs.length === 0
      ? pending.length === 0
        ? 'No run started.'
        : ''
      : `Started ${runs.length === 1 ? '1 run' : `${runs.length} runs`}.`
  const waiting = pending.map((handler) => `${handler} starts when its limits allow.`)
  return [started, ...waiting, ...suppressed.map(({ trigger, reason }) => `${trigger}: ${reason}`)]
    .filter((text) => text !== '')
    .join(' ')
}

const wouldStart = ({ starts, suppressed }: Rehearsal): string => {
  const first = starts.length === 0 ? 'Nothing would start.' : `This would start ${starts.join(', ')}.`
  const rest = suppressed.map(({ trigger, detail }) => `${trigger} would not start: ${detail}.`)
  return ['The data is valid.', first, ...rest].join(' ')
}

/** Event types for the suggestions: all declared ones. */
const useTypes = (): readonly string[] => {
  const { data: graph } = useQuery(graphQuery)
  return (graph?.nodes ?? []).filter(({ kind }) => kind === 'event').map(({ name }) => name)
}

export const SendForm = ({ first }: { readonly first: string }) => {
  const [type, setType] = useState(first)
  const [data, setData] = useState('{}')
  const types = useTypes()
  const check = useMutation({
    mutationFn: async () => sendJson<Rehearsal>('/api/triggers/test', { name: type, data: parsed(data) }),
  })
  const send = useMutation({
    mutationFn: async () => sendJson<Receipt>('/api/events', { type, data: parsed(data) }),
    onSuccess: (receipt) => say('teal', 'Event sent', outcome(receipt)),
    onError: complain,
    onSettled: () => queryClient.invalidateQueries(),
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    check.reset()
    send.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <Autocomplete
          label="Event type"
          placeholder="order.paid"
          size="xs"
          required
          data={[...types]}
          value={type}
          onChange={(next) => {
            setType(next)
            check.reset()
          }}
        />
        <Textarea
          label="Data (JSON)"
          size="xs"
          autosize
          minRows={1}
          maxRows={8}
          w={320}
          value={data}
          onChange={(e) => {
            setData(e.currentTarget.value)
            check.reset()
          }}
        />
        <Button
          size="xs"
          variant="default"
          disabled={type === ''}
          loading={check.isPending}
          onClick={() => check.mutate()}
        >
          Check
        </Button>
        <Button type="submit" size="xs" loading={send.isPending}>
          Send
        </Button>
      </Group>
      <Text size="sm" mt={6} role="status" c={check.error === null ? 'dimmed' : 'var(--mantine-color-error)'}>
        {check.error?.message ?? (check.data === undefined ? '' : wouldStart(check.data))}
      </Text>
    </form>
  )
}
