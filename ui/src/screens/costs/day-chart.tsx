/** A bar chart of cost per day, or of tokens if nothing was paid. Also shows the numbers as a table. */
import { Table, Title } from '@mantine/core'
import type { CostRow, Costs } from '../../api/documents.ts'
import { dollars, tokens } from './figures.ts'

const DAY_MS = 86_400_000

interface Day {
  readonly day: string
  readonly paid: CostRow | undefined
  readonly simulated: CostRow | undefined
}

const daysOf = ({ from, to, items }: Costs): readonly Day[] => {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
  return Array.from({ length: count }, (_, i) => {
    const day = new Date(Date.parse(from) + i * DAY_MS).toISOString().slice(0, 10)
    const own = items.filter((row) => row.day === day)
    return { day, paid: own.find((row) => !row.simulated), simulated: own.find((row) => row.simulated) }
  })
}

const tokensOf = (row: CostRow | undefined): number => (row === undefined ? 0 : row.input_tokens + row.output_tokens)

const percent = (share: number): string => `${Math.max(share * 100, share > 0 ? 1.5 : 0)}%`

const Numbers = ({ days }: { readonly days: readonly Day[] }) => (
  <details className="quiet">
    <summary>Show as table</summary>
    <Table aria-label="By day" className="rows">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Day</Table.Th>
          <Table.Th ta="right">Cost</Table.Th>
          <Table.Th ta="right">Tokens</Table.Th>
          <Table.Th ta="right">Tokens, simulated</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {days
          .filter(({ paid, simulated }) => paid !== undefined || simulated !== undefined)
          .map(({ day, paid, simulated }) => (
            <Table.Tr key={day}>
              <Table.Td>{day}</Table.Td>
              <Table.Td ta="right">{paid === undefined ? '' : dollars(paid.cost_usd)}</Table.Td>
              <Table.Td ta="right">{tokens(tokensOf(paid))}</Table.Td>
              <Table.Td ta="right">{tokens(tokensOf(simulated))}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  </details>
)

export const DayChart = ({ costs }: { readonly costs: Costs }) => {
  const days = daysOf(costs)
  const isMoney = (costs.total.cost_usd ?? 0) > 0
  const paidOf = ({ paid }: Day): number => (isMoney ? (paid?.cost_usd ?? 0) : tokensOf(paid))
  const playedOf = ({ simulated }: Day): number => (isMoney ? 0 : tokensOf(simulated))
  const most = Math.max(...days.map((day) => paidOf(day) + playedOf(day)), 1e-9)
  const shown = isMoney ? dollars(most) : `${tokens(most)} tokens`
  return (
    <section className="panel" aria-labelledby="by-day">
      <div className="chart-head">
        <Title order={2} size="h3" id="by-day">
          {isMoney ? 'Cost per day' : 'Tokens per day'}
        </Title>
        <span className="quiet">Highest day: {shown}</span>
      </div>
      <div className="chart" aria-hidden>
        {days.map((day) => (
          <div
            key={day.day}
            className="chart-day"
            title={`${day.day}: ${isMoney ? dollars(paidOf(day)) : tokens(paidOf(day) + playedOf(day))}`}
          >
            <span className="chart-bar simulated" style={{ height: percent(playedOf(day) / most) }} />
            <span className="chart-bar" style={{ height: percent(paidOf(day) / most) }} />
          </div>
        ))}
      </div>
      <div className="chart-axis quiet" aria-hidden>
        <span>{costs.from}</span>
        {!isMoney && (
          <span className="chart-legend">
            <span className="chart-key" /> paid <span className="chart-key simulated" /> simulated
          </span>
        )}
        <span>{costs.to}</span>
      </div>
      <Numbers days={days} />
    </section>
  )
}
