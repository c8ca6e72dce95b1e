/** The graph as a table: each node, what it comes from and what it leads to. */
import { Table } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { GraphEdge, GraphNode, ManifestGraph } from '../../api/documents.ts'
import { lookOf } from '../../parts/modalities.ts'
import { Counts, placeOf } from './looks.tsx'

/** The name without the kind: `event:lead.matched` becomes `lead.matched`. */
export const nameOf = (id: string): string => id.slice(id.indexOf(':') + 1)

const ORDER = ['agent', 'human', 'function', 'plan', 'event', 'schedule', 'webhook', 'state']

const namesOf = (edges: readonly GraphEdge[], side: 'from' | 'to', other: 'from' | 'to', id: string): string =>
  [...new Set(edges.filter((edge) => edge[side] === id).map((edge) => nameOf(edge[other])))].join(', ')

const Row = ({ node, edges }: { readonly node: GraphNode; readonly edges: readonly GraphEdge[] }) => {
  const { icon: Icon, word } = lookOf(node.kind)
  return (
    <Table.Tr>
      <Table.Td>
        <span className="hand" data-kind={node.kind}>
          <Icon size={15} aria-hidden />
          {word}
        </span>
      </Table.Td>
      <Table.Td>
        <Link to="/graph" search={{ node: node.id }} data-row>
          {node.name}
        </Link>
      </Table.Td>
      <Table.Td>{namesOf(edges, 'to', 'from', node.id)}</Table.Td>
      <Table.Td>{namesOf(edges, 'from', 'to', node.id)}</Table.Td>
      <Table.Td>
        <Counts node={node} />
      </Table.Td>
      <Table.Td>{node.findings.map(placeOf).join(', ')}</Table.Td>
    </Table.Tr>
  )
}

export const NodeTable = ({ graph: { nodes, edges } }: { readonly graph: ManifestGraph }) => (
  <Table aria-label="Parts of the system" className="rows" highlightOnHover>
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Kind</Table.Th>
        <Table.Th>Name</Table.Th>
        <Table.Th>Comes from</Table.Th>
        <Table.Th>Leads to</Table.Th>
        <Table.Th>Now</Table.Th>
        <Table.Th>Findings</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {[...nodes]
        .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
        .map((node) => (
          <Row key={node.id} node={node} edges={edges} />
        ))}
    </Table.Tbody>
  </Table>
)
