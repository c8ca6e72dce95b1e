/** What a node has to do now. */
import type { GraphNode } from '../../api/documents.ts'

/** How many runs it has now, by what they do. Nothing where nothing is. */
export const Counts = ({ node }: { readonly node: GraphNode }) => {
  if (node.counts === null) return null
  const { waiting, running, failed } = node.counts
  return (
    <span className="graph-counts">
      {running > 0 && <span data-tone="work">{running} running</span>}
      {waiting > 0 && <span data-tone="wait">{waiting} waiting</span>}
      {failed > 0 && <span data-tone="bad">{failed} failed</span>}
    </span>
  )
}
