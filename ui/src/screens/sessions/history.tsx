/** A session's checkpoints as a tree: the newest on top, forks on a lane of their own beside the checkpoint they began at. */
import { Text } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import type { Checkpoint, SessionDetail } from '../../api/documents.ts'
import { checkpointsQuery } from '../../api/queries.ts'
import { CopyText, shortId } from '../../parts/copy.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { When } from '../../parts/when.tsx'
import { SessionLink } from './sessions.tsx'

const MOST_FORKS = 30

/** Forks by the checkpoint they began at: the first thing that each of them knows. */
const useForks = ({ forks }: SessionDetail): ReadonlyMap<string, readonly string[]> => {
  const shown = forks.slice(0, MOST_FORKS)
  const births = useQueries({ queries: shown.map(({ id }) => checkpointsQuery(id)) })
  const places = new Map<string, string[]>()
  for (const [i, { id }] of shown.entries()) {
    const at = births[i]?.data?.items[0]?.id
    if (at != null) places.set(at, [...(places.get(at) ?? []), id])
  }
  return places
}

const WORDS = { created: 'began', checkpoint: 'checkpoint', ended: 'ended' } as const

const changed = (count: number): string =>
  count === 0 ? 'no change' : `${count} ${count === 1 ? 'change' : 'changes'} of memory`

const Mark = ({ mark, isHead }: { readonly mark: Checkpoint; readonly isHead: boolean }) => (
  <li className="mark" data-kind={mark.kind}>
    <span className="mark-dot" aria-hidden />
    <div>
      <Text size="sm">
        <strong>{WORDS[mark.kind]}</strong>
        {mark.mode !== null && <span className="quiet"> {mark.mode}</span>}
        {isHead && <span className="tag">head</span>}
      </Text>
      <Text size="xs" className="quiet">
        {mark.id !== null && (
          <>
            <span className="id">{shortId(mark.id)}</span> <CopyText text={mark.id} label="Copy the checkpoint's id" />
          </>
        )}
        <When at={mark.at} />
        {mark.kind === 'checkpoint' && ` · ${changed(mark.changes)}`}
      </Text>
    </div>
  </li>
)

export const History = ({ session }: { readonly session: SessionDetail }) => {
  const { data, error, refetch } = useQuery(checkpointsQuery(session.id))
  const forks = useForks(session)
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return (
    <ol className="marks" aria-label="Checkpoints" reversed>
      {[...data.items].reverse().map((mark) => [
        ...(mark.kind === 'checkpoint' && mark.id !== null ? (forks.get(mark.id) ?? []) : []).map((fork) => (
          <li key={fork} className="mark fork">
            <span className="mark-dot" aria-hidden />
            <Text size="sm">
              fork <SessionLink id={fork} />
            </Text>
          </li>
        )),
        <Mark key={mark.seq} mark={mark} isHead={mark.kind === 'checkpoint' && mark.id === session.head} />,
      ])}
    </ol>
  )
}
