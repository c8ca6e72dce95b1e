/** Events: those that came, those that are to be sent later, deliveries that made none, and a form to send one. */
import { Group, Stack, TextInput, Title } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMay } from '../../api/me.ts'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { DeadLetters } from './dead-letters.tsx'
import { Delayed } from './delayed.tsx'
import { SendForm } from './send-form.tsx'
import { Tail } from './tail.tsx'

const route = getRouteApi('/events')

const FIELDS = [
  ['type', 'Type', 'its exact name'],
  ['source', 'Source', 'a part of it'],
  ['subject', 'Subject', 'a part of it'],
  ['correlation', 'Correlation', 'a part of it'],
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
  [undefined, 'Came'],
  ['delayed', 'To be sent later'],
  ['dead', 'Dead letters'],
] as const

const Views = () => {
  const { view } = route.useSearch()
  return (
    <nav className="chips" aria-label="Which events">
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
