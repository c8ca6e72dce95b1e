/** The running system as the wire spells it, described. */
import { described, list, orNull, record, ref, text, whole, words } from '../schema.ts'

export const manifestComponents = {
  Finding: record({
    level: words(['error', 'warning', 'info']),
    code: text,
    message: text,
    file: text,
    line: whole,
    column: whole,
    path: described('dotted, with the names of things', text),
    hint: text,
  }),
  GraphNode: record({
    id: text,
    kind: words(['event', 'agent', 'function', 'human', 'plan', 'schedule', 'webhook', 'state']),
    name: text,
    modality: orNull(words(['agent', 'human', 'workflow'])),
    counts: described(
      'its runs now; null for what is no handler',
      orNull(record({ running: whole, waiting: whole, failed: whole })),
    ),
    findings: list(ref('Finding')),
  }),
  GraphEdge: record({ from: text, to: text, kind: words(['hears', 'sends', 'starts', 'moves']), label: text }),
  Graph: record({
    name: text,
    hash: text,
    nodes: list(ref('GraphNode')),
    edges: list(ref('GraphEdge')),
    findings: list(ref('Finding')),
    mermaid: described('the same graph as Mermaid text', text),
  }),
}
