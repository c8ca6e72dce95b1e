/** A table of costs: newest day first, then most expensive first. */
import { Table } from '@mantine/core'
import type { CostRow, Costs } from '../../api/documents.ts'
import { callsOf, costOf, tokens } from './figures.ts'

const Row = ({ row, hasDays }: { readonly row: CostRow; readonly hasDays: boolean }) => (
  <Table.Tr>
    {hasDays && <Table.Td className="whole">{row.day}</Table.Td>}
    <Table.Td>{row.agent}</Table.Td>
    <Table.Td>
      {row.model} {row.simulated && <span className="tag">simulated</span>}
    </Table.Td>
    <Table.Td ta="right">{callsOf(row)}</Table.Td>
    <Table.Td ta="right">{tokens(row.input_tokens)}</Table.Td>
    <Table.Td ta="right">{tokens(row.output_tokens)}</Table.Td>
    <Table.Td ta="right">{costOf(row)}</Table.Td>
    <Table.Td ta="right">{row.unpriced_calls === 0 ? '' : tokens(row.unpriced_calls)}</Table.Td>
  </Table.Tr>
)

const inOrder = (a: CostRow, b: CostRow): number =>
  (b.day ?? '').localeCompare(a.day ?? '') || (b.cost_usd ?? 0) - (a.cost_usd ?? 0) || b.input_tokens - a.input_tokens

export const CostTable = ({ costs }: { readonly costs: Costs }) => {
  const hasDays = costs.by.includes('day')
  return (
    <Table aria-label={hasDays ? 'By day, agent and model' : 'By agent and model'} className="rows" highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          {hasDays && <Table.Th>Day</Table.Th>}
          <Table.Th>Agent</Table.Th>
          <Table.Th>Model</Table.Th>
          <Table.Th ta="right">Calls</Table.Th>
          <Table.Th ta="right">Tokens in</Table.Th>
          <Table.Th ta="right">Tokens out</Table.Th>
          <Table.Th ta="right">Cost</Table.Th>
          <Table.Th ta="right">Unpriced</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {[...costs.items].sort(inOrder).map((row) => (
          <Row key={`${row.day} ${row.agent} ${row.model} ${row.simulated}`} row={row} hasDays={hasDays} />
        ))}
      </Table.Tbody>
    </Table>
  )
}
