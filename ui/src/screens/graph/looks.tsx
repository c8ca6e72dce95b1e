/** What a node has to do now, and what was found about it, in few words. */
import type { GraphNode, ManifestFinding } from '../../api/documents.ts'

type NodeCounts = NonNullable<GraphNode['counts']>

/** Of very many it is told that there are at least so many. */
export const countText = (counts: NodeCounts, word: NodeCounts['more'][number]): string =>
  `${counts[word]}${counts.more.includes(word) ? '+' : ''} ${word}`

/** Which finding, and where: `LINT_X manifest.yaml:12`. */
export const placeOf = ({ code, file, line }: ManifestFinding): string =>
  `${code} ${file.slice(file.lastIndexOf('/') + 1)}:${line}`

/** How many runs it has now, by what they do. Nothing where nothing is. */
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
