/** Tokens, for admins: list, create and revoke them. The secret of a new token is shown only once. */
import { Button, Checkbox, Group, Modal, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { NewToken, Token } from '../../api/documents.ts'
import { queryClient, tokensQuery } from '../../api/queries.ts'
import { Command } from '../../parts/copy.tsx'
import { complain, say } from '../../parts/say.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { When } from '../../parts/when.tsx'
import { WideTable } from '../../parts/wide-table.tsx'

const KINDS = ['user', 'service', 'agent']
const ROLES = ['viewer', 'decider', 'operator', 'admin']
const LIVES = ['1d', '7d', '30d', '90d', '365d']

const askAgain = () => queryClient.invalidateQueries({ queryKey: tokensQuery.queryKey })

const NewTokenForm = ({ done }: { readonly done: (made: NewToken) => void }) => {
  const [name, setName] = useState('')
  const [kind, setKind] = useState('user')
  const [roles, setRoles] = useState<string[]>(['viewer'])
  const [groups, setGroups] = useState('')
  const [life, setLife] = useState('90d')
  const { mutate, isPending } = useMutation({
    mutationFn: () => {
      const named = groups.split(',').map((group) => group.trim())
      const intent = { name: name.trim(), kind, roles, groups: named.filter((group) => group !== ''), expires_in: life }
      return sendJson<NewToken>('/api/tokens', intent)
    },
    onSuccess: done,
    onError: complain,
    onSettled: askAgain,
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput label="Name" required data-autofocus value={name} onChange={(e) => setName(e.currentTarget.value)} />
        <Group gap="sm" grow>
          <Select
            label="Kind"
            data={KINDS}
            value={kind}
            allowDeselect={false}
            onChange={(next) => setKind(next ?? 'user')}
          />
          <Select
            label="Expires in"
            data={LIVES}
            value={life}
            allowDeselect={false}
            onChange={(next) => setLife(next ?? '90d')}
          />
        </Group>
        <Checkbox.Group label="Roles" value={roles} onChange={setRoles}>
          <Group gap="md" mt={4}>
            {ROLES.map((role) => (
              <Checkbox key={role} value={role} label={role} />
            ))}
          </Group>
        </Checkbox.Group>
        <TextInput
          label="Groups"
          description="Separate with commas"
          value={groups}
          onChange={(e) => setGroups(e.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" size="xs" loading={isPending} disabled={roles.length === 0}>
            Create token
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const Made = ({ made }: { readonly made: NewToken }) => (
  <Stack gap="xs" className="waits">
    <Text size="sm" fw={600}>
      Token for {made.name}
    </Text>
    <Text size="sm">Copy it now. It is shown only once.</Text>
    <Command text={made.token} />
  </Stack>
)

const Row = ({ token, revoke }: { readonly token: Token; readonly revoke: (token: Token) => void }) => (
  <Table.Tr>
    <Table.Td fw={600}>{token.name}</Table.Td>
    <Table.Td>{token.kind}</Table.Td>
    <Table.Td>
      {token.roles.join(', ')}
      {token.groups.length > 0 && <div className="quiet">{token.groups.join(', ')}</div>}
    </Table.Td>
    <Table.Td>{token.status === 'active' ? <When at={token.expires_at} /> : token.status}</Table.Td>
    <Table.Td>{token.created_by}</Table.Td>
    <Table.Td ta="right">
      {token.status === 'active' && (
        <Button size="compact-xs" variant="default" aria-label={`Revoke ${token.name}`} onClick={() => revoke(token)}>
          Revoke
        </Button>
      )}
    </Table.Td>
  </Table.Tr>
)

const Revoke = ({ token, close }: { readonly token: Token; readonly close: () => void }) => {
  const { mutate, isPending } = useMutation({
    mutationFn: () => sendJson<Token>(`/api/tokens/${encodeURIComponent(token.id)}`, {}, { method: 'DELETE' }),
    onSuccess: () => say('teal', 'Revoked', `The token of ${token.name} no longer works.`),
    onError: complain,
    onSettled: async () => {
      close()
      await askAgain()
    },
  })
  return (
    <Stack gap="md">
      <Text size="sm">
        The token of {token.name} stops working at once, for requests and logins. This can't be undone.
      </Text>
      <Group justify="flex-end">
        <Button size="xs" variant="default" onClick={close}>
          Back
        </Button>
        <Button size="xs" color="red" data-autofocus loading={isPending} onClick={() => mutate()}>
          Revoke
        </Button>
      </Group>
    </Stack>
  )
}

const List = ({ tokens, revoke }: { readonly tokens: readonly Token[]; readonly revoke: (token: Token) => void }) =>
  tokens.length === 0 ? (
    <Stack gap="xs">
      <Text size="sm">No tokens. You need none on this machine. To create one for others:</Text>
      <Command text="npx trihand token create ana --roles viewer,decider" />
    </Stack>
  ) : (
    <WideTable label="Tokens, scrollable">
      <Table aria-label="Tokens" className="rows">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Kind</Table.Th>
            <Table.Th>Roles, groups</Table.Th>
            <Table.Th>Expires</Table.Th>
            <Table.Th>Created by</Table.Th>
            <Table.Th>
              <span className="unseen">Revoke</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tokens.map((token) => (
            <Row key={token.id} token={token} revoke={revoke} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  )

export const Tokens = () => {
  const { data, error, refetch } = useQuery(tokensQuery)
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<NewToken | null>(null)
  const [ending, setEnding] = useState<Token | null>(null)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return (
    <Stack gap="sm" align="stretch">
      {made !== null && <Made made={made} />}
      <List tokens={data.items} revoke={setEnding} />
      <Group>
        <Button size="xs" variant="default" onClick={() => setMaking(true)}>
          New token
        </Button>
      </Group>
      <Modal
        opened={isMaking}
        onClose={() => setMaking(false)}
        title="New token"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <NewTokenForm
          done={(token) => {
            setMade(token)
            setMaking(false)
          }}
        />
      </Modal>
      <Modal
        opened={ending !== null}
        onClose={() => setEnding(null)}
        title="Revoke token"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {ending !== null && <Revoke token={ending} close={() => setEnding(null)} />}
      </Modal>
    </Stack>
  )
}
