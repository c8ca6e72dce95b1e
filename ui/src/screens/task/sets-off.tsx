/** What an action triggers: the event it sends and the handlers that this event starts. */
import { useQuery } from '@tanstack/react-query'
import type { ManifestGraph, TaskAction } from '../../api/documents.ts'
import { graphQuery } from '../../api/queries.ts'
import { lookOf } from '../../parts/modalities.ts'

type Node = ManifestGraph['nodes'][number]

const takersOf = (graph: ManifestGraph | undefined, event: string): readonly Node[] => {
  const from = graph?.nodes.find(({ kind, name }) => kind === 'event' && name === event)?.id
  const to = new Set(graph?.edges.filter((edge) => edge.kind === 'hears' && edge.from === from).map((edge) => edge.to))
  return graph?.nodes.filter(({ id }) => to.has(id)) ?? []
}

const Taker = ({ kind, name }: Node) => {
  const { icon: Icon, word } = lookOf(kind)
  return (
    <span className="hand" data-kind={kind}>
      <Icon size={14} aria-hidden />
      {name} ({word})
    </span>
  )
}

/** `approved` is the number of approved items. Null: the task has no items. */
export const SetsOff = ({ action, approved }: { readonly action: TaskAction; readonly approved: number | null }) => {
  const { data: graph } = useQuery(graphQuery)
  if (!action.is_terminal) return <p className="sets-off">The task stays open.</p>
  if (action.emits === null) return <p className="sets-off">The run continues with this answer.</p>
  const takers = takersOf(graph, action.emits)
  return (
    <p className="sets-off">
      Sends <code>{action.emits}</code>
      {approved !== null && ` with ${approved === 1 ? '1 approved item' : `${approved} approved items`}`}
      {takers.length === 0 ? ', which starts nothing.' : ', which starts '}
      {takers.map((node) => (
        <Taker key={node.id} {...node} />
      ))}
    </p>
  )
}
