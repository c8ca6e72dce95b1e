/** The checkpoints of a session as a git graph: newest on top, one lane per fork. Any two can be compared. */
import { Button, Text } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { Checkpoint, SessionDetail } from '../../api/documents.ts'
import { checkpointsQuery } from '../../api/queries.ts'
import { CopyText, shortId } from '../../parts/copy.tsx'
import { Failed, Loading } from '../../parts/state.tsx'
import { When } from '../../parts/when.tsx'
import { type Branch, type LaneLine, type LaneRow, type Lanes, lanesOf, modesOf } from './lanes.ts'
import { SessionLink } from './sessions.tsx'

const route = getRouteApi('/sessions/$id')
const MOST_FORKS = 30
const ROW = 52
const LANE = 18
const DOT = 6

const WORDS = { created: 'started', checkpoint: 'checkpoint', ended: 'ended' } as const

const useBranches = ({ id, forks }: SessionDetail, own: readonly Checkpoint[]): readonly Branch[] => {
  const shown = forks.slice(0, MOST_FORKS)
  const asked = useQueries({ queries: shown.map((fork) => checkpointsQuery(fork.id)) })
  return [
    { session: id, marks: own },
    ...shown.map((fork, i) => ({ session: fork.id, marks: asked[i]?.data?.items ?? [] })),
  ]
}

const x = (lane: number): number => DOT + 2 + lane * LANE
const y = (row: number): number => row * ROW + 14

const pathOf = ({ from, to }: LaneLine): string => {
  const [x1, y1, x2, y2] = [x(from.lane), y(from.row), x(to.lane), y(to.row)]
  if (x1 === x2) return `M${x1},${y1} V${y2}`
  return `M${x1},${y1} V${y2 - LANE} Q${x1},${y2} ${x2},${y2}`
}

/** The list next to it has the same content as text. */
const Drawing = ({ lanes: { rows, lines, count } }: { readonly lanes: Lanes }) => (
  <svg className="lanes" width={x(count)} height={rows.length * ROW} aria-hidden="true">
    {lines.map((line) => (
      <path key={pathOf(line)} d={pathOf(line)} data-lane={Math.max(line.from.lane, line.to.lane) % 4} />
    ))}
    {rows.map(({ lane, mark }, row) => (
      <circle key={`${lane} ${mark.seq}`} cx={x(lane)} cy={y(row)} r={DOT} data-lane={lane % 4} data-kind={mark.kind} />
    ))}
  </svg>
)

const changed = (count: number): string =>
  count === 0 ? 'no change' : `${count} ${count === 1 ? 'change' : 'changes'}`

/** At most two are chosen. A third replaces the first. */
const chosenAfter = (chosen: readonly string[], id: string): readonly string[] =>
  chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id].slice(-2)

const Compare = ({ id }: { readonly id: string }) => {
  const { a, b } = route.useSearch()
  const navigate = route.useNavigate()
  const chosen = [a, b].filter((one) => one !== undefined)
  const choose = (): void => {
    const [first, second] = chosenAfter(chosen, id)
    void navigate({ search: { a: first, b: second } })
  }
  const isChosen = chosen.includes(id)
  return (
    <Button
      size="compact-xs"
      variant={isChosen ? 'filled' : 'default'}
      aria-pressed={isChosen}
      aria-label={`Compare ${shortId(id)}`}
      onClick={choose}
    >
      Compare
    </Button>
  )
}

const Row = ({ row: { session, mark }, own }: { readonly row: LaneRow; readonly own: SessionDetail }) => (
  <li className="lane-row" style={{ height: ROW }}>
    <div>
      <Text size="sm">
        <strong>{session === own.id || mark.kind !== 'created' ? WORDS[mark.kind] : 'forked'}</strong>
        {mark.mode !== null && <span className="quiet"> {mark.mode}</span>}
        {mark.kind === 'checkpoint' && mark.id === own.head && <span className="tag">current</span>}
        {session !== own.id && (
          <>
            {' '}
            <SessionLink id={session} />
          </>
        )}
      </Text>
      <Text size="xs" className="quiet">
        {mark.id !== null && mark.kind === 'checkpoint' && (
          <>
            <span className="id">{shortId(mark.id)}</span> <CopyText text={mark.id} label="Copy checkpoint id" />
          </>
        )}
        <When at={mark.at} />
        {mark.kind === 'checkpoint' && ` · ${changed(mark.changes)}`}
      </Text>
    </div>
    {mark.kind === 'checkpoint' && mark.id !== null && <Compare id={mark.id} />}
  </li>
)

const Modes = ({ marks }: { readonly marks: readonly Checkpoint[] }) => (
  <Text size="xs" className="quiet">
    Modes:{' '}
    {modesOf(marks).map(({ mode, at }, i) => (
      <span key={at}>
        {i > 0 && ', then '}
        {mode} since <When at={at} />
      </span>
    ))}
  </Text>
)

const Graph = ({ session, marks }: { readonly session: SessionDetail; readonly marks: readonly Checkpoint[] }) => {
  const lanes = lanesOf(useBranches(session, marks))
  return (
    <>
      <Modes marks={marks} />
      <div className="lane-graph">
        <Drawing lanes={lanes} />
        <ol className="lane-rows" aria-label="Checkpoints" reversed>
          {lanes.rows.map((row) => (
            <Row key={`${row.session} ${row.mark.seq}`} row={row} own={session} />
          ))}
        </ol>
      </div>
    </>
  )
}

export const History = ({ session }: { readonly session: SessionDetail }) => {
  const { data, error, refetch } = useQuery(checkpointsQuery(session.id))
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return <Graph session={session} marks={data.items} />
}
