/** What each kind of node looks like: a sign and a word. The hands have the colours they have on the timeline. */
import { Bot, CalendarClock, CircleDot, Cog, ListOrdered, Triangle, User, Webhook, Zap } from 'lucide-react'
import type { GraphNode } from '../../api/documents.ts'

const LOOKS = {
  event: { icon: Zap, word: 'event' },
  agent: { icon: Bot, word: 'agent' },
  human: { icon: User, word: 'human' },
  function: { icon: Cog, word: 'function' },
  plan: { icon: ListOrdered, word: 'plan' },
  schedule: { icon: CalendarClock, word: 'schedule' },
  webhook: { icon: Webhook, word: 'webhook' },
  state: { icon: CircleDot, word: 'state' },
} as const

export const lookOf = (kind: string) => LOOKS[kind as keyof typeof LOOKS] ?? { icon: Triangle, word: kind }

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
