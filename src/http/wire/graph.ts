/** The graph of the running system on the wire: its nodes with counts of their runs and with the lint findings about them. */
import type { Graph as GraphDocument } from '#http/openapi/api.ts'
import { type Graph, nodeOfFinding } from '#manifest/define/graph.ts'
import { mermaidOf } from '#manifest/define/mermaid.ts'
import type { System } from '#manifest/define/system.ts'
import { graphOfSystem } from '#manifest/define/system-graph.ts'
import type { Finding } from '#manifest/yaml/finding.ts'
import type { NewestCounts } from '#model/run/newest-counts.ts'
import { handlerCounts } from './counts.ts'

const withCodes = (graph: Graph, byNode: ReadonlyMap<string, readonly Finding[]>): Graph => ({
  ...graph,
  nodes: graph.nodes.map((node) => ({ ...node, findings: (byNode.get(node.id) ?? []).map(({ code }) => code) })),
})

export const graphDocument = (system: System, counts: NewestCounts): GraphDocument => {
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
      counts: node.modality === null ? null : handlerCounts(counts, node.name),
      findings: byNode.get(node.id) ?? [],
    })),
    edges: graph.edges,
    findings: system.findings,
    mermaid: mermaidOf(withCodes(graph, byNode)),
  }
}
