/** An example command for empty screens: sends an event that starts a handler and that no handler sends itself. */
import { useQuery } from '@tanstack/react-query'
import { graphQuery } from '../api/queries.ts'

export const useFirstCommand = (): string => {
  const { data: graph } = useQuery(graphQuery)
  const heard = new Set(graph?.edges.filter(({ kind }) => kind === 'hears').map(({ from }) => from))
  const sent = new Set(graph?.edges.filter(({ kind }) => kind === 'sends').map(({ to }) => to))
  const first = graph?.nodes.find(({ id, kind }) => kind === 'event' && heard.has(id) && !sent.has(id))
  return `npx trihand send ${first?.name ?? '<event>'} '{}'`
}
