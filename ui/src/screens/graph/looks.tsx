/** Short texts for a graph node: its runs by status, and its findings. */
import type { GraphNode, ManifestFinding } from '../../api/documents.ts'

type NodeCounts = NonNullable<GraphNode['counts']>

/** A count with its status: `3 running`. Above a limit the server only says “at least”: `1000+ running`. */
export const countText = (counts: NodeCounts, word: NodeCounts['more'][number]): string =>
  `${counts[word]}${counts.more.includes(word) ? '+' : ''} ${word}`

/** Code and place of a finding: `LINT_X manifest.yaml:12`. */
export const placeOf = ({ code, file, line }: ManifestFinding): string =>
  `${code} ${file.slice(file.lastIndexOf('/') + 1)}:${line}`

/** The runs of a node by status. Hides zero counts. */
export const Counts = ({ node }: { readonly node: GraphNode }) => {
  if (node.counts === null) return null
  const { waiting, running, failed } = node.counts
  return (
    <span className="graph-counts">
      {running > 0 && <span data-tone="work">{countText(node.counts, 'running')}</span>}
      {waiting > 0 && <span data-tone="wait">{countText(node.counts, 'waiting')}</span>}
      {failed > 0 && <span data-tone="bad">{countText(node.counts, 'failed')}</span>}
    </span>
  )
}
