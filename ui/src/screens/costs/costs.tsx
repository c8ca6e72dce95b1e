/** What models have cost: dollars and tokens by day, and by agent and model. Unknown prices and simulated calls stand apart. */
import { Group, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { CostRow, Costs as CostsDocument, Spent } from '../../api/documents.ts'
import { costsQuery } from '../../api/queries.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { useFirstCommand } from '../../parts/use-first-command.ts'
import { DayChart } from './day-chart.tsx'
import { dollars, tokens } from './figures.ts'

const route = getRouteApi('/costs')
const RANGES = [7, 30, 90] as const
const USUAL = 30

const Figure = ({ label, value, note }: { readonly label: string; readonly value: string; readonly note?: string }) => (
  <div className="figure">
    <dt>{label}</dt>
    <dd>
      {value}
      {note !== undefined && <span className="quiet">{note}</span>}
    </dd>
  </div>
)

const Figures = ({ total }: { readonly total: Spent }) => (
  <dl className="figures">
    <Figure label="Cost" value={dollars(total.cost_usd)} />
    <Figure label="Calls" value={tokens(total.calls)} />
    <Figure label="Tokens in" value={tokens(total.input_tokens)} />
    <Figure label="Tokens out" value={tokens(total.output_tokens)} />
    <Figure
      label="Price unknown"
      value={tokens(total.unpriced_calls)}
      note={total.unpriced_calls === 0 ? 'calls' : `calls, ${tokens(total.unpriced_tokens)} tokens`}
    />
  </dl>
)

const Row = ({ row }: { readonly row: CostRow }) => (
  <Table.Tr>
    <Table.Td>{row.agent}</Table.Td>
    <Table.Td>
      {row.model} {row.simulated && <span className="tag">simulated</span>}
    </Table.Td>
    <Table.Td ta="right">{tokens(row.calls)}</Table.Td>
    <Table.Td ta="right">{tokens(row.input_tokens)}</Table.Td>
    <Table.Td ta="right">{tokens(row.output_tokens)}</Table.Td>
    <Table.Td ta="right">{dollars(row.cost_usd)}</Table.Td>
    <Table.Td ta="right">{row.unpriced_calls === 0 ? '' : tokens(row.unpriced_calls)}</Table.Td>
  </Table.Tr>
)

const AgentTable = ({ costs }: { readonly costs: CostsDocument }) => (
  <Table aria-label="By agent and model" className="rows" highlightOnHover>
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Agent</Table.Th>
        <Table.Th>Model</Table.Th>
        <Table.Th ta="right">Calls</Table.Th>
        <Table.Th ta="right">Tokens in</Table.Th>
        <Table.Th ta="right">Tokens out</Table.Th>
        <Table.Th ta="right">Cost</Table.Th>
        <Table.Th ta="right">Price unknown</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {[...costs.items]
        .sort((a, b) => (b.cost_usd ?? 0) - (a.cost_usd ?? 0) || b.input_tokens - a.input_tokens)
        .map((row) => (
          <Row key={`${row.agent} ${row.model} ${row.simulated}`} row={row} />
        ))}
    </Table.Tbody>
  </Table>
)

const Body = ({ days }: { readonly days: number }) => {
  const byAgent = useQuery(costsQuery('agent,model', days))
  const byDay = useQuery(costsQuery('day', days))
  const command = useFirstCommand()
  const [costs, perDay] = [byAgent.data, byDay.data]
  if (costs === undefined || perDay === undefined) {
    const error = byAgent.error ?? byDay.error
    return error === null ? <Loading /> : <Failed error={error} again={() => void byAgent.refetch()} />
  }
  if (costs.items.length === 0)
    return <Empty command={command}>No model was called in these days. An agent calls one:</Empty>
  return (
    <Stack gap="lg" className="screen-body">
      <Figures total={costs.total} />
      <DayChart costs={perDay} />
      <AgentTable costs={costs} />
    </Stack>
  )
}

export const Costs = () => {
  const { days = USUAL } = route.useSearch()
  return (
    <>
      <Group justify="space-between" align="flex-end" className="head">
        <div>
          <Title order={1} size="h2">
            Costs
          </Title>
          <Text className="quiet">As journaled with every call of a model, days of UTC</Text>
        </div>
        <nav className="chips" aria-label="Days">
          {RANGES.map((range) => (
            <Link key={range} to="/costs" search={{ days: range }} className="chip" data-chosen={days === range}>
              {range} days
            </Link>
          ))}
        </nav>
      </Group>
      <Body days={days} />
    </>
  )
}
