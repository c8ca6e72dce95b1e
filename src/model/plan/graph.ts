/**
 * The order of a plan's steps, by their places in the list.
 *
 * Built once for each list of steps: a plan is entered again for each step that ends, and the graph does not change.
 */
import type { PlanNode } from './plan.ts'

export interface PlanGraph {
  /** How many steps each step waits for. */
  readonly waitsFor: readonly number[]
  /** The places of the steps that wait for each step. */
  readonly behind: readonly (readonly number[])[]
}

const graphs = new WeakMap<readonly PlanNode[], PlanGraph>()

const newGraph = (nodes: readonly PlanNode[]): PlanGraph => {
  const places = new Map(nodes.map(({ id }, at) => [id, at]))
  const behind = nodes.map((): number[] => [])
  for (const [at, { requires }] of nodes.entries()) for (const id of requires) behind[places.get(id) ?? at]?.push(at)
  return { waitsFor: nodes.map(({ requires }) => requires.length), behind }
}

export const graphOf = (nodes: readonly PlanNode[]): PlanGraph => {
  const known = graphs.get(nodes)
  if (known !== undefined) return known
  const graph = newGraph(nodes)
  graphs.set(nodes, graph)
  return graph
}
