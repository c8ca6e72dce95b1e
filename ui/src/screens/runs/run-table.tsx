/** A table of runs. The keys move between the links of the rows. Selectable rows have a checkbox. */
import { Checkbox, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Run } from '../../api/documents.ts'
import { graphQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { lookOf } from '../../parts/modalities.ts'
import { Status } from '../../parts/status.tsx'
import { When } from '../../parts/when.tsx'
import type { Selection } from './use-selection.ts'

/** The kind of each handler: agent, human or function. */
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

const RowBox = ({ id, selection }: { readonly id: string; readonly selection: Selection }) => (
  <Table.Td className="box">
    <Checkbox
      size="xs"
      aria-label={`Select ${shortId(id)}`}
      checked={selection.ids.has(id)}
      onChange={({ nativeEvent }) => selection.toggle(id, (nativeEvent as MouseEvent).shiftKey === true)}
    />
  </Table.Td>
)

const AllBox = ({ count, selection }: { readonly count: number; readonly selection: Selection }) => (
  <Table.Th className="box">
    <Checkbox
      size="xs"
      aria-label="Select all shown"
      checked={selection.ids.size === count}
      indeterminate={selection.ids.size > 0 && selection.ids.size < count}
      onChange={(e) => selection.all(e.currentTarget.checked)}
    />
  </Table.Th>
)

export const RunTable = ({
  runs,
  label,
  selection,
}: {
  readonly runs: readonly Run[]
  readonly label: string
  /** Default: rows are not selectable. */
  readonly selection?: Selection
}) => {
  const kinds = useKinds()
  return (
    <Table highlightOnHover aria-label={label} className="rows">
      <Table.Thead>
        <Table.Tr>
          {selection !== undefined && <AllBox count={runs.length} selection={selection} />}
          <Table.Th>Run</Table.Th>
          <Table.Th>Handler</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th>Resumes</Table.Th>
          <Table.Th>Started</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {runs.map((run) => (
          <Table.Tr key={run.id} data-chosen={selection?.ids.has(run.id)}>
            {selection !== undefined && <RowBox id={run.id} selection={selection} />}
            <Table.Td>
              <Link to="/runs/$id" params={{ id: run.id }} data-row data-id={run.id} className="id">
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
