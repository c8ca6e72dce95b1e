/** The graph as a picture. Each kind of handler has its shape; events are pills. Nodes that are not connected to the chosen one are faded. */
import '@xyflow/react/dist/style.css'
import { useComputedColorScheme } from '@mantine/core'
import {
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  getSmoothStepPath,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react'
import { TriangleAlert } from 'lucide-react'
import { useMemo } from 'react'
import type { GraphNode, ManifestGraph } from '../../api/documents.ts'
import { lookOf } from '../../parts/modalities.ts'
import { type Place, placesOf } from './layout.ts'
import { neighbourhood } from './lines.ts'
import { Counts, countText, placeOf } from './looks.tsx'

type Drawn = Node<{ readonly node: GraphNode; readonly isFaded: boolean }>

const Shape = ({ data: { node, isFaded }, selected = false }: NodeProps<Drawn>) => {
  const { icon: Icon, word } = lookOf(node.kind)
  const warnings = node.findings.filter(({ level }) => level !== 'info')
  return (
    <div className="graph-node" data-kind={node.kind} data-faded={isFaded} data-selected={selected}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="graph-title">
        <Icon size={15} aria-hidden />
        <span className="graph-name" title={node.name}>
          {node.name}
        </span>
        {warnings.length > 0 && (
          <span className="graph-badge" title={warnings.map(placeOf).join(', ')}>
            <TriangleAlert size={13} aria-hidden />
            {warnings.length}
          </span>
        )}
      </span>
      {node.kind !== 'event' && (
        <span className="graph-sub">
          {word}
          <Counts node={node} />
        </span>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
}

type Bent = Edge<{ readonly lane: number }>

/** An edge between two bands. It runs through the free lane between them. */
const Bend = ({ data, id, markerEnd, ...ends }: EdgeProps<Bent>) => {
  const [path, labelX, labelY] = getSmoothStepPath({ ...ends, borderRadius: 10, centerY: data?.lane ?? 0 })
  return <BaseEdge id={id} path={path} labelX={labelX} labelY={labelY} {...(markerEnd && { markerEnd })} />
}

const NODE_TYPES = { shape: Shape }
const EDGE_TYPES = { bend: Bend }
const LANE_STEP = 7
const LANES = 5
const LONGEST_LABEL = 30
const FIT = { padding: 0.06, maxZoom: 1.1 }

const short = (label: string): string =>
  label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label

const WORDS = ['running', 'waiting', 'failed'] as const

const ariaOf = ({ kind, name, counts, findings }: GraphNode): string => {
  const work = counts === null ? '' : `, ${WORDS.map((word) => countText(counts, word)).join(', ')}`
  return `${lookOf(kind).word} ${name}${work}${findings.length === 0 ? '' : `, ${findings.length} findings`}`
}

interface Scene {
  readonly graph: ManifestGraph
  readonly places: ReadonlyMap<string, Place>
  readonly chosen: string | undefined
  /** Nodes connected to the chosen one. Null: no node is chosen. */
  readonly near: ReadonlySet<string> | null
}

const nodesOf = ({ graph, places, chosen, near }: Scene): Drawn[] =>
  graph.nodes.map((node) => {
    const { x = 0, y = 0, width = 0, height = 0 } = places.get(node.id) ?? {}
    return {
      id: node.id,
      type: 'shape',
      position: { x, y },
      width,
      height,
      data: { node, isFaded: near !== null && !near.has(node.id) },
      selected: node.id === chosen,
      ariaLabel: ariaOf(node),
      sourcePosition: Position.Right,
      targetPosition: Position.Left,
    }
  })

/** Spreads the edges within a lane. */
const bendOf = (from: Place | undefined, to: Place | undefined, count: number): object => {
  if (from === undefined || to === undefined || from.band === to.band) return {}
  return { type: 'bend', data: { lane: to.lane + ((count % LANES) - 2) * LANE_STEP } }
}

const edgesOf = ({ graph: { edges }, places, near }: Scene): Edge[] =>
  edges.map(({ from, to, kind, label }, i) => {
    const isFaded = near !== null && !(near.has(from) && near.has(to))
    return {
      id: `${i} ${from} ${to}`,
      source: from,
      target: to,
      ...bendOf(places.get(from), places.get(to), i),
      className: isFaded ? 'graph-edge faded' : 'graph-edge',
      // Labels of all edges would hide the picture, so only highlighted edges have one.
      ...(near !== null && !isFaded && label !== '' ? { label: short(label) } : {}),
      ...(kind === 'moves' ? { style: { strokeDasharray: '5 4' } } : {}),
      markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
      focusable: false,
    }
  })

export const Picture = ({
  graph,
  chosen,
  line,
  choose,
}: {
  readonly graph: ManifestGraph
  readonly chosen: string | undefined
  /** Highlighted side: `up`, `down`, or both. */
  readonly line: string | undefined
  readonly choose: (node: string | undefined) => void
}) => {
  const scheme = useComputedColorScheme()
  // Counts change often; positions depend on nodes and edges only.
  const shape = JSON.stringify([graph.nodes.map(({ id }) => id), graph.edges])
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` is derived from the graph
  const places = useMemo(() => placesOf(graph), [shape])
  const { nodes, edges } = useMemo(() => {
    const near = chosen === undefined ? null : neighbourhood(graph.edges, chosen, line)
    const scene = { graph, places, chosen, near }
    return { nodes: nodesOf(scene), edges: edgesOf(scene) }
  }, [graph, places, chosen, line])
  return (
    <div className="graph-picture">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        colorMode={scheme}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        elementsSelectable
        fitView
        fitViewOptions={FIT}
        minZoom={0.15}
        onNodeClick={(_, { id }) => choose(id === chosen ? undefined : id)}
        onPaneClick={() => choose(undefined)}
        onSelectionChange={({ nodes: [one] }) => {
          if (one !== undefined && one.id !== chosen) choose(one.id)
        }}
      >
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  )
}
