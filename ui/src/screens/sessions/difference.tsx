/** The memory difference between two chosen checkpoints: key, before, after. */
import { Group, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { SessionDifference } from '../../api/documents.ts'
import { differenceQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { StateTree } from './state-tree.tsx'

const route = getRouteApi('/sessions/$id')
const KILO = 1024

type Side = SessionDifference['items'][number]['before']

const Value = ({ side }: { readonly side: Side }) => {
  if (side === null) return <span className="quiet">–</span>
  if (side.bytes !== null) return <span className="quiet">{Math.round(side.bytes / KILO)} kB, too large to show</span>
  return <StateTree value={side.value} />
}

const Rows = ({ difference }: { readonly difference: SessionDifference }) => (
  <Table aria-label="Differences" className="rows" verticalSpacing={6}>
    <Table.Thead>
      <Table.Tr>
        <Table.Th w="10rem">Key</Table.Th>
        <Table.Th>{shortId(difference.a)}</Table.Th>
        <Table.Th>{shortId(difference.b)}</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {difference.items.map(({ key, before, after }) => (
        <Table.Tr key={key}>
          <Table.Td valign="top" className="breaks">
            {key}
          </Table.Td>
          <Table.Td valign="top">
            <Value side={before} />
          </Table.Td>
          <Table.Td valign="top">
            <Value side={after} />
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
)

const Compared = ({ id, a, b }: { readonly id: string; readonly a: string; readonly b: string }) => {
  const { data, error, refetch } = useQuery(differenceQuery(id, a, b))
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <Text className="quiet">No differences</Text>
  return <Rows difference={data} />
}

export const Difference = ({ id }: { readonly id: string }) => {
  const { a, b } = route.useSearch()
  if (a === undefined) return null
  return (
    <section className="panel" aria-labelledby="difference">
      <Group justify="space-between">
        <Title order={2} size="h3" id="difference">
          Difference
        </Title>
        <Link to="/sessions/$id" params={{ id }} search={{}}>
          Close
        </Link>
      </Group>
      {b === undefined ? (
        <Text className="quiet">Choose another checkpoint to compare with {shortId(a)}.</Text>
      ) : (
        <Compared id={id} a={a} b={b} />
      )}
    </section>
  )
}
