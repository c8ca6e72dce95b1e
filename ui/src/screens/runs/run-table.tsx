/** Runs as rows; the row's link is what the keys move over. */
import { Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Run } from '../../api/documents.ts'
import { graphQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { lookOf } from '../../parts/hands.ts'
import { Status } from '../../parts/status.tsx'
import { When } from '../../parts/when.tsx'

/** Which hand does it, by what the system says of its handlers now. */
const useKinds = (): ReadonlyMap<string, string> => {
  const { data } = useQuery(graphQuery)
  return useMemo(
    () => new Map(data?.nodes.filter(({ modality }) => modality !== null).map(({ name, kind }) => [name, kind])),
    [data],
  )
}

const HandSign = ({ kind }: { readonly kind: string | undefined }) => {
  if (kind === undefined) return null
  const { icon: Icon, word } = lookOf(kind)
  return (
    <span className="hand-sign" data-kind={kind} title={word}>
      <Icon size={15} aria-label={word} role="img" />
    </span>
  )
}

export const RunTable = ({ runs, label }: { readonly runs: readonly Run[]; readonly label: string }) => {
  const kinds = useKinds()
  return (
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
            <Table.Td>
              <HandSign kind={kinds.get(run.handler)} />
              {run.handler}
            </Table.Td>
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
}
