/** The system as a graph: handlers and events, current load of each, and findings of the manifest check. */
import { Button, Group, Menu, SegmentedControl, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { lazy, Suspense } from 'react'
import type { ManifestGraph } from '../../api/documents.ts'
import { graphQuery } from '../../api/queries.ts'
import { download } from '../../parts/download.ts'
import { ObjectMenu } from '../../parts/object-menu.tsx'
import { say } from '../../parts/say.ts'
import { Empty, Failed, Loading } from '../../parts/state.tsx'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { NodeTable } from './list.tsx'
import { FindingLine, NodePanel } from './panel.tsx'

const route = getRouteApi('/graph')
// Loaded lazily: the drawing library is large, and only this screen uses it.
const Picture = lazy(async () => ({ default: (await import('./picture.tsx')).Picture }))

const Export = ({ graph }: { readonly graph: ManifestGraph }) => {
  const file = graph.name.replaceAll(/[^\w-]+/g, '-')
  // These chunks are already loaded with the drawing.
  const saveSvg = async (): Promise<void> => {
    const [{ placesOf }, { svgOf }] = await Promise.all([import('./layout.ts'), import('./svg.ts')])
    download(`${file}.svg`, 'image/svg+xml', svgOf(graph, placesOf(graph)))
  }
  const copyMermaid = async (): Promise<void> => {
    await navigator.clipboard.writeText(graph.mermaid)
    say('teal', 'Copied', 'The graph as Mermaid text.')
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<Download size={14} aria-hidden />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void saveSvg()}>Save as SVG</Menu.Item>
        <Menu.Item onClick={() => download(`${file}.mmd`, 'text/plain', graph.mermaid)}>Save as Mermaid</Menu.Item>
        <Menu.Item onClick={() => void copyMermaid()}>Copy as Mermaid</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const Head = ({ graph }: { readonly graph: ManifestGraph }) => {
  const { view = 'picture' } = route.useSearch()
  const navigate = route.useNavigate()
  const hands = graph.nodes.filter(({ modality }) => modality !== null).length
  const events = graph.nodes.filter(({ kind }) => kind === 'event').length
  return (
    <Group justify="space-between" className="head">
      <div>
        <Title order={1} size="h2">
          Graph
        </Title>
        <Text className="quiet">
          {graph.name}: {hands} handlers, {events} events
        </Text>
      </div>
      <Group gap="sm">
        <SegmentedControl
          size="xs"
          aria-label="View"
          value={view}
          data={[
            { value: 'picture', label: 'Picture' },
            { value: 'list', label: 'List' },
          ]}
          onChange={(next) => void navigate({ search: next === 'list' ? { view: next } : {} })}
        />
        <Export graph={graph} />
        <ObjectMenu what="graph" id={graph.hash} path="/api/manifest/graph" cli="manifest graph" />
      </Group>
    </Group>
  )
}

const Body = ({ graph }: { readonly graph: ManifestGraph }) => {
  const { view, node: chosen, line } = route.useSearch()
  const navigate = route.useNavigate()
  const node = graph.nodes.find(({ id }) => id === chosen)
  if (view === 'list') return <NodeTable graph={graph} />
  return (
    <div className="graph" data-panel={node !== undefined}>
      <Suspense fallback={<Loading />}>
        <Picture
          graph={graph}
          chosen={chosen}
          line={line}
          choose={(next) => void navigate({ search: next === undefined ? {} : { node: next } })}
        />
      </Suspense>
      {node !== undefined && <NodePanel graph={graph} node={node} close={() => void navigate({ search: {} })} />}
    </div>
  )
}

const Findings = ({ graph }: { readonly graph: ManifestGraph }) =>
  graph.findings.length === 0 ? null : (
    <details className="graph-findings">
      <summary>
        {graph.findings.length} {graph.findings.length === 1 ? 'finding' : 'findings'} in the manifest
      </summary>
      {graph.findings.map((finding) => (
        <FindingLine key={`${finding.code} ${finding.line} ${finding.column}`} finding={finding} />
      ))}
    </details>
  )

export const Graph = () => {
  useRowKeys()
  const { data: graph, error, refetch } = useQuery(graphQuery)
  if (graph === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return (
    <div className="graph-screen">
      <Head graph={graph} />
      <Findings graph={graph} />
      {graph.nodes.length === 0 ? (
        <Empty command="npx trihand manifest validate">This system is empty. Check the manifest:</Empty>
      ) : (
        <Body graph={graph} />
      )}
    </div>
  )
}
