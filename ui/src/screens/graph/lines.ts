/** Finds the nodes upstream and downstream of a graph node. Pure. */
import type { GraphEdge } from '../../api/documents.ts'

const follow = (edges: readonly GraphEdge[], start: string, next: (edge: GraphEdge) => readonly [string, string]) => {
  const found = new Set<string>()
  const open = [start]
  for (const at of open)
    for (const edge of edges) {
      const [from, to] = next(edge)
      if (from !== at || found.has(to) || to === start) continue
      found.add(to)
      open.push(to)
    }
  return found
}

/** All nodes from which a path leads to this one. */
export const upstream = (edges: readonly GraphEdge[], node: string): ReadonlySet<string> =>
  follow(edges, node, ({ from, to }) => [to, from])

/** All nodes that this one leads to. */
export const downstream = (edges: readonly GraphEdge[], node: string): ReadonlySet<string> =>
  follow(edges, node, ({ from, to }) => [from, to])

/** The node with all nodes upstream and downstream, or on one side only (`up`, `down`). */
export const neighbourhood = (edges: readonly GraphEdge[], node: string, side?: string): ReadonlySet<string> =>
  new Set([node, ...(side === 'down' ? [] : upstream(edges, node)), ...(side === 'up' ? [] : downstream(edges, node))])
