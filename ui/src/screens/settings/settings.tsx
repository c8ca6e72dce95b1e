/** What a person sets for themselves in this browser, what this server is, and, for those who may, its credentials and whom it tells. */
import { Group, SegmentedControl, Stack, Switch, Table, Text, Title, useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Health } from '../../api/documents.ts'
import { useLogin, useMay } from '../../api/me.ts'
import { graphQuery, healthQuery } from '../../api/queries.ts'
import { InboxSettings } from '../../parts/inbox-settings.tsx'
import { switchKeys, useKeysOn } from '../../parts/keys-on.ts'
import { LoginFacts } from '../../parts/login-facts.tsx'
import { MeForm } from '../../parts/me-form.tsx'
import { say } from '../../parts/say.ts'
import { Configuration } from './configuration.tsx'
import { Endpoints } from './endpoints.tsx'
import { Tokens } from './tokens.tsx'

const SCHEMES = ['auto', 'light', 'dark'] as const

const You = () => {
  const login = useLogin()
  if (login !== null) return <LoginFacts login={login} />
  return <MeForm submit="Save" done={({ name }) => say('teal', 'Saved', `You decide as ${name}.`)} />
}

const PageSettings = () => {
  const keysOn = useKeysOn()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Stack gap="md">
      <Group gap="sm">
        <Text size="sm">Colours</Text>
        <SegmentedControl
          size="xs"
          aria-label="Colours"
          value={colorScheme}
          data={[...SCHEMES]}
          onChange={(next) => setColorScheme(SCHEMES.find((scheme) => scheme === next) ?? 'auto')}
        />
      </Group>
      <Switch
        label="Single letters are keys"
        description="Off: j, a, g i and the like do nothing. Ctrl K and Ctrl Enter stay."
        checked={keysOn}
        onChange={(e) => switchKeys(e.currentTarget.checked)}
      />
      <InboxSettings />
    </Stack>
  )
}

const modelsText = ({ simulated, simulated_because: why }: Health): string =>
  simulated ? `simulated: agents answer from scripts${why === null ? '' : ` (${why})`}` : 'live'

const ServerFacts = () => {
  const { data: health } = useQuery(healthQuery)
  const { data: graph } = useQuery(graphQuery)
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Version', health?.version],
    ['Ready', health === undefined ? undefined : health.status === 'ok' ? 'yes' : `no: ${health.reasons.join('; ')}`],
    ['System', graph === undefined ? undefined : `${graph.name} (${graph.hash})`],
    [
      'Ledger',
      health === undefined
        ? undefined
        : health.durable
          ? 'durable: what is acknowledged is on disk'
          : 'in memory: nothing is kept',
    ],
    ['Models', health === undefined ? undefined : modelsText(health)],
  ]
  return (
    <Table aria-label="This server" className="rows">
      <Table.Tbody>
        {rows.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w="10rem">{name}</Table.Th>
            <Table.Td>{value ?? ''}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

const Panel = ({
  id,
  title,
  children,
}: {
  readonly id: string
  readonly title: string
  readonly children: ReactNode
}) => (
  <section className="panel" aria-labelledby={id}>
    <Title order={2} size="h3" id={id}>
      {title}
    </Title>
    {children}
  </section>
)

export const Settings = () => {
  const isAdmin = useMay('admin')
  return (
    <>
      <Group className="head">
        <Title order={1} size="h2">
          Settings
        </Title>
      </Group>
      <Stack gap="lg" className="screen-body" maw="60rem">
        <Panel id="me" title="You">
          <You />
        </Panel>
        <Panel id="page" title="This page">
          <PageSettings />
        </Panel>
        {isAdmin && (
          <Panel id="tokens" title="Tokens">
            <Tokens />
          </Panel>
        )}
        <Panel id="endpoints" title="Outgoing webhooks">
          <Endpoints />
        </Panel>
        <Panel id="server" title="This server">
          <ServerFacts />
        </Panel>
        {isAdmin && (
          <Panel id="configuration" title="Configuration">
            <Configuration />
          </Panel>
        )}
      </Stack>
    </>
  )
}
