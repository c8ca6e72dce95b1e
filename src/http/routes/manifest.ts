/**
 * The running system over HTTP: its graph, with what each handler has to do now.
 *
 * Owns the question; what a graph is, is the manifest's (system-graph.ts).
 */
import { LOCAL_TENANT } from '../../model/ids.ts'
import { ref } from '../schema.ts'
import { countsOf, graphDocument } from '../wire-graph.ts'
import { type Handle, json, type Operation } from './route.ts'

const graph: Handle = async ({ system, reader }, context) => {
  const counted = [...system.functions.keys()].map(
    async (name) => [name, countsOf(await reader.counts(LOCAL_TENANT, name))] as const,
  )
  return context.json(graphDocument(system, new Map(await Promise.all(counted))))
}

export const manifestRoutes: readonly Operation[] = [
  {
    id: 'getGraph',
    method: 'get',
    path: '/api/manifest/graph',
    access: 'viewer',
    summary: 'The running system as a graph: who hears and sends what, what each has to do now',
    answers: { 200: json(ref('Graph')) },
    handle: graph,
  },
]
