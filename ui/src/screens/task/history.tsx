/** The history of a task or of one item: views, reminders, reassignments, votes. */
import { useQuery } from '@tanstack/react-query'
import { taskHistoryQuery } from '../../api/queries.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { When } from '../../parts/when.tsx'

export const History = ({ task, item }: { readonly task: string; readonly item?: string }) => {
  const { data, error, refetch } = useQuery(taskHistoryQuery(task))
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  const told = data.items.filter(({ items }) => item === undefined || items.includes(item))
  if (told.length === 0) return <p className="quiet">No changes yet.</p>
  return (
    <ol className="history" aria-label="History">
      {told.map(({ at, what, by, text }) => (
        <li key={`${at} ${what} ${by}`}>
          <span>
            {by !== null && <strong>{by} </strong>}
            {text}
          </span>
          <span className="quiet">
            <When at={at} />
          </span>
        </li>
      ))}
    </ol>
  )
}
