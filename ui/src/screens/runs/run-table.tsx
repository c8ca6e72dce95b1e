/** Runs as rows; the row's link is what the keys move over. */
import { Table } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Run } from '../../api/documents.ts'
import { shortId } from '../../parts/copy.tsx'
import { Status } from '../../parts/status.tsx'
import { When } from '../../parts/when.tsx'

export const RunTable = ({ runs, label }: { readonly runs: readonly Run[]; readonly label: string }) => (
  <Table highlightOnHover aria-label={label} className="rows">
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Run</Table.Th>
        <Table.Th>Handler</Table.Th>
        <Table.Th>Status</Table.Th>
        <Table.Th>Wakes</Table.Th>
        <Table.Th>Began</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {runs.map((run) => (
        <Table.Tr key={run.id}>
          <Table.Td>
            <Link to="/runs/$id" params={{ id: run.id }} data-row className="id">
              {shortId(run.id)}
            </Link>
          </Table.Td>
          <Table.Td>{run.handler}</Table.Td>
          <Table.Td>
            <Status of={run.status} />
          </Table.Td>
          <Table.Td>{run.wake_at === null ? '' : <When at={run.wake_at} />}</Table.Td>
          <Table.Td>
            <When at={run.created_at} />
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
)
