/** The timeline as a table with the same rows. Only visible rows are in the DOM. */
import { Fragment } from 'react'
import { span } from '../../parts/when.tsx'
import { HEAD_HEIGHT } from './axis-head.tsx'
import { beganAt, endedAt } from './bars.ts'
import { Name } from './line.tsx'
import type { Row } from './rows.ts'
import { doingOf, MODALITIES, OUTCOMES } from './states.tsx'
import type { Cursor } from './use-cursor.ts'

export interface TimelineTableProps {
  readonly rows: readonly Row[]
  readonly cursor: Cursor
  readonly isChosen: (row: Row) => boolean
  readonly now: number
}

interface LineProps {
  readonly row: Row
  readonly index: number
  readonly isCurrent: boolean
  readonly isChosen: boolean
  readonly now: number
}

const COLUMNS = ['Step', 'Who', 'State', 'Started (UTC)', 'Duration', 'Attempts', 'Outcome'] as const

/** A spacer for the rows that are not in the DOM. */
const Gap = ({ from, to }: { readonly from: number; readonly to: number }) =>
  to <= from ? null : (
    <tr style={{ height: to - from }}>
      <td colSpan={COLUMNS.length} />
    </tr>
  )

const Cells = ({ row, now }: { readonly row: Row; readonly now: number }) => {
  const { bar } = row
  const began = beganAt(bar)
  return (
    <>
      <td>{MODALITIES[bar.hand].word}</td>
      <td>{doingOf(bar)}</td>
      <td>{Number.isFinite(began) ? new Date(began).toISOString().slice(11, 23) : ''}</td>
      <td>{Number.isFinite(began) ? span(endedAt(bar, now) - began) : ''}</td>
      <td>{bar.attempts}</td>
      <td>
        {OUTCOMES[bar.outcome]} {bar.outcome === 'failed' && bar.code}
      </td>
    </>
  )
}

const Line = ({ row, index, isCurrent, isChosen, now }: LineProps) => (
  <tr aria-rowindex={index + 2} data-chosen={isChosen}>
    <th scope="row">
      <button
        type="button"
        data-key={row.key}
        tabIndex={isCurrent ? 0 : -1}
        {...(row.isUnfolded === null ? {} : { 'aria-expanded': row.isUnfolded })}
      >
        <Name row={row} />
      </button>
    </th>
    <Cells row={row} now={now} />
  </tr>
)

export const TimelineTable = ({ rows, cursor, isChosen, now }: TimelineTableProps) => {
  const { shown, height } = cursor
  return (
    <table className="rows as-table" aria-label="Steps" aria-rowcount={rows.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
          {COLUMNS.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.map(({ index, start }, i) => {
          const row = rows[index]
          if (row === undefined) return null
          const isCurrent = row.key === cursor.row?.key
          return (
            <Fragment key={row.key}>
              <Gap from={shown[i - 1]?.end ?? HEAD_HEIGHT} to={start} />
              <Line {...{ row, index, isCurrent, now }} isChosen={isChosen(row)} />
            </Fragment>
          )
        })}
        <Gap from={shown.at(-1)?.end ?? HEAD_HEIGHT} to={HEAD_HEIGHT + height} />
      </tbody>
    </table>
  )
}
