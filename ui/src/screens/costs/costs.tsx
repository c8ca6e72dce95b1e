/** Model costs by day, agent and model, and per run. Shows unpriced and simulated calls separately. */
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import type { Costs as CostsDocument, Spent } from '../../api/documents.ts'
import { costsQuery, runCostsQuery } from '../../api/queries.ts'
import { download } from '../../parts/download.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { useFirstCommand } from '../../parts/use-first-command.ts'
import { CostTable } from './cost-table.tsx'
import { csvOf } from './csv.ts'
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

/** The cost of a run, and what failed runs have cost. */
const RunFigures = ({ days }: { readonly days: number }) => {
  const { data } = useQuery(runCostsQuery(days))
  if (data === undefined || data.looked_at === 0) return null
  const { finished, p50_usd, p95_usd, failed, wasted_usd, unpriced, looked_at } = data
  const runs = (count: number): string => `${tokens(count)} ${count === 1 ? 'run' : 'runs'}`
  return (
    <div>
      <dl className="figures">
        <Figure
          label="Median run"
          value={finished === 0 ? 'none' : dollars(p50_usd)}
          note={`of ${finished === 1 ? '1 finished run' : `${tokens(finished)} finished runs`}`}
        />
        <Figure label="Expensive run (p95)" value={finished === 0 ? 'none' : dollars(p95_usd)} />
        <Figure label="Failed runs" value={dollars(wasted_usd)} note={runs(failed)} />
        <Figure label="Unpriced runs" value={tokens(unpriced)} />
      </dl>
      <Text className="quiet" mt={4}>
        Based on the last {runs(looked_at)} with paid model calls
      </Text>
    </div>
  )
}

const unpricedNote = ({ unpriced_calls, unpriced_tokens, unverified_usd }: Spent): string => {
  if (unpriced_calls === 0) return 'calls'
  const told = unverified_usd === null ? '' : `, ${dollars(unverified_usd)} reported, unverified`
  return `calls, ${tokens(unpriced_tokens)} tokens${told}`
}

const Figures = ({ total }: { readonly total: Spent }) => (
  <dl className="figures">
    <Figure label="Cost" value={dollars(total.cost_usd)} />
    <Figure
      label="Calls"
      value={tokens(total.calls)}
      {...(total.failed_calls > 0 && { note: `${tokens(total.failed_calls)} failed` })}
    />
    <Figure label="Tokens in" value={tokens(total.input_tokens)} />
    <Figure label="Tokens out" value={tokens(total.output_tokens)} />
    <Figure label="Unpriced" value={tokens(total.unpriced_calls)} note={unpricedNote(total)} />
  </dl>
)

const BY = [
  [undefined, 'agent and model'],
  ['day', 'day, agent and model'],
] as const

const Tables = ({ days, costs }: { readonly days: number; readonly costs: CostsDocument }) => {
  const { by, days: given } = route.useSearch()
  const { data: perDay } = useQuery(costsQuery('day,agent,model', days))
  const save = (): void => {
    if (perDay !== undefined) download(`costs-${perDay.from}-${perDay.to}.csv`, 'text/csv', csvOf(perDay.items))
  }
  return (
    <div>
      <Group justify="space-between" align="flex-end" mb="xs">
        <nav className="chips" aria-label="Group by">
          {BY.map(([name, label]) => (
            <Link key={label} to="/costs" search={{ days: given, by: name }} className="chip" data-chosen={by === name}>
              By {label}
            </Link>
          ))}
        </nav>
        <Button
          size="xs"
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          disabled={perDay === undefined}
          onClick={save}
        >
          Export CSV
        </Button>
      </Group>
      {by === 'day' && perDay !== undefined ? <CostTable costs={perDay} /> : <CostTable costs={costs} />}
    </div>
  )
}

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
    return <Empty command={command}>No model calls in this period. To start an agent, send an event:</Empty>
  return (
    <Stack gap="lg" className="screen-body">
      <Figures total={costs.total} />
      <RunFigures days={days} />
      <DayChart costs={perDay} />
      <Tables days={days} costs={costs} />
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
          <Text className="quiet">Recorded with each model call. Days are in UTC.</Text>
        </div>
        <nav className="chips" aria-label="Period">
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
