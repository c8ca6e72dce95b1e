/** A text of the server in which the ids of runs, tasks and sessions are links. The rest stays plain text. */
import { Link } from '@tanstack/react-router'
import { shortId } from './copy.tsx'

const ID = /\b((?:run|tsk|ses)_[0-9a-f]{32})\b/

const IdLink = ({ id }: { readonly id: string }) => {
  const words = <span className="id">{shortId(id)}</span>
  if (id.startsWith('run_'))
    return (
      <Link to="/runs/$id" params={{ id }} title={id}>
        {words}
      </Link>
    )
  if (id.startsWith('ses_'))
    return (
      <Link to="/sessions/$id" params={{ id }} title={id}>
        {words}
      </Link>
    )
  return (
    <Link to="/inbox" search={{ view: 'open', task: id }} title={id}>
      {words}
    </Link>
  )
}

export const Linked = ({ text }: { readonly text: string }) => {
  // Splitting by a capture group puts its matches at the odd indexes.
  const parts = text.split(ID)
  return parts.map((part, i) => {
    if (i % 2 === 0) return part
    // biome-ignore lint/suspicious/noArrayIndexKey: an id may occur twice in a text, and the text does not change
    return <IdLink key={i} id={part} />
  })
}
