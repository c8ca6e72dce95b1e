/** The panel of the chosen node: its runs, findings and neighbours. */
import { CloseButton, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { GraphNode, ManifestFinding, ManifestGraph } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { lookOf } from '../../parts/modalities.ts'
import { downstream, upstream } from './lines.ts'
import { nameOf } from './list.tsx'
import { Counts } from './looks.tsx'

const route = getRouteApi('/graph')

export const FindingLine = ({ finding }: { readonly finding: ManifestFinding }) => (
  <div className="finding" data-level={finding.level}>
    <Text size="sm">
      <strong>{finding.level}</strong> {finding.message}
    </Text>
    <Text size="xs" className="quiet">
      <span className="id" title={finding.file}>
        {finding.file.slice(finding.file.lastIndexOf('/') + 1)}:{finding.line}:{finding.column}
      </span>{' '}
      {finding.code}
    </Text>
    <Text size="xs" className="quiet">
      {finding.hint}
    </Text>
  </div>
)

const Neighbours = ({ title, ids }: { readonly title: string; readonly ids: ReadonlySet<string> }) => (
  <div>
    <Text size="xs" className="quiet">
      {title} ({ids.size})
    </Text>
    <ul className="plain-list">
      {[...ids].map((id) => (
        <li key={id}>
          <Link to="/graph" search={{ node: id }}>
            {nameOf(id)}
          </Link>{' '}
          <span className="quiet">{lookOf(id.slice(0, id.indexOf(':'))).word}</span>
        </li>
      ))}
    </ul>
  </div>
)

const LookAt = ({ node }: { readonly node: GraphNode }) => {
  const maySend = useMay('operator')
  if (node.kind === 'event')
    return (
      <Group gap="md">
        <Link to="/events" search={{ type: node.name }}>
          Show events
        </Link>
        {maySend && (
          <Link to="/events" search={{ send: node.name }}>
            Send event
          </Link>
        )}
      </Group>
    )
  if (node.kind === 'schedule')
    return (
      <Link to="/schedules" search={{ name: node.name }}>
        Show schedule
      </Link>
    )
  if (node.counts === null) return null
  return (
    <Link to="/runs" search={{ handler: node.name }}>
      Show runs
    </Link>
  )
}

const SIDES = [
  { value: 'both', label: 'Both' },
  { value: 'up', label: 'Upstream' },
  { value: 'down', label: 'Downstream' },
]

const Focus = ({ node }: { readonly node: GraphNode }) => {
  const { line = 'both' } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <SegmentedControl
      size="xs"
      aria-label="Focus"
      data={SIDES}
      value={line}
      onChange={(next) => void navigate({ search: { node: node.id, line: next === 'both' ? undefined : next } })}
    />
  )
}

export const NodePanel = ({
  graph,
  node,
  close,
}: {
  readonly graph: ManifestGraph
  readonly node: GraphNode
  readonly close: () => void
}) => {
  const { icon: Icon, word } = lookOf(node.kind)
  return (
    <aside className="graph-panel" aria-label={node.name}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <div>
            <span className="hand" data-kind={node.kind}>
              <Icon size={15} aria-hidden />
              {word}
            </span>
            <Title order={2} size="h4" className="breaks">
              {node.name}
            </Title>
          </div>
          <CloseButton aria-label="Close" onClick={close} />
        </Group>
        <Counts node={node} />
        {node.isolation !== null && (
          <span className="quiet">{node.isolation === 'process' ? 'Runs in its own process' : 'Not isolated'}</span>
        )}
        <LookAt node={node} />
        <Focus node={node} />
        {node.findings.map((finding) => (
          <FindingLine key={`${finding.code} ${finding.line} ${finding.column}`} finding={finding} />
        ))}
        <Neighbours title="Upstream" ids={upstream(graph.edges, node.id)} />
        <Neighbours title="Downstream" ids={downstream(graph.edges, node.id)} />
      </Stack>
    </aside>
  )
}
