/** The graph of the running system on the wire: its nodes with what they have to do now and what lint found about each. */
import { type Graph, nodeOfFinding } from '../manifest/graph.ts'
import { mermaidOf } from '../manifest/mermaid.ts'
import type { System } from '../manifest/system.ts'
import { graphOfSystem } from '../manifest/system-graph.ts'
import type { Finding } from '../manifest/yaml/finding.ts'
import type { RunStatus } from '../model/status.ts'
import type { Graph as GraphDocument, GraphNode } from './api.ts'

type GraphCounts = NonNullable<GraphNode['counts']>

/** Queued ones wait, too: for a worker. */
const WAITING: readonly RunStatus[] = ['queued', 'waiting', 'paused']
const RUNNING: readonly RunStatus[] = ['running', 'cancelling']
const FAILED: readonly RunStatus[] = ['failed', 'expired', 'quarantined']

const sum = (counts: ReadonlyMap<RunStatus, number>, statuses: readonly RunStatus[]): number =>
  statuses.reduce((total, status) => total + (counts.get(status) ?? 0), 0)

export const countsOf = (counts: ReadonlyMap<RunStatus, number>): GraphCounts => ({
  running: sum(counts, RUNNING),
  waiting: sum(counts, WAITING),
  failed: sum(counts, FAILED),
})

const withCodes = (graph: Graph, byNode: ReadonlyMap<string, readonly Finding[]>): Graph => ({
  ...graph,
  nodes: graph.nodes.map((node) => ({ ...node, findings: (byNode.get(node.id) ?? []).map(({ code }) => code) })),
})

export const graphDocument = (system: System, counts: ReadonlyMap<string, GraphCounts>): GraphDocument => {
  const graph = graphOfSystem(system)
  const byNode = new Map<string, Finding[]>()
  for (const finding of system.findings) {
    const id = nodeOfFinding(finding, system.events.keys())
    byNode.set(id, [...(byNode.get(id) ?? []), finding])
  }
  return {
    name: system.name,
    hash: system.hash,
    nodes: graph.nodes.map((node) => ({
      ...node,
      counts: node.modality === null ? null : (counts.get(node.name) ?? { running: 0, waiting: 0, failed: 0 }),
      findings: byNode.get(node.id) ?? [],
    })),
    edges: graph.edges,
    findings: system.findings,
    mermaid: mermaidOf(withCodes(graph, byNode)),
  }
}
