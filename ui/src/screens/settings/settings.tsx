/** Settings: the user, this browser, the server, webhook endpoints, and for admins tokens and configuration. */
import { Group, SegmentedControl, Stack, Switch, Table, Text, Title, useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ConfiguredSetting, Health } from '../../api/documents.ts'
import { useLogin, useMay } from '../../api/me.ts'
import { configurationQuery, graphQuery, healthQuery } from '../../api/queries.ts'
import { InboxSettings } from '../../parts/inbox-settings.tsx'
import { switchKeys, useKeysOn } from '../../parts/keys-on.ts'
import { LoginFacts } from '../../parts/login-facts.tsx'
import { MeForm } from '../../parts/me-form.tsx'
import { say } from '../../parts/say.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import { Endpoints } from './endpoints.tsx'
import { Tokens } from './tokens.tsx'

// The configuration of the server: each value, its source and its meaning. Secrets are never shown.

const shownValue = ({ value, source, is_secret }: ConfiguredSetting): string => {
  if (is_secret && source !== 'default') return 'set, not shown'
  return value ?? 'not set'
}

const Configuration = () => {
  const { data, error, refetch } = useQuery(configurationQuery)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0)
    return <Text className="quiet">This server runs inside another program, which configures it.</Text>
  return (
    <WideTable label="Configuration, scrollable">
      <Table aria-label="Configuration" className="rows" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Value</Table.Th>
            <Table.Th>From</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.items.map((setting) => (
            <Table.Tr key={setting.name}>
              <Table.Td className="breaks">
                <code>{setting.name}</code>
                <div className="quiet">{setting.meaning}</div>
              </Table.Td>
              <Table.Td className="breaks">{shownValue(setting)}</Table.Td>
              <Table.Td>{setting.source}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  )
}

const SCHEMES = [
  { value: 'auto', label: 'Auto' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

const You = () => {
  const login = useLogin()
  if (login !== null) return <LoginFacts login={login} />
  return <MeForm submit="Save" done={({ name }) => say('teal', 'Saved', `You are ${name}.`)} />
}

const PageSettings = () => {
  const keysOn = useKeysOn()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Stack gap="md">
      <Group gap="sm">
        <Text size="sm">Theme</Text>
        <SegmentedControl
          size="xs"
          aria-label="Theme"
          value={colorScheme}
          data={[...SCHEMES]}
          onChange={(next) => setColorScheme(SCHEMES.find(({ value }) => value === next)?.value ?? 'auto')}
        />
      </Group>
      <Switch
        label="Keyboard shortcuts"
        description="When off, single letters such as j, a or g i do nothing. Ctrl K and Ctrl Enter still work."
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
      'Storage',
      health === undefined ? undefined : health.durable ? 'durable: saved to disk' : 'in memory: lost on restart',
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
