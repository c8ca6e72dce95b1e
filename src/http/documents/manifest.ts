/** Schemas of the running system on the wire. */
import {
  anything,
  closed,
  described,
  instant,
  list,
  orNull,
  record,
  ref,
  text,
  whole,
  words,
  yesNo,
} from '#http/openapi/schema.ts'

export const VALIDATE = closed({ text: described('the manifest, in YAML', text) }, { file: text })
export const validated = record({ is_valid: yesNo, findings: list(ref('Finding')) })

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
  System: record({
    name: text,
    hash: described('pins each run to the definition it was started under', text),
    events: list(text),
    handlers: list(
      record({
        name: text,
        modality: words(['agent', 'human', 'workflow']),
        input_schema: described('null: it takes anything, or its schema cannot be written as JSON Schema', anything),
      }),
    ),
    findings: list(ref('Finding')),
  }),
  ManifestVersion: record({
    hash: text,
    name: described('null: known only by the runs that are pinned to it', orNull(text)),
    is_current: described('new runs follow it', yesNo),
    first_seen_at: described('when a process first loaded it; null: not recorded', orNull(instant)),
    open_runs: described('runs that may still go on', whole),
    more: described('there are at least so many', yesNo),
  }),
  GraphNode: record({
    id: text,
    kind: words(['event', 'agent', 'function', 'human', 'plan', 'schedule', 'webhook', 'state']),
    name: text,
    modality: orNull(words(['agent', 'human', 'workflow'])),
    counts: described(
      'its runs now; null for what is no handler',
      orNull(
        record({
          running: whole,
          waiting: whole,
          failed: whole,
          more: described('of these there are at least so many', list(words(['running', 'waiting', 'failed']))),
        }),
      ),
    ),
    isolation: described(
      'whether the code of a function of a module runs in a process of its own; null: it is in no module',
      orNull(words(['process', 'none'])),
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
